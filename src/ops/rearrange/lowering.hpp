// From an operation and its views to the normalised form of a move.
#pragma once

#include "core/move.hpp"

#include <axisloom/ops.hpp>

namespace axisloom::ops {

/// Shape and dtype of the result, contiguous. Throws Error(usage) for words, lengths or shapes that do not fit.
View rearrange_result(const Operation& op, const View& in);  // rearrange and repeat
View copy_result(const Operation& op, const View& in);
View transpose_result(const Operation& op, const View& in);
View permute_result(const Operation& op, const View& in);
View relayout_result(const Operation& op, const View& in);

/// The move, not yet normalised. `out` has the shape that the result has.
core::Move lower_rearrange(const Operation& op, const View& in, const View& out);
core::Move lower_copy(const Operation& op, const View& in, const View& out);
core::Move lower_transpose(const Operation& op, const View& in, const View& out);
core::Move lower_permute(const Operation& op, const View& in, const View& out);
core::Move lower_relayout(const Operation& op, const View& in, const View& out);

}  // namespace axisloom::ops
