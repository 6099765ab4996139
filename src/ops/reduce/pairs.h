// The portable order (see portable.cpp): neighbours come together, until one is left.
//
//   elements   0   1   2   3   4   5   6
//               \ /     \ /     \ /    |    what has no neighbour waits
//                \_______/       \_____/
//                    \______________/
//
// So a block of 2^k elements that begins at a multiple of 2^k comes to a value of its own, whoever takes it and however
// the others are cut. Who takes one block after the other keeps what waits: a block of 1, 2, 4 ... for each bit of their
// number.
#if !defined(UNIT)
#define UNIT 16  // elements that are taken at once
#endif
#define LEVELS 40  // of blocks that wait

// A tree of pairs needs no corrections: its error is that of as many additions as it has levels.
#if ACCUMULATION == COMPENSATED
#define PAIR(to, from) EACH(c, VALUE_PARTS) (to).part[c] += (from).part[c]
#else
#define PAIR(to, from) COMBINE(VALUE, to, from)
#endif

INLINE void pair(Accumulator* const to, const Accumulator from) {
  PAIR(*to, from);
#if MASKED
  to->taken += from.taken;
#endif
}

// Takes the element at `at` into `to`, which has nothing.
#if (ACCUMULATION == COMPENSATED || ACCUMULATION == PRODUCT) && !MASKED
#define TAKE_SINGLE(to, at, mask_at, place) TAKE_VALUE(to, value_at(PASS(a), at), place)
#define TAKE_VALUE(to, taken, place)                         \
  {                                                          \
    const Value value = taken;                               \
    EACH(c, VALUE_PARTS) (to).part[c] = value.part[c];       \
  }
#else
#define TAKE_SINGLE(to, at, mask_at, place) TAKE_AT(to, at, mask_at, place)
#define TAKE_VALUE(to, taken, place) \
  {                                  \
    const Value value = taken;       \
    ADD(VALUE, to, value, place);    \
  }
#endif

// Brings the first `count` of a unit together in its first.
INLINE void pair_unit(Accumulator* const one, const int count) {
  UNROLL for (int apart = 1; apart < UNIT; apart *= 2) {
    UNROLL for (int t = 0; t < UNIT; t += 2 * apart) {
      if (t + apart < count) pair(&one[t], one[t + apart]);
    }
  }
}

// The same of `count` that all have something, a power of two.
#define PAIR_UP(one, count)                                                                    \
  UNROLL for (int apart = 1; apart < (count); apart *= 2) {                                    \
    UNROLL for (int t = 0; t < (count); t += 2 * apart) pair(&(one)[t], (one)[t + apart]);     \
  }

// Takes block number `before` of those of its size.
INLINE void take_block(Accumulator* const waiting, const i64 before, Accumulator block) {
  int level = 0;
  for (; (before >> level & 1) != 0; ++level) {
    Accumulator both = waiting[level];
    pair(&both, block);
    block = both;
  }
  waiting[level] = block;
}

// In the kernel body, by all items (see tree.h): item t of a team of `team` (a power of two) takes what item t + 1 has,
// then t + 2, t + 4 and so on, as far as these are among the `count` that have something. The first has it all.
#define TREE_OF_NEIGHBOURS(words, total, team, count)                                       \
  for (int near = 1; near < (team); near *= 2) {                                            \
    const int t = THIS_ITEM % (team);                                                       \
    const bool takes = t % (2 * near) == 0 && t + near < (count);                           \
    if (WITHIN_WARP(near)) {                                                                \
      const Accumulator next = shuffled(total, near);                                       \
      if (takes) pair(&total, next);                                                        \
      continue;                                                                             \
    }                                                                                       \
    barrier_local();                                                                        \
    put_words(PASS_LOCAL(words), total);                                                    \
    barrier_local();                                                                        \
    if (takes) pair(&total, words_of_item(PASS_LOCAL(words), THIS_ITEM + near));            \
  }

// What `count` blocks came to.
INLINE Accumulator all_blocks(const Accumulator* const waiting, const i64 count) {
  if (count == 0) return nothing();
  int level = 0;
  while ((count >> level & 1) == 0) ++level;
  Accumulator total = waiting[level];
  for (++level; count >> level != 0; ++level) {
    if ((count >> level & 1) == 0) continue;
    Accumulator both = waiting[level];
    pair(&both, total);
    total = both;
  }
  return total;
}

// Parts first ... end - 1 of an output, which are blocks of one size.
CALLED Accumulator parts_in_pairs(MUTABLE_REF(u64, partials), const index_t output, const index_t outputs,
                                  const index_t first, const index_t end) {
  Accumulator waiting[LEVELS];
  for (index_t part = first; part < end; ++part) {
    Accumulator one;
    EACH(w, U64S) set_word(&one, w, taken_word(PASS(partials), U64_AT(part, w, output, outputs)));
    take_block(waiting, part - first, one);
  }
  return all_blocks(waiting, end - first);
}
