// How much of memory a move touches, in the blocks that memory hands over.
#pragma once

#include "core/move.hpp"

#include <optional>

namespace axisloom::bench {

/// Blocks of `sector` bytes, each counted once, in which a move reads on one side (output: writes). The buffer begins
/// at one. Nothing where that cannot be told in a moment: axes that run through each other, or too many runs of memory.
std::optional<i64> sectors_touched(const core::Move& move, bool output, i64 sector);

/// Bytes that must be read and written at least, in whole sectors; nothing where either side cannot be told.
std::optional<i64> floor_bytes(const core::Move& move, i64 sector);

}  // namespace axisloom::bench
