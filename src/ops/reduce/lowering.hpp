// From an operation and its views to a reduction, axis by axis.
#pragma once

#include "ops/reduce/reduction.hpp"
#include "planner/plan_impl.hpp"

#include <axisloom/ops.hpp>

namespace axisloom::ops {

/// Shape and dtype of the result, contiguous. Throws an Error for arguments, options, lengths or shapes that do not
/// fit, and for a reduction of nothing that has no result.
View reduce_result(const Operation& op, Views inputs);

/// Whether it has a mask, which is its second input.
bool has_mask(const Operation& op);

/// The reduction, not yet normalised. `views`: the inputs, and the output of the shape that the result has.
Reduction lower_reduce(const Operation& op, Views views);

}  // namespace axisloom::ops
