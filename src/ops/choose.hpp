// How an operation picks one of its variants: each is asked in turn, and the lowest predicted time wins.
#pragma once

#include "ops/registry.hpp"
#include "tune/configuration.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <optional>
#include <span>
#include <string>
#include <utility>

namespace axisloom::ops {

inline std::int64_t ceil_div(std::int64_t a, std::int64_t b) {
  return (a + b - 1) / b;
}

/// Accepted with a predicted time, or refused with a reason.
struct Verdict {
  std::string refusal;
  double seconds = 0;

  static Verdict refuse(std::string reason) { return {std::move(reason), 0}; }
  static Verdict accept(double seconds) { return {{}, seconds}; }
};

/// Why a device has no groups of so many items with so much local memory; empty when it has.
inline std::string beyond_limits(const DeviceInfo& device, std::int64_t items, std::int64_t local_bytes) {
  if (static_cast<std::size_t>(items) > device.max_group)
    return "groups of " + std::to_string(items) + " exceed the device's " + std::to_string(device.max_group);
  if (static_cast<std::size_t>(local_bytes) > device.local_memory_max)
    return "needs " + std::to_string(local_bytes) + " bytes of local memory, the device has " +
           std::to_string(device.local_memory_max);
  return {};
}

/// A candidate with the configuration it would run with, or the reason why it does not run.
template <class Candidate>
struct Choice {
  const Candidate* candidate = nullptr;
  tune::Found configuration;
  Verdict verdict;
};

inline bool has_tunable(const CandidateInfo& info, const std::string& name, std::int64_t value) {
  return std::any_of(info.tunables.begin(), info.tunables.end(), [&](const tune::Tunable& t) {
    return t.name == name && std::find(t.values.begin(), t.values.end(), value) != t.values.end();
  });
}

inline std::string refused_before_asking(const CandidateInfo& info, const DeviceInfo& device,
                                         const PlanOptions& options) {
  if (!options.candidate.empty() && info.name != options.candidate) return "'" + options.candidate + "' is forced";
  if (device.api == Api::opencl && !info.opencl) return "its kernel is written for CUDA";
  if (device.api == Api::cuda && !info.cuda) return "its kernel is written for OpenCL";
  if (options.candidate.empty())
    for (const auto& [name, value] : options.configuration)
      if (!has_tunable(info, name, value)) return "has no tunable " + name + " that may be " + std::to_string(value);
  return {};
}

/// Why every candidate refused, "; name: reason" each; throws Error(usage) for a forced name that no candidate has.
inline std::string refusals(const PlanReport& report, const PlanOptions& options) {
  std::string why;
  for (const CandidateReport& c : report.candidates)
    if (options.candidate.empty() || c.name == options.candidate) why += "; " + c.name + ": " + c.reason;
  if (why.empty())
    throw Error(Errc::usage, "no candidate is called '" + options.candidate + "'", "leave the candidate open");
  return why;
}

/// The accepting candidate with the lowest predicted time, the first of equals; none when all refuse. `key_of` names
/// the problem of a candidate in the stores; the report gets a line for each candidate.
template <class Candidate, class Problem, class KeyOf>
std::optional<Choice<Candidate>> choose(std::span<const Candidate> candidates, const Problem& problem, KeyOf key_of,
                                        const DeviceInfo& device, const PlanOptions& options, PlanReport& report) {
  std::optional<Choice<Candidate>> best;
  for (const Candidate& candidate : candidates) {
    Choice<Candidate> choice{&candidate, {}, Verdict::refuse(refused_before_asking(candidate.info, device, options))};
    if (choice.verdict.refusal.empty()) {
      choice.configuration = tune::lookup(key_of(candidate), candidate.info.tunables, device, options.configuration);
      choice.verdict = candidate.consider(problem, choice.configuration.values, device);
    }
    const bool accepted = choice.verdict.refusal.empty();
    report.candidates.push_back(
        {std::string(candidate.info.name), accepted, choice.verdict.refusal, choice.verdict.seconds});
    if (accepted && (!best || choice.verdict.seconds < best->verdict.seconds)) best = std::move(choice);
  }
  return best;
}

}  // namespace axisloom::ops
