// Short runs of memory, each taken whole by FEWEST chains that stay in registers. A part of rows_cpu.kernel, which says
// what lines and chains are; the lanes are those that as many ranges would come to.

// Chains that have taken nothing need not be brought together with others, but for those that show in complex products:
// infinity times 0 is NaN.
#define EMPTY_COUNTS (ACCUMULATION == PRODUCT && VALUE_PARTS == 2)

// A line for each chain.
#define TAKE_ONCE(TAKE, n)                                                                       \
  {                                                                                              \
    const Values values = ONCE_AT(a, from + (n) * ELEMENT_PARTS, 1);                             \
    TAKE(own[k], values, FIRST_PLACES + (Places)(PLACE_NUMBER)(i + (n)))                         \
  }
#define TAKE_LINES(TAKE_FIRST)                                                                   \
  {                                                                                              \
    const i64 from = at + i * ELEMENT_PARTS, next = from + (i < edge ? NEAR : 0) * ELEMENT_PARTS; \
    EACH(k, FEWEST) {                                                                            \
      if (AHEAD != 0) ask_for_line(PASS(a), next + k * LINE * ELEMENT_PARTS);                    \
      TAKE_ONCE(TAKE_FIRST, k * LINE)                                                            \
      EACH_VECTOR(v, 1, LINE / AT_ONCE(1)) TAKE_ONCE(ADD_LATER, k * LINE + v * AT_ONCE(1))       \
    }                                                                                            \
    i += FEWEST * LINE;                                                                          \
  }
// Where sixteen registers of 32 bytes do not hold the sums and corrections of FEWEST chains, some take STEPS lines each
// before others do: the same additions in the same order for each lane. Two cores of an EPYC 7003 took 2^16 floats from
// the cache in 12.3 us line by line.
#if defined(__AVX2__) && !defined(__AVX512F__) && ACCUMULATION == COMPENSATED && !MASKED && \
    LINE_VECTORS < MANY_VECTORS
#define IN_TURNS
#define STEPS 4
#define CHAIN_REGISTERS (SLOTS * (int)sizeof(VALUES) / 32)
#define TOGETHER (CHAIN_REGISTERS >= 8 ? 1 : CHAIN_REGISTERS >= 4 ? 2 : FEWEST)
#define TAKE_TURNS                                                                                       \
  {                                                                                                      \
    const i64 from = at + i * ELEMENT_PARTS;                                                             \
    const i64 next = from + (i + (STEPS - 1) * FEWEST * LINE < edge ? NEAR : 0) * ELEMENT_PARTS;         \
    EACH(turn, FEWEST / TOGETHER) EACH(step, STEPS) EACH(one, TOGETHER) {                                \
      const int k = turn * TOGETHER + one;                                                               \
      const i64 line = (step * FEWEST + k) * LINE;                                                       \
      if (AHEAD != 0) ask_for_line(PASS(a), next + line * ELEMENT_PARTS);                                \
      EACH(v, LINE / LANES) {                                                                            \
        const Values values = values_at(PASS(a), from + (line + v * LANES) * ELEMENT_PARTS);             \
        ADD(VALUES, own[k], values, FIRST_PLACES);                                                       \
      }                                                                                                  \
    }                                                                                                    \
    i += STEPS * FEWEST * LINE;                                                                          \
  }
#endif
// One more vector for each chain, as long as there are whole ones.
#define TAKE_VECTORS                                                                           \
  EACH(k, FEWEST) {                                                                            \
    if (i + LANES <= count) {                                                                  \
      const Values values = values_at(PASS(a), at + i * ELEMENT_PARTS);                        \
      ADD(VALUES, own[k], values, FIRST_PLACES + (Places)(PLACE_NUMBER)i);                     \
      i += LANES;                                                                              \
    }                                                                                          \
  }
#define ADD_LATER(to, v, place) \
  { ADD(VALUES, to, v, place); }
// Asks for what lies NEAR after elements i ... count - 1 of a run.
INLINE void ask_near(REF(ELEMENT, a), const i64 at, const i64 i, const i64 count, const i64 reach) {
  if (AHEAD == 0 || at + (NEAR + count) * ELEMENT_PARTS > reach) return;
  ROLLED for (i64 m = i; m < count; m += SCALED(64)) prefetch_l2(a, at + (NEAR + m) * ELEMENT_PARTS);
}
// At most two vectors.
INLINE Lanes take_two(REF(ELEMENT, a), const i64 at, const i64 count, const i64 reach) {
  Lanes lanes, other;
  const Values first = count < LANES ? first_values_at(PASS(a), at, count, reach) : values_at(PASS(a), at);
  BEGIN(lanes, first, FIRST_PLACES)
  if (count <= LANES) return lanes;
  const i64 next = at + LANES * ELEMENT_PARTS;
  if (count < 2 * LANES) {
    const Values values = first_values_at(PASS(a), next, count - LANES, reach);
    ADD_LATER(lanes, values, FIRST_PLACES + (Places)(PLACE_NUMBER)LANES)
  } else {
    const Values values = values_at(PASS(a), next);
    BEGIN(other, values, FIRST_PLACES + (Places)(PLACE_NUMBER)LANES)
    COMBINE(VALUES, lanes, other);
  }
  return lanes;
}
INLINE Lanes take_short(REF(ELEMENT, a), const i64 at, const i64 count, const i64 reach) {
  Lanes own[FEWEST];
  i64 i = 0;
  if (EMPTY_COUNTS ? 0 : count <= 2 * LANES) {
    ask_near(PASS(a), at, 0, count, reach);
    return take_two(PASS(a), at, count, reach);
  }
  if (count >= FEWEST * LINE) {
    const i64 edge = (reach - at) / ELEMENT_PARTS - (NEAR + FEWEST * LINE) + 1;
    TAKE_LINES(BEGIN)
#if defined(IN_TURNS)
    ROLLED while (i + STEPS * FEWEST * LINE <= count) TAKE_TURNS
#endif
    ROLLED while (i + FEWEST * LINE <= count) TAKE_LINES(ADD_LATER)
    ask_near(PASS(a), at, i, count, reach);
    TAKE_VECTORS
  } else {
    ask_near(PASS(a), at, 0, count, reach);
    EACH(k, FEWEST) {
      own[k] = empty_lanes();
      if (i + LANES <= count) {
        const Values values = values_at(PASS(a), at + i * ELEMENT_PARTS);
        BEGIN(own[k], values, FIRST_PLACES + (Places)(PLACE_NUMBER)i)
        i += LANES;
      }
    }
  }
#if LINE_VECTORS > 1
  EACH_VECTOR(turn, 1, LINE_VECTORS) TAKE_VECTORS
#endif
  if (i < count) {
    const Values values = first_values_at(PASS(a), at + i * ELEMENT_PARTS, count - i, reach);
    if (i == 0) BEGIN(own[0], values, FIRST_PLACES)
    else ADD_LATER(own[0], values, FIRST_PLACES + (Places)(PLACE_NUMBER)i)
  }
  EACH(k, FEWEST / 2) {
    if (EMPTY_COUNTS ? 1 : count >= (k + FEWEST / 2 + 1) * LANES) COMBINE(VALUES, own[k], own[k + FEWEST / 2]);
  }
  COMBINE(VALUES, own[0], own[1]);
  return own[0];
}

// `runs` short runs that begin `stride` apart, into lanes of their own: as they are numbered, or as fold_each numbers
// them. (One copy of what a run takes: inlined here and there, it was most of what kernels of rows weigh.)
CALLED void take_each(REF(ELEMENT, a), const i64 at, const i64 stride, const int runs, const i64 count,
                      const i64 reach, const bool by_fold, Lanes* const lanes) {
  ROLLED for (int k = 0; k < runs; ++k)
    lanes[by_fold ? lane_of_fold(k) : k] = take_short(PASS(a), at + k * stride, count, reach);
}
