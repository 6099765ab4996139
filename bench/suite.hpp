// The suites: lists of cases to time, in the grammar of the test cases.
#pragma once

#include "check/case.hpp"

#include <axisloom/device.hpp>

#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::bench {

/// Which devices a case is meant for: arrays large enough for a GPU do not fit beside a CPU's, and take it too long.
enum class Scale { cpu, gpu };

struct SuiteCase {
  std::string_view suite;
  Scale scale;
  std::string_view label;  // for people: "transpose f32 8192 x 8192"
  std::string_view text;
};
std::span<const SuiteCase> suite_cases();
/// The suites' names, without repetition.
std::vector<std::string> suite_names();

/// A way of Axisloom's to do a case that is forced, to be timed beside the one that is chosen: "tile:items:256".
struct Variant {
  std::string name;
  PlanOptions options;
};
/// A case with the name that tables give it.
struct Job {
  std::string label;
  cli::Case what;
  std::vector<Variant> also = {};
};
/// From a case's text, in which also=CANDIDATE[:TUNABLE:VALUE...] may stand any number of times. Throws Error(usage).
Job job_of(std::string_view label, std::string_view text);
/// The cases of a suite for a device, or those of them that `wanted` picks: what holds a blank is a case of its own,
/// anything else part of a label or a text. Throws Error(usage) for what picks nothing.
std::vector<Job> jobs_of(std::string_view suite, const DeviceInfo& device, const std::vector<std::string>& wanted);

}  // namespace axisloom::bench
