// From an operation and its views to a reduction, axis by axis.
#pragma once

#include "ops/reduce/reduction.hpp"

#include <axisloom/ops.hpp>

namespace axisloom::ops {

/// Shape and dtype of the result, contiguous. Throws Error(usage) for arguments, options, lengths or shapes that do not
/// fit, and for a reduction of nothing that has no result.
View reduce_result(const Operation& op, const View& in);

/// The reduction, not yet normalised. `out` has the shape that the result has.
Reduction lower_reduce(const Operation& op, const View& in, const View& out);

}  // namespace axisloom::ops
