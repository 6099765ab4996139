// From an operation and its views to the normalised form of a move.
#pragma once

#include "core/move.hpp"

#include <axisloom/ops.hpp>

#include <span>

namespace axisloom::ops {

// As the registry asks for them. Results throw Error(usage) for arguments, lengths or shapes that do not fit.
View rearrange_result(const Operation& op, std::span<const View> inputs);  // rearrange and repeat
View reordered_result(const Operation& op, std::span<const View> inputs);  // copy, transpose and permute
View relayout_result(const Operation& op, std::span<const View> inputs);

core::Move lower_rearrange(const Operation& op, std::span<const View> views);
core::Move lower_reordered(const Operation& op, std::span<const View> views);
core::Move lower_relayout(const Operation& op, std::span<const View> views);

/// What comes from two views alone: element size, offsets, alignments; the caller adds the axes.
core::Move move_of(const View& in, const View& out);

/// Of the move whose output axis i is input axis order[i].
View permuted_result(const View& in, std::span<const int> order);
core::Move permuted(const View& in, const View& out, std::span<const int> order);

}  // namespace axisloom::ops
