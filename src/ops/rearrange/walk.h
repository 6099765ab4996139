// How a flat number becomes a place in two strided arrays: the walk over the axes of a move.
//
//   flat --point_of--> index[RANK-1], index[RANK-2], ... index[0], in, out
//
// The width of an offset is compiled in.
//
// NOWHERE is no place of any array: places may be negative, but offsets of moves never reach the least number.
#include "loops.h"
#include "rearrange/move.params.h"

SETTING(RANK, one_of(2 4 6 8 16))  // axes walked

#define NOWHERE ((index_t)((u64)1 << (INDEX_BITS - 1)))

#if !defined(WALK_PARAMS)  // those of a kernel with parameters of its own
#define WALK_PARAMS MoveParams
#endif

PARAMS_SIZE(WALK_PARAMS);

// Axes that a point has room for, and what begins a loop over them, the last one first.
#if defined(AXL_HOST)
#define AXES MOVE_AXES
#define EACH_AXIS_BACKWARDS(d) ROLLED for (int d = RANK - 1; d >= 0; --d)
#else
#define AXES RANK
#define EACH_AXIS_BACKWARDS(d) UNROLL for (int d = RANK - 1; d >= 0; --d)
#endif

typedef struct {
  index_t index[AXES];  // along each axis
  index_t in;           // where the point lies in each array
  index_t out;
} Point;

INLINE Point point_of(const WALK_PARAMS* const p, index_t flat) {
  Point point;
  point.in = 0;
  point.out = 0;
  EACH_AXIS_BACKWARDS(d) {
    point.index[d] = d > 0 ? take_index(&flat, p->extent[d], p->multiplier[d], p->shift[d]) : flat;
    point.in += point.index[d] * (index_t)p->in_stride[d];
    point.out += point.index[d] * (index_t)p->out_stride[d];
  }
  return point;
}

// Goes on to the point that comes next: cheaper than a division for each axis, where one item takes points in turn.
INLINE void step_on(const WALK_PARAMS* const p, Point* const point) {
  EACH_AXIS_BACKWARDS(d) {
    point->in += (index_t)p->in_stride[d];
    point->out += (index_t)p->out_stride[d];
    if (++point->index[d] < (index_t)p->extent[d]) return;
    point->index[d] = 0;
    point->in -= (index_t)p->extent[d] * (index_t)p->in_stride[d];
    point->out -= (index_t)p->extent[d] * (index_t)p->out_stride[d];
  }
}

// Begins a loop over the points that a group of one item takes.
#define EACH_POINT(point)                                                                                         \
  index_t point##_left = min_index(p.per_group, (index_t)p.work - THIS_GROUP * (index_t)p.per_group);             \
  for (Point point = point_of(&p, THIS_GROUP * (index_t)p.per_group); point##_left > 0; --point##_left,           \
             step_on(&p, &point))

// TAIL_NONE: every element exists. TAIL_FILL: what does not exist is written as zero. TAIL_SKIP: it is not written.
#define AXIS_SELF -1  // an axis that the kernel handles itself
// What is done beyond the tail, where kernels take that from settings.
SETTING(TAIL, one_of(TAIL_NONE TAIL_FILL TAIL_SKIP), TAIL_NONE)
SETTING(TAIL_OUTER, number, 0)     // position of the tail's outer axis among those walked
SETTING(TAIL_INNER, number, (-1))  // of its inner axis, or AXIS_SELF
#define TAIL_INNER_WALKED (TAIL_INNER == AXIS_SELF ? 0 : TAIL_INNER)

// How many elements of the tail's inner axis exist beside an index of the outer one: may exceed its extent or be < 0.
INLINE index_t tail_left(const MoveParams* const p, const index_t outer, const index_t inner_extent) {
  return (index_t)p->tail_count - outer * inner_extent;
}

// The same where a tail that may be none is a parameter: its outer axis is the walk's first, and the inner one, where
// it is walked (TAIL_WALKED), the second.
INLINE index_t tail_rest(const MoveParams* const p, const Point* const point) {
  return tail_left(p, point->index[0], p->tail_step);
}

// Whether a point is there by a tail whose two axes are walked.
INLINE int tail_has(const MoveParams* const p, const Point* const point) {
  return point->index[TAIL_INNER_WALKED] < tail_left(p, point->index[TAIL_OUTER], p->extent[TAIL_INNER_WALKED]);
}

// How many of the `run` elements from `begin` of a row exist.
INLINE index_t existing(const MoveParams* const p, const Point* const point, const index_t begin, const index_t run) {
  if (TAIL == TAIL_NONE) return run;
  if (TAIL_INNER != AXIS_SELF) return tail_has(p, point) ? run : 0;
  return max_index(0, min_index(run, tail_left(p, point->index[TAIL_OUTER], p->extent_i) - begin));
}
