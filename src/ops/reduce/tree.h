// Accumulators of neighbouring items brought together in local memory: the upper half of a team into the lower, until the
// first item of each team has them all.
//
//   words: u64, word w of item t at w * GROUP + t
#define TREE_BLOCK() \
  LOCAL_BLOCK(GROUP * WORDS * 8); \
  LOCAL_PART(u64, words, 0, GROUP * WORDS)

INLINE void put_words(LOCAL_REF(u64, words), const Accumulator total) {
  UNROLL for (int w = 0; w < WORDS; ++w) local_store(words, w * GROUP + (int)item_id(), word_of(total, w));
}

INLINE void combine_words(LOCAL_REF(u64, words), Accumulator* const total, const int other) {
  Accumulator one;
  UNROLL for (int w = 0; w < WORDS; ++w) set_word(&one, w, local_load(words, w * GROUP + other));
  combine(total, one);
}

// In the kernel body, by all items. TEAM is a power of two; the first barrier lets an earlier tree finish.
#define TREE(total, TEAM)                                        \
  for (int half = (TEAM) / 2; half > 0; half /= 2) {             \
    barrier_local();                                             \
    put_words(PASS_LOCAL(words), total);                         \
    barrier_local();                                             \
    if ((int)item_id() % (TEAM) < half)                          \
      combine_words(PASS_LOCAL(words), &total, (int)item_id() + half); \
  }
