// What the rest of Axisloom sees of the reductions.
#pragma once

#include "core/integers.hpp"
#include "ops/reduce/candidate.hpp"
#include "planner/registry.hpp"

namespace axisloom::ops {

/// A reduction as the candidates are asked about it.
ReduceProblem reduce_problem(const Reduction& reduction, IndexWidth width = IndexWidth::automatic);

/// A plan of a reduction, whose views are the input and the output; the reduction's own offsets and strides say what is
/// read and written. Throws as plans do.
SharedPlan plan_reduction(const Reduction& reduction, Views views, const Device& device, const PlanOptions& options);

/// See OpEntry::slices. The reduction need not be normalised. Where cutting the axes that are kept is not enough, the
/// scratch memory holds accumulators of slices, or the elements of some outputs side by side. Throws
/// Error(out_of_memory) for what cannot be cut: the elements of one output in the portable order.
Slices slice_reduction(const Reduction& reduction, const Device& device, const PlanOptions& options, i64 limit);

}  // namespace axisloom::ops
