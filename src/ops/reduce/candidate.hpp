// What a candidate of the reductions is asked, and questions that several of them ask of a reduction.
#pragma once

#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/reduce/reduction.hpp"
#include "planner/candidate.hpp"

#include <string>

namespace axisloom::ops {

/// A normalised reduction that has outputs, counted in scalars, and what was decided before a candidate is asked.
struct ReduceProblem : Reduction {
  int index_bits = 32;  // 64 where an offset might not fit in 32 bits, or when forced

  /// Of an element, or of a component of a complex one.
  i64 scalar_bytes() const { return size_of(core::component_of(recipe.in)); }
  i64 element_bytes() const { return size_of(recipe.in); }
  int parts_of_element() const { return core::components_of(recipe.in); }
};
std::string shape_class(const ReduceProblem& problem);

using ReduceCandidate = Candidate<ReduceProblem>;

/// The candidates, in the order in which ties are decided; the last one takes everything but the portable order.
const Candidates<ReduceProblem>& reduce_candidates();

/// Why a kernel that adds in an order of its own, and needs something to add, does not take a problem; empty when it
/// does.
std::string unfit(const ReduceProblem& problem);
/// The same of one that reads masks.
std::string unfit_for_order(const ReduceProblem& problem);
inline constexpr const char* no_masks = "its kernel reads no masks";
inline constexpr const char* own_order = "its order of additions is not the portable one";

/// Whether the fastest axis of the input is kept.
bool keeps_fastest(const ReduceProblem& problem);

/// Why a kernel that walks along rows which become outputs does not take it; empty when it does.
std::string unfit_for_columns(const ReduceProblem& problem);

inline constexpr i64 vector_lanes = 16;  // scalars of a vector of the kernels for CPUs, but for what lanes_of says
/// Elements that it holds. On the host extremes of short integers fill a vector of 64 bytes, as in lanes.h.
i64 lanes_of(const ReduceProblem& problem, const DeviceModel& device);

/// Items of a GPU's compute unit that kernels are compiled for: with more, CUDA's compiler spills what is in flight.
inline constexpr i64 resident_items = 1024;

/// Parts of each of `tasks`, of which all together are `wanted`, or up to a quarter less: what is above that waits for
/// a second round. On an H200 sums of 16384 columns of 16384 floats, in 640 parts of which 528 are resident, took
/// 290 us instead of 260.
i64 parts_of_task(i64 wanted, i64 tasks);

/// What is proven of the alignment of runs along a loop, by strides alone: where the array begins does not change the
/// order of the additions.
i64 alignment_of_strides(const ReduceProblem& problem, size_t run);

/// Whether no element lies in front of the first one.
bool begins_lowest(const ReduceProblem& problem);

/// Whether a run lies together in memory.
inline bool is_contiguous(const ReduceProblem& problem) {
  return problem.reduced.back().in == problem.parts_of_element();
}

}  // namespace axisloom::ops
