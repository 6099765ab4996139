// From an operation and its views to the normalised form of a move.
#pragma once

#include "core/move.hpp"
#include "planner/plan_impl.hpp"

#include <axisloom/ops.hpp>

namespace axisloom::ops {

using core::Move;

// As the registry asks for them. Results throw an Error for arguments, lengths or shapes that do not fit.
View rearrange_result(const Operation& op, Views inputs);  // rearrange and repeat
View reordered_result(const Operation& op, Views inputs);  // copy, transpose and permute
View relayout_result(const Operation& op, Views inputs);

Move lower_rearrange(const Operation& op, Views views);
Move lower_reordered(const Operation& op, Views views);
Move lower_relayout(const Operation& op, Views views);

/// What comes from two views alone: element size, offsets, alignments; the caller adds the axes.
Move move_of(const View& in, const View& out);

}  // namespace axisloom::ops
