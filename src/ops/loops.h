// How a flat number becomes places in arrays: the walk over loops, of which the last is the fastest. Moves, reductions
// and the batches of products share it.
//
//   flat --take_index--> index of the last loop, of the one before it, ... of the second; what is left is that of the first
//
// Extents and strides are parameters, so that a new shape needs no new kernel. Instead of dividing it multiplies and
// shifts: the host hands over what that takes for each extent (core::Divider).
#include "index.h"

// Takes the index along a loop of `extent` off a flat number.
INLINE index_t take_index(index_t* const flat, const i64 extent, const u64 multiplier, const u32 shift) {
#if INDEX_BITS == 32
  const index_t quotient = (i32)(mul_hi_u32((u32)*flat << 1, (u32)multiplier) >> shift);
#elif defined(SHORT_DIVIDERS)  // the parameters have no room for those of 64 bits
  const index_t quotient = *flat / extent;
  (void)multiplier, (void)shift;
#else
  const index_t quotient = (i64)(mul_hi_u64((u64)*flat << 1, multiplier) >> shift);
#endif
  const index_t index = *flat - quotient * (index_t)extent;
  *flat = quotient;
  return index;
}

// Begins a loop over those below `all` of the `per_group` flat numbers that the group takes; items take turns.
#define EACH_OF_GROUP(flat, per_group, all)                                                          \
  for (index_t flat = THIS_GROUP * (index_t)(per_group) + THIS_ITEM,                                 \
               flat##_end = min_index(THIS_GROUP * (index_t)(per_group) + (index_t)(per_group), all); \
       flat < flat##_end; flat += GROUP)
