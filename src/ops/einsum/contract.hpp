// The plan of a contraction: sums within operands, products two at a time, and the copies that these cannot do without.
#pragma once

#include "core/integers.hpp"
#include "ops/einsum/problem.hpp"
#include "planner/plan_impl.hpp"
#include "planner/slices.hpp"

namespace axisloom::ops {

/// A forced candidate or configuration is that of the last product, which writes the result and which the report is
/// about. Throws as plans do.
SharedPlan plan_contraction(const Contraction& problem, Views views, const Device& device, const PlanOptions& options);

/// See OpEntry::slices. Where an axis that is summed has to be cut, the slices leave sums in the scratch memory, and
/// one more plan adds these up and makes the result of them. Throws Error(out_of_memory) for what cannot be cut.
Slices slice_contraction(const Contraction& whole, const Device& device, const PlanOptions& options, i64 limit);

}  // namespace axisloom::ops
