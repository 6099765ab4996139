// The suites: lists of cases to time, in the grammar of the test cases. Each is a file of its own in bench/suites, a
// line
//     cpu|gpu|any  quick|full  "LABEL": CASE
// for one or, with the braces of test cases, many; quick ones are a selection that stands for the suite.
#pragma once

#include "harness/case.hpp"

#include <axisloom/device.hpp>

namespace axisloom::bench {

using namespace harness;

/// Which devices a case is meant for: arrays large enough for a GPU do not fit beside a CPU's, and take it too long.
enum class Scale { cpu, gpu };

struct SuiteCase {
  std::string suite;
  Scale scale;
  bool quick;
  std::string label;  // for people: "transpose f32 8192"
  std::string text;
};
/// Of all suites, one after the other. Throws Error(usage) for a line that cannot be read.
const std::vector<SuiteCase>& suite_cases();
/// The suites' names, in alphabetical order.
Texts suite_names();
/// The cases of one line of a suite's file: one of each label, scale and text. Throws Error(usage).
std::vector<SuiteCase> read_suite_line(const std::string& suite, std::string_view line);

/// A way of Axisloom's to do a case that is forced, to be timed beside the one that is chosen: "tile:items:256".
struct Variant {
  std::string name;
  PlanOptions options;
};
/// A case with the name that tables give it.
struct Job {
  std::string label;
  Case what;
  std::vector<Variant> also = {};
};
/// From a case's text, in which also=CANDIDATE[:TUNABLE:VALUE...] may stand any number of times. Throws Error(usage).
Job job_of(std::string_view label, std::string_view text);

/// Which cases of which suite: all, or the quick ones, and of these what one of `wanted` picks where there are any.
struct Choice {
  std::string suite;
  bool quick = false;
  Texts wanted = {};
};
/// The cases for a device. What is wanted is a whole label, or a part of a label or a text: of several words, whole
/// ones, so that "sum f32 16" picks no case of 16384; several words that pick none are a case of their own. Throws
/// Error(usage) for what picks nothing.
std::vector<Job> jobs_of(const Choice& choice, const DeviceInfo& device);

}  // namespace axisloom::bench
