// How a flat number becomes places in arrays: the walk over loops, of which the last is the fastest. Moves, reductions and the
// batches of products share it.
//
//   flat --DIVIDE--> index of the last loop, of the one before it, ... of the first --STEP--> places
//
// Extents and strides are parameters, so that a new shape needs no new kernel. DIVIDE multiplies and shifts instead: the host
// hands over what it takes for each extent (core::Divider).
#include "index.h"

#if INDEX_BITS == 32
#define DIVIDE(n, d) ((i32)(mul_hi_u32((u32)(n) << 1, (u32)p.multiplier[d]) >> p.shift[d]))
#elif defined(SHORT_DIVIDERS)  // the parameters have no room for those of 64 bits
#define DIVIDE(n, d) ((n) / p.extent[d])
#else
#define DIVIDE(n, d) ((i64)(mul_hi_u64((u64)(n) << 1, p.multiplier[d]) >> p.shift[d]))
#endif

// Loops from `last` down to the one above `first`, where both are compiled in.
#define DOWN(d, last, first) UNROLL for (int d = (last); d > (first); --d)

// STEP(d, i) for the index i of each loop d from `last` down to `first`. FROM is DOWN, or what stands for it where ranks are
// parameters. The first index is what the others leave of the number.
#define WALK_LOOPS(flat, first, last, FROM, STEP)                 \
  {                                                               \
    index_t rest = (flat);                                        \
    FROM(d, last, first) {                                        \
      const index_t quotient = DIVIDE(rest, d);                   \
      const index_t along = rest - quotient * (index_t)p.extent[d]; \
      STEP(d, along)                                              \
      rest = quotient;                                            \
    }                                                             \
    FROM(d, first, (first) - 1) { STEP(d, rest) }                 \
  }
