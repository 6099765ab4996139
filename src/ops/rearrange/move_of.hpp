// The part of a move that comes from the two views alone: element size, offsets, alignments; axes are added by the
// caller.
#pragma once

#include "core/move.hpp"

namespace axisloom::ops {

core::Move move_of(const View& in, const View& out);

}  // namespace axisloom::ops
