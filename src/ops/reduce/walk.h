// How flat numbers become places: of an output among the kept axes, of a run among the reduced ones.
//
//   output --place_of--> in, out
//   run    --run_at----> what is added to `in`
//
// With a mask both say the same of it.
//
// Ranks are compiled in where they are small, so that the loops unroll; but not on the host.
#include "loops.h"
#include "reduce/reduce.params.h"

PARAMS_SIZE(ReduceParams);

CONSTANT(MASKED, flag, 0)             // a mask says which elements count
SETTING(KEPT_RANK, one_of(0 1 3))     // axes that are kept; 0: p.kept_rank says it
SETTING(REDUCED_RANK, one_of(0 1 3))  // reduced axes but the last; 0: p.reduced_rank says it

#if defined(AXL_HOST)
#define RANKS_GIVEN 1
#else
#define RANKS_GIVEN (KEPT_RANK == 0)
#endif
#if RANKS_GIVEN
#define KEPT(p) (p)->kept_rank
#define REDUCED(p) (p)->reduced_rank
#else
#define KEPT(p) KEPT_RANK
#define REDUCED(p) REDUCED_RANK
#endif

// Loops d from `last` down to the one above `first`; where ranks are parameters and every index must be a constant, by
// way of all that there can be. A macro, since it begins a loop.
#if !RANKS_GIVEN
#define DOWN_FROM(d, last, first) UNROLL for (int d = (last); d > (first); --d)
#elif defined(AXL_CONSTANT_INDICES)
#define DOWN_FROM(d, last, first) \
  UNROLL for (int d = REDUCE_AXES - 1; d >= 0; --d) if (d <= (last) && d > (first))
#else
#define DOWN_FROM(d, last, first) for (int d = (last); d > (first); --d)
#endif

// With a mask its strides have the place of the multipliers.
#if MASKED
INLINE index_t taken_index(index_t* const flat, const ReduceParams* const p, const int d) {
  const index_t quotient = *flat / (index_t)p->extent[d], index = *flat - quotient * (index_t)p->extent[d];
  *flat = quotient;
  return index;
}
#define ADD_MASK_STEPS(to, i, p, d) (to) += (i) * (index_t)(i64)(p)->multiplier[d]
#else
#define taken_index(flat, p, d) take_index(flat, (p)->extent[d], (p)->multiplier[d], (p)->shift[d])
#define ADD_MASK_STEPS(to, i, p, d)
#endif

// Where an output lies in both arrays, and in the mask.
typedef struct {
  index_t in, out, mask;
} Place;

INLINE Place place_of(const ReduceParams* const p, index_t output) {
  Place place = {0, 0, 0};
  DOWN_FROM(d, KEPT(p) - 1, -1) {
    const index_t i = d > 0 ? taken_index(&output, p, d) : output;
    place.in += i * (index_t)p->in_stride[d];
    place.out += i * (index_t)p->out_stride[d];
    ADD_MASK_STEPS(place.mask, i, p, d);
  }
  return place;
}

// Where a run lies, from the first one of its output on.
INLINE index_t run_at(const ReduceParams* const p, index_t run) {
  index_t at = 0;
  DOWN_FROM(d, KEPT(p) + REDUCED(p) - 1, KEPT(p) - 1) {
    const index_t i = d > KEPT(p) ? taken_index(&run, p, d) : run;
    at += i * (index_t)p->in_stride[d];
  }
  return at;
}

#if MASKED
// The same in the mask.
INLINE index_t mask_run_at(const ReduceParams* const p, index_t run) {
  index_t at = 0;
  DOWN_FROM(d, KEPT(p) + REDUCED(p) - 1, KEPT(p) - 1) {
    const index_t i = d > KEPT(p) ? taken_index(&run, p, d) : run;
    ADD_MASK_STEPS(at, i, p, d);
  }
  return at;
}
#else
#define mask_run_at(p, run) 0
#endif
