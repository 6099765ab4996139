// The variants of the moves; each is defined in the file of its name, beside its kernel.
#pragma once

#include "ops/rearrange/candidate.hpp"

namespace axisloom::ops {

MoveCandidate tile_candidate();
MoveCandidate slab_candidate();
MoveCandidate pixels_candidate();
MoveCandidate rows_candidate();
MoveCandidate block_candidate();
MoveCandidate weave_candidate();
MoveCandidate strip_candidate();
MoveCandidate swap_candidate();
MoveCandidate shift_candidate();
MoveCandidate tma_candidate();
MoveCandidate vectors_candidate();
MoveCandidate plain_candidate();

}  // namespace axisloom::ops
