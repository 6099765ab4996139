// Partial results between groups: accumulators in words, and how the parts of an output are brought together.
//
//   partials: u64, word w of part j of output o at (j * U64S + w) * outputs + o, or of a slice's accumulators, in
//             which the words stand together, at (j * outputs + o) * U64S + w
//
//   IN_ONE        no parts: a task ends in its output
//   ONE_LAUNCH    the last group to finish brings the parts together
//   TWO_LAUNCHES  the kernel `fold` does
//   FROM_SLICES   it does, and the parts are what several plans have left
CONSTANT(SPLIT, one_of(IN_ONE ONE_LAUNCH TWO_LAUNCHES FROM_SLICES))  // where the parts of an output meet

#if SPLIT == FROM_SLICES
#define U64_AT(part, w, output, outputs) (((part) * (outputs) + (output)) * U64S + (w))
#else
#define U64_AT(part, w, output, outputs) (((part) * U64S + (w)) * (outputs) + (output))
#endif

#if SPLIT == IN_ONE
#define PART_ARGUMENTS OUT(RESULT, b),
#elif SPLIT == ONE_LAUNCH
#define PART_ARGUMENTS OUT(RESULT, b), INOUT(u64, partials), INOUT(u32, tickets),
#else
#define PART_ARGUMENTS INOUT(u64, partials),
#endif

#if SPLIT == ONE_LAUNCH
#define PUT_WORD(partials, i, word) publish(SLOT(partials, i), word)
#define TAKE_WORD(partials, i) collect(SLOT(partials, i))
#else
#define PUT_WORD store
#define TAKE_WORD load
#endif

#if SPLIT != IN_ONE
INLINE void publish_part(MUTABLE_REF(u64, partials), const Accumulator total, const index_t part, const index_t output,
                         const index_t outputs) {
  EACH(w, U64S) PUT_WORD(partials, U64_AT(part, w, output, outputs), word_of(total, w));
}

// Parts first, first + step, ... of an output in order, in a cascade as in the kernel `plain`.
INLINE Accumulator parts_together(MUTABLE_REF(u64, partials), const index_t output, const index_t outputs,
                                  const index_t first, const index_t step, const index_t parts) {
  Accumulator sum = nothing(), total = nothing();
  int additions = 0;
  for (index_t part = first; part < parts; part += step) {
    Accumulator one;
    EACH(w, U64S) set_word(&one, w, TAKE_WORD(partials, U64_AT(part, w, output, outputs)));
    combine(&sum, one);
    if (++additions == MOST_ADDITIONS) {
      combine(&total, sum);
      sum = nothing();
      additions = 0;
    }
  }
  combine(&total, sum);
  return total;
}
#endif
