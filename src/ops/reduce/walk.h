// How flat numbers become places: of an output among the kept axes, of a run among the reduced ones.
//
//   output --WALK_KEPT--> in_at, out_at
//   run    --WALK_RUN---> at
//
// Ranks are compiled in where they are small, so that the loops unroll.
#include "loops.h"

CONSTANT(KEPT_RANK, one_of(0 1 3))     // axes that are kept; 0: p.kept_rank says it
CONSTANT(REDUCED_RANK, one_of(0 1 3))  // reduced axes but the last; 0: p.reduced_rank says it

#if KEPT_RANK == 0
#define KEPT p.kept_rank
#define REDUCED p.reduced_rank
#else
#define KEPT KEPT_RANK
#define REDUCED REDUCED_RANK
#endif

// Loops as DOWN has them; where ranks are parameters and every index must be a constant, by way of all that there can be.
#if KEPT_RANK != 0
#define DOWN_FROM DOWN
#elif defined(AXL_CONSTANT_INDICES)
#define DOWN_FROM(d, last, first) \
  UNROLL for (int d = REDUCE_AXES - 1; d >= 0; --d) if (d <= (last) && d > (first))
#else
#define DOWN_FROM(d, last, first) for (int d = (last); d > (first); --d)
#endif

#define KEPT_STEP(d, i)                      \
  in_at += (i) * (index_t)p.in_stride[d];    \
  out_at += (i) * (index_t)p.out_stride[d];
#define RUN_STEP(d, i) at += (i) * (index_t)p.in_stride[d];

// Adds to in_at and out_at what an output's place among the kept axes comes to.
#define WALK_KEPT(output) WALK_LOOPS(output, 0, KEPT - 1, DOWN_FROM, KEPT_STEP)
// Adds to `at` what a run's place among the reduced axes comes to.
#define WALK_RUN(number) WALK_LOOPS(number, KEPT, KEPT + REDUCED - 1, DOWN_FROM, RUN_STEP)
