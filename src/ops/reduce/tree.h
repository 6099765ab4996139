// Accumulators of several items brought together in local memory: the upper half of a team into the lower, until its
// first item has them all.
//
//   words: u64, word w of item t at w * GROUP + t; behind them a flag
#define TREE_BLOCK(words)             \
  LOCAL_BLOCK(GROUP * U64S * 8 + 16); \
  LOCAL_PART(u64, words, 0, GROUP * U64S)

INLINE void put_words(LOCAL_REF(u64, words), const Accumulator total) {
  EACH(w, U64S) local_store(words, w * GROUP + THIS_ITEM, word_of(total, w));
}

#if defined(AXL_CAN_SHUFFLE)
INLINE Accumulator shuffled(const Accumulator total, const int distance) {
  Accumulator one;
  EACH(w, U64S) set_word(&one, w, shuffle_down_u64(word_of(total, w), (u32)distance));
  return one;
}
#define WITHIN_WARP(distance) ((distance) < 32)
#else
#define WITHIN_WARP(distance) 0
#define shuffled(total, distance) (total)
#endif

INLINE Accumulator words_of_item(LOCAL_REF(u64, words), const int item) {
  Accumulator one;
  EACH(w, U64S) set_word(&one, w, local_load(words, w * GROUP + item));
  return one;
}

// In the kernel body, where alone barriers may stand: by all items. A team is `team` items (a power of two) that are
// `span` apart: item t is number t / span mod team of its own. The first barrier lets an earlier tree finish.
#define TREE(words, total, team, span)                                     \
  for (int near = (team) / 2; near > 0; near /= 2) {                       \
    if (WITHIN_WARP(near * (span))) {                                      \
      combine(&total, shuffled(total, near * (span)));                     \
      continue;                                                            \
    }                                                                      \
    barrier_local();                                                       \
    put_words(PASS_LOCAL(words), total);                                   \
    barrier_local();                                                       \
    if (THIS_ITEM / (span) % (team) < near)                                \
      combine(&total, words_of_item(PASS_LOCAL(words), THIS_ITEM + near * (span))); \
  }

// In the kernel body as well, once a group's parts are published: what follows is done by the last of `total` groups
// that share a ticket, by all its items.
#define LAST_GROUP(tickets, ticket, total)                                                               \
  LOCAL_PART(u32, flag, GROUP * U64S * 8, 1);                                                            \
  barrier_local();                                                                                       \
  if (item_id() == 0u) local_store(flag, 0, ticket_last(SLOT(tickets, ticket), (u32)(total)) ? 1u : 0u); \
  barrier_local();                                                                                       \
  if (local_load(flag, 0) != 0u)
