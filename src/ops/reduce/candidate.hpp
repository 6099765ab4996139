// What a variant of the reductions answers: may I run this, how long would it take, and what is to be launched.
#pragma once

#include "ops/choose.hpp"
#include "ops/plan_impl.hpp"
#include "ops/reduce/reduction.hpp"

#include <vector>

namespace axisloom::ops {

/// A normalised reduction that has outputs, counted in scalars, and what was decided before a variant is asked.
struct ReduceProblem {
  Reduction reduction;
  int index_bits = 32;    // 64 where an offset might not fit in 32 bits, or when forced
  bool portable = false;  // the order of the additions has to be the one of all devices

  std::int64_t scalar_bytes() const;  // of an element, or of a component of a complex one
  std::int64_t element_bytes() const;
  int parts_of_element() const;  // 2 for complex ones
};

struct ReduceLaunches {
  std::vector<Launch> launches;
  std::size_t workspace_bytes = 0;
  int tickets = 0;
};

struct ReduceCandidate {
  CandidateInfo info;
  Verdict (*consider)(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device);
  ReduceLaunches (*lower)(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device);
};

/// The variants, in the order in which ties are decided; the last one fits everything.
std::span<const ReduceCandidate> reduce_candidates();

}  // namespace axisloom::ops
