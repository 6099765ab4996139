// The portable order (see portable.cpp): elements are taken by SUMS running sums in turns.
//
//   element i of a piece -> sum i mod SUMS;  sums s apart come together, s = SUMS/2 ... 1;  so do parts, if not few
SETTING(IN_TURNS, flag)  // elements are taken so, else in an order of the kernel's own

#define SUMS 256
#define FEW_PARTS 32  // of an output: they come together in order

// Sums that are of nothing need not come together with others, but for those that show in complex products: infinity
// times 0 is NaN.
#if ACCUMULATION == PRODUCT && VALUE_PARTS == 2
#define SUMS_OF(count) SUMS
#else
#define SUMS_OF(count) min_i64(count, SUMS)
#endif

INLINE Accumulator sums_together(Accumulator* const sum, const i64 count) {
  for (i64 apart = SUMS / 2; apart > 0; apart /= 2) {
    for (i64 t = 0; t < apart && t + apart < min_i64(count, 2 * apart); ++t) combine(&sum[t], sum[t + apart]);
  }
  return sum[0];
}

INLINE Accumulator all_parts(MUTABLE_REF(u64, partials), const ReduceParams* const p, const i64 output) {
  Accumulator sum[SUMS];
  const i64 sums = p->parts <= FEW_PARTS ? 1 : SUMS;
  for (i64 t = 0; t < sums; ++t) sum[t] = parts_together(PASS(partials), output, p->outputs, t, sums, p->parts);
  return sums_together(sum, sums);
}
