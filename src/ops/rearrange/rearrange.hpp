// What the rest of Axisloom sees of the moves.
#pragma once

#include "core/integers.hpp"
#include "core/move.hpp"
#include "planner/registry.hpp"

namespace axisloom::ops {

/// The entry of a move, of which `own` has all that is its own: name, texts, arguments, result and move.
OpEntry move_entry(OpEntry own);

/// An operation as a move, axis by axis and not yet normalised. `views` complete: the input, then the
/// output.
core::Move lowered_move(const Operation& op, std::span<const View> views);

/// Cuts a move into parts whose bounds stay within `limit` bytes on both sides. Normalised.
std::vector<core::Move> cut_move(const core::Move& move, i64 limit);

}  // namespace axisloom::ops
