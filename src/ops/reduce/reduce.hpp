// What the rest of Axisloom sees of the reductions.
#pragma once

#include "ops/reduce/candidate.hpp"
#include "planner/registry.hpp"

namespace axisloom::ops {

/// An operation as the candidates are asked about it. `views` complete: the input, then the output.
ReduceProblem reduce_problem(const Operation& op, Views views, IndexWidth width = IndexWidth::automatic);

/// A plan of a reduction, whose views are the input and the output; the reduction's own offsets and strides say what is
/// read and written. Throws as plans do.
SharedPlan plan_reduction(const Reduction& reduction, std::vector<View> views, const Device& device,
                          const PlanOptions& options);

}  // namespace axisloom::ops
