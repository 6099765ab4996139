// Contractions of arrays that are larger than one buffer, in slices.
#pragma once

#include "core/integers.hpp"
#include "ops/einsum/problem.hpp"
#include "planner/plan_impl.hpp"
#include "planner/slices.hpp"

namespace axisloom::ops {

/// See OpEntry::slices. Where an axis that is summed has to be cut, the slices leave sums in the scratch memory, and
/// one more plan adds these up and makes the result of them. Throws Error(out_of_memory) for what cannot be cut.
Slices slice_contraction(const Contraction& whole, const Device& device, const PlanOptions& options, i64 limit);

}  // namespace axisloom::ops
