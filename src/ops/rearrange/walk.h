// How a flat number becomes a place in two strided arrays: the walk over the axes of a move.
//
//   flat --DIVIDE--> index[RANK-1], index[RANK-2], ... index[0] --strides--> in_at, out_at
//
// RANK (axes walked), INDEX_BITS (32 where every offset provably fits, else 64) and the guard's place are compiled in;
// extents and strides are parameters, so that a new shape needs no new kernel.
//
// NOWHERE is no place of any array: places may be negative, but offsets of moves never reach the least number.
#if INDEX_BITS == 64
typedef i64 index_t;
#define NOWHERE (-0x7fffffffffffffff - 1)
#define min_index(x, y) min_i64(x, y)
#define max_index(x, y) max_i64(x, y)
#define DIVIDE(n, d) ((i64)(mul_hi_u64((u64)(n) << 1, p.multiplier[d]) >> p.shift[d]))
#else
typedef i32 index_t;
#define NOWHERE (-0x7fffffff - 1)
#define min_index(x, y) min_i32(x, y)
#define max_index(x, y) max_i32(x, y)
#define DIVIDE(n, d) ((i32)(mul_hi_u32((u32)(n) << 1, (u32)p.multiplier[d]) >> p.shift[d]))
#endif

// Declares index[RANK], in_at and out_at for one point of the walk.
#define WALK(flat)                                                              \
  index_t index[RANK];                                                          \
  index_t in_at = 0;                                                            \
  index_t out_at = 0;                                                           \
  {                                                                             \
    index_t rest = (flat);                                                      \
    UNROLL for (int d = RANK - 1; d > 0; --d) {                                 \
      const index_t quotient = DIVIDE(rest, d);                                 \
      index[d] = rest - quotient * (index_t)p.extent[d];                        \
      rest = quotient;                                                          \
    }                                                                           \
    index[0] = rest;                                                            \
    UNROLL for (int d = 0; d < RANK; ++d) {                                     \
      in_at += index[d] * (index_t)p.in_stride[d];                              \
      out_at += index[d] * (index_t)p.out_stride[d];                            \
    }                                                                           \
  }

// GUARD_NONE: every element exists. GUARD_FILL: what does not exist is written as zero. GUARD_SKIP: it is not written.
// GUARD_OUTER and GUARD_INNER are positions among the walked axes; an inner axis that the kernel handles itself is AXIS_SELF.
#define GUARD_NONE 0
#define GUARD_FILL 1
#define GUARD_SKIP 2
#define AXIS_SELF -1

// How many elements of the guard's inner axis exist beside the outer index of this point (may exceed its extent or be < 0).
#define GUARD_LEFT(inner_extent) ((index_t)p.guard_count - index[GUARD_OUTER] * (index_t)(inner_extent))

// The same where a guard that may be none is a parameter: its outer axis is the walk's first, and the inner one, where it is
// walked (GUARD_WALKED), the second.
#define GUARD_REST ((index_t)p.guard_count - index[0] * (index_t)p.guard_step)
