// What the rest of Axisloom sees of the moves: their entries in the registry.
#pragma once

#include "core/move.hpp"
#include "ops/registry.hpp"

namespace axisloom::ops {

/// rearrange, repeat, copy, transpose, permute, relayout.
std::span<const OpEntry> move_entries();

/// One of those operations as a move, axis by axis and not yet normalised. `views` complete: the input, then the
/// output.
core::Move lowered_move(const Operation& op, std::span<const View> views);

/// Cuts a move into parts whose bounds stay within `limit` bytes on both sides. Normalised.
std::vector<core::Move> cut_move(const core::Move& move, std::int64_t limit);

}  // namespace axisloom::ops
