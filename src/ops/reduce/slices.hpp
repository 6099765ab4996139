// Reductions of arrays that are larger than one buffer, in slices.
#pragma once

#include "core/integers.hpp"
#include "ops/reduce/reduction.hpp"
#include "planner/plan_impl.hpp"
#include "planner/slices.hpp"

namespace axisloom::ops {

/// See OpEntry::slices. The reduction need not be normalised. Where cutting the axes that are kept is not enough, the
/// scratch memory holds accumulators of slices, or the elements of some outputs side by side. Throws
/// Error(out_of_memory) for what cannot be cut: the elements of one output in the portable order.
Slices slice_reduction(const Reduction& reduction, const Device& device, const PlanOptions& options, i64 limit);

}  // namespace axisloom::ops
