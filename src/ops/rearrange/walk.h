// How a flat number becomes a place in two strided arrays: the walk over the axes of a move.
//
//   flat --WALK--> index[RANK-1], index[RANK-2], ... index[0], in_at, out_at
//
// The rank, the width of an offset and the tail's place are compiled in.
//
// NOWHERE is no place of any array: places may be negative, but offsets of moves never reach the least number.
#include "loops.h"

CONSTANT(RANK, one_of(2 4 6 8 16))  // axes walked

#if INDEX_BITS == 64
#define NOWHERE (-0x7fffffffffffffff - 1)
#else
#define NOWHERE (-0x7fffffff - 1)
#endif

// Declares index[RANK], in_at and out_at for one point of the walk.
#define MOVE_STEP(d, i)                          \
  index[d] = (i);                                \
  in_at += index[d] * (index_t)p.in_stride[d];   \
  out_at += index[d] * (index_t)p.out_stride[d];
#define WALK(flat)      \
  index_t index[RANK];  \
  index_t in_at = 0;    \
  index_t out_at = 0;   \
  WALK_LOOPS(flat, 0, RANK - 1, DOWN, MOVE_STEP)

// TAIL_NONE: every element exists. TAIL_FILL: what does not exist is written as zero. TAIL_SKIP: it is not written.
#define AXIS_SELF -1  // an axis that the kernel handles itself
// What is done beyond the tail, where that is compiled in.
CONSTANT(TAIL, one_of(TAIL_NONE TAIL_FILL TAIL_SKIP), TAIL_NONE)
CONSTANT(TAIL_OUTER, number, 0)     // position of the tail's outer axis among those walked
CONSTANT(TAIL_INNER, number, (-1))  // of its inner axis, or AXIS_SELF

// How many elements of the tail's inner axis exist beside the outer index of this point (may exceed its extent or be < 0).
#define TAIL_LEFT(inner_extent) ((index_t)p.tail_count - index[TAIL_OUTER] * (index_t)(inner_extent))

// The same where a tail that may be none is a parameter: its outer axis is the walk's first, and the inner one, where it is
// walked (TAIL_WALKED), the second.
#define TAIL_REST ((index_t)p.tail_count - index[0] * (index_t)p.tail_step)
