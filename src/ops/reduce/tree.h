// Accumulators of several items brought together by way of local memory, or of a warp's own shuffles: the upper half of
// a team into the lower, until its first item has them all.
//
//   words: u64, word w of item t at w * GROUP + t; behind them a flag
#define TREE_BLOCK(words)             \
  LOCAL_BLOCK(GROUP * U64S * 8 + 16); \
  LOCAL_PART(u64, words, 0, GROUP * U64S)

INLINE void put_words(LOCAL_REF(u64, words), const Accumulator total) {
  EACH(w, U64S) local_store(words, w * GROUP + THIS_ITEM, word_of(total, w));
}

INLINE Accumulator words_of_item(LOCAL_REF(u64, words), const int item) {
  Accumulator one;
  EACH(w, U64S) set_word(&one, w, local_load(words, w * GROUP + item));
  return one;
}

// In the kernel body, where alone barriers may stand: by all items, in teams of `team` side by side, a power of two.
// The first barrier lets an earlier tree finish.
#if defined(AXL_CAN_SHUFFLE)
INLINE Accumulator shuffled(const Accumulator total, const int distance) {
  Accumulator one;
  EACH(w, U64S) set_word(&one, w, shuffle_down_u64(word_of(total, w), (u32)distance));
  return one;
}
#define WARP_ITEMS 32
#define WITHIN_WARP(distance) ((distance) < WARP_ITEMS)
// Within the warps, then the first items of a team's warps in the first of these: each barrier that a tree goes without
// is time that little work notices.
#define TREE(words, total, team)                                                                          \
  UNROLL for (int near = ((team) < WARP_ITEMS ? (team) : WARP_ITEMS) / 2; near > 0; near /= 2)            \
    combine(&total, shuffled(total, near));                                                               \
  if ((team) > WARP_ITEMS) {                                                                              \
    barrier_local();                                                                                      \
    if (THIS_ITEM % WARP_ITEMS == 0) put_words(PASS_LOCAL(words), total);                                 \
    barrier_local();                                                                                      \
    if (THIS_ITEM % (team) < (team) / WARP_ITEMS)                                                         \
      total = words_of_item(PASS_LOCAL(words), THIS_ITEM + THIS_ITEM % (team) * (WARP_ITEMS - 1));        \
    UNROLL for (int near = (team) / WARP_ITEMS / 2; near > 0; near /= 2) combine(&total, shuffled(total, near)); \
  }
#else
#define WITHIN_WARP(distance) 0
#define shuffled(total, distance) (total)
#define TREE(words, total, team)                                                                          \
  for (int near = (team) / 2; near > 0; near /= 2) {                                                      \
    barrier_local();                                                                                      \
    put_words(PASS_LOCAL(words), total);                                                                  \
    barrier_local();                                                                                      \
    if (THIS_ITEM % (team) < near) combine(&total, words_of_item(PASS_LOCAL(words), THIS_ITEM + near));   \
  }
#endif

// In the kernel body as well, once a group's parts are published: what follows is done by the last of `total` groups
// that share a ticket, by all its items. The flag that says so lies behind `count` words of local memory, so that who is
// first to use these does not take it from the others.
#define LAST_GROUP(tickets, ticket, total, count)                                                        \
  LOCAL_PART(u32, flag, (count) * 8, 1);                                                                 \
  barrier_local();                                                                                       \
  if (item_id() == 0u) local_store(flag, 0, ticket_last(SLOT(tickets, ticket), (u32)(total)) ? 1u : 0u); \
  barrier_local();                                                                                       \
  if (local_load(flag, 0) != 0u)
