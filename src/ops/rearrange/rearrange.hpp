// What the rest of Axisloom sees of the moves.
#pragma once

#include "core/integers.hpp"
#include "core/move.hpp"
#include "planner/registry.hpp"

namespace axisloom::ops {

using core::Move;

/// Completes entries of moves that have all that is their own: name, texts, arguments, result and move.
std::vector<OpEntry> move_entries(std::vector<OpEntry> entries);

/// An operation as a move, axis by axis and not yet normalised. `views` complete: the input, then the
/// output.
Move lowered_move(const Operation& op, Views views);

/// Cuts a move into parts whose bounds stay within `limit` bytes on both sides. Normalised.
std::vector<Move> cut_move(const Move& move, i64 limit);

}  // namespace axisloom::ops
