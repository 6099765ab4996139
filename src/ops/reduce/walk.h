// How flat numbers become places: of an output among the kept axes, of a run among the reduced ones.
//
//   output --DIVIDE--> index of each kept axis     --strides--> in_at, out_at
//   run    --DIVIDE--> index of each reduced axis  --strides--> in_at
//
// KEPT_RANK and REDUCED_RANK are compiled in where they are small (1 or 3), so that the loops unroll; 0 stands for ranks
// in the parameters. INDEX_BITS is 32 where every offset provably fits, else 64.
#if INDEX_BITS == 64
typedef i64 index_t;
#define min_index(x, y) min_i64(x, y)
#define DIVIDE(n, d) ((i64)(mul_hi_u64((u64)(n) << 1, p.multiplier[d]) >> p.shift[d]))
#else
typedef i32 index_t;
#define min_index(x, y) min_i32(x, y)
#define DIVIDE(n, d) ((i32)(mul_hi_u32((u32)(n) << 1, (u32)p.multiplier[d]) >> p.shift[d]))
#endif

#if KEPT_RANK == 0
#define KEPT p.kept_rank
#define REDUCED p.reduced_rank
#define UNROLL_RANK
#else
#define KEPT KEPT_RANK
#define REDUCED REDUCED_RANK
#define UNROLL_RANK UNROLL
#endif

// Axes from `last` down to the one above `first`; where every index must be a constant, by way of all that there can be.
#if KEPT_RANK == 0 && defined(AXL_CONSTANT_INDICES)
#define DOWN_FROM(d, last, first) \
  UNROLL for (int d = REDUCE_AXES - 1; d >= 0; --d) if (d <= (last) && d > (first))
#else
#define DOWN_FROM(d, last, first) UNROLL_RANK for (int d = (last); d > (first); --d)
#endif

// Adds to in_at and out_at what an output's place among the kept axes comes to.
#define WALK_KEPT(output, in_at, out_at)                                    \
  {                                                                         \
    index_t rest = (output);                                                \
    DOWN_FROM(d, KEPT - 1, 0) {                                             \
      const index_t quotient = DIVIDE(rest, d);                             \
      const index_t index = rest - quotient * (index_t)p.extent[d];         \
      in_at += index * (index_t)p.in_stride[d];                             \
      out_at += index * (index_t)p.out_stride[d];                           \
      rest = quotient;                                                      \
    }                                                                       \
    in_at += rest * (index_t)p.in_stride[0];                                \
    out_at += rest * (index_t)p.out_stride[0];                              \
  }

// Adds to in_at what a run's place among the reduced axes comes to.
#define WALK_RUN(number, in_at)                                             \
  {                                                                         \
    index_t rest = (number);                                                \
    DOWN_FROM(d, KEPT + REDUCED - 1, KEPT) {                                \
      const index_t quotient = DIVIDE(rest, d);                             \
      in_at += (rest - quotient * (index_t)p.extent[d]) * (index_t)p.in_stride[d]; \
      rest = quotient;                                                      \
    }                                                                       \
    DOWN_FROM(d, KEPT, KEPT - 1) in_at += rest * (index_t)p.in_stride[d];   \
  }
