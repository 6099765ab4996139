// The oracle of every move: plain loops over all axes on host memory.
#pragma once

#include "core/move.hpp"

namespace axisloom::ops {

using core::Move;

/// `in` and `out` point at the starts of the buffers. Elements are copied as bytes.
void move_on_host(const Move& move, const std::byte* in, std::byte* out);

}  // namespace axisloom::ops
