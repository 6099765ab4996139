// From a problem to its plan: each candidate proposes, and the lowest predicted time wins.
#pragma once

#include "planner/candidate.hpp"

#include <axisloom/plan.hpp>

#include <functional>
#include <map>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::ops {

/// What the planner knows of a problem.
struct Request {
  std::string_view operation;  // folder of its candidates: "rearrange"
  std::string_view noun;       // "move", for messages
  std::string problem;         // its name in the stores, exact
  std::string shape_class;     // and coarse
  std::span<const CandidateInfo> candidates;
  std::function<Proposal(size_t candidate, const Configuration& wish, const DeviceModel& device)> propose;
};

/// The request that asks `candidates` about `problem`, which has to outlive it.
template <class Problem>
Request request(std::string_view operation, std::string_view noun, const Candidates<Problem>& candidates,
                const Problem& problem) {
  const auto propose = [&](size_t candidate, const Configuration& wish, const DeviceModel& device) {
    return candidates[candidate].propose(problem, wish, device);
  };
  return {operation, noun, to_string(problem), shape_class(problem), candidates.infos(), propose};
}

/// A candidate that takes the problem, and what it proposed.
struct Choice {
  const CandidateInfo* candidate = nullptr;
  Proposal proposal;
  std::string configuration_source;
};

/// Candidates whose kernels a device lacks, and what it lacks.
using Absent = std::map<std::string_view, std::string>;

/// The proposal with the lowest predicted time, the first of equals, of candidates that are not `absent`. `reports`
/// gets a line for each candidate. Throws Error(unsupported) with the reason of each when all refuse, Error(usage) for
/// a forced name that no candidate has.
Choice choose(const Request& request, const DeviceModel& device, const model::Stores& stores,
              const PlanOptions& options, std::vector<CandidateReport>& reports, const Absent& absent = {});

/// A plan without launches yet: it does nothing.
SharedPlan empty_plan(Views views, const Device& device, const PlanOptions& options);

/// A plan of one launch, compiled.
SharedPlan plan_of(Launch launch, Views views, const Device& device, const PlanOptions& options);

/// Chooses, makes the launches of the winner, compiles them, and reports what was decided.
void complete(PlanImpl& plan, const Request& request, const PlanOptions& options);

/// Why a device has no such groups; empty when it has. For candidates that search among several forms: what they
/// propose is checked by the planner.
std::string beyond_limits(const DeviceInfo& device, const Group& group);

/// Refuses a device without f64 where one of the dtypes is made of it. `noun`: what is done, such as "product".
void require_f64(const DeviceInfo& device, std::string_view noun, std::initializer_list<Dtype> dtypes);

/// The options as they count on a device: kernels of the host know 64-bit indices alone.
PlanOptions options_for(const DeviceInfo& device, PlanOptions options);

/// 32 or 64: what `wanted` says, or 32 where every offset `fits`. Throws Error(usage) where 32 is wanted and too few.
int index_bits(bool fits, IndexWidth wanted, std::string_view noun);
inline IndexWidth width_of(int index_bits) {
  return index_bits == 64 ? IndexWidth::bits64 : IndexWidth::bits32;
}

}  // namespace axisloom::ops
