// Partial results between groups: accumulators in words, and how the parts of an output are brought together.
//
//   partials: u64, word w of part j of output o at (j * U64S + w) * outputs + o, or of a slice's accumulators, in
//             which the words stand together, at (j * outputs + o) * U64S + w
//
//   IN_ONE        no parts: a task ends in its output
//   ONE_LAUNCH    the last group to finish brings the parts together
//   TWO_LAUNCHES  the kernel `fold` does
//   FROM_SLICES   it does, and the parts are what several plans have left
SETTING(SPLIT, one_of(IN_ONE ONE_LAUNCH TWO_LAUNCHES FROM_SLICES))  // where the parts of an output meet

#define U64_AT(part, w, output, outputs)                                    \
  (SPLIT == FROM_SLICES ? ((part) * (outputs) + (output)) * U64S + (w)      \
                        : ((part) * U64S + (w)) * (outputs) + (output))

// Of a kernel for GPUs what it uses; one for CPUs takes all, so that it is the same however parts meet.
#define ALL_PART_ARGUMENTS OUT(RESULT, b), INOUT(u64, partials), INOUT(u32, tickets),
#if !defined(SPLIT) || SPLIT == ONE_LAUNCH
#define PART_ARGUMENTS ALL_PART_ARGUMENTS
#elif SPLIT == IN_ONE
#define PART_ARGUMENTS OUT(RESULT, b),
#else
#define PART_ARGUMENTS INOUT(u64, partials),
#endif

INLINE void put_word(MUTABLE_REF(u64, partials), const index_t at, const u64 word) {
#if defined(AXL_CAN_ORDER_GROUPS)
  if (SPLIT == ONE_LAUNCH) {
    publish(SLOT(partials, at), word);
    return;
  }
#endif
  store(partials, at, word);
}

INLINE u64 taken_word(MUTABLE_REF(u64, partials), const index_t at) {
#if defined(AXL_CAN_ORDER_GROUPS)
  if (SPLIT == ONE_LAUNCH) return collect(SLOT(partials, at));
#endif
  return load(partials, at);
}

INLINE void publish_part(MUTABLE_REF(u64, partials), const Accumulator total, const index_t part, const index_t output,
                         const index_t outputs) {
  EACH(w, U64S) put_word(PASS(partials), U64_AT(part, w, output, outputs), word_of(total, w));
}

// Whether this is the last of an output's `parts` parts, and the one that brings them together.
#if defined(AXL_CAN_ORDER_GROUPS)
#define IS_LAST_PART(tickets, ticket, parts) (SPLIT == ONE_LAUNCH && ticket_last(SLOT(tickets, ticket), (u32)(parts)))
#else
#define IS_LAST_PART(tickets, ticket, parts) 0
#endif

// Parts first, first + step, ... of an output in order, in a cascade as in the kernel `plain`.
CALLED Accumulator parts_together(MUTABLE_REF(u64, partials), const index_t output, const index_t outputs,
                                  const index_t first, const index_t step, const index_t parts) {
  Accumulator sum = nothing(), total = nothing();
  int additions = 0;
  for (index_t part = first; part < parts; part += step) {
    Accumulator one;
    EACH(w, U64S) set_word(&one, w, taken_word(PASS(partials), U64_AT(part, w, output, outputs)));
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

#define PARTS_AT_ONCE 4

// Parts first, first + step, ... of an output, of which several are asked for before the first is taken: each waits for
// the last-level cache. For GPUs, whose parts are no more than a running sum may take.
INLINE Accumulator parts_at_once(MUTABLE_REF(u64, partials), const index_t output, const index_t outputs,
                                  const index_t first, const index_t step, const index_t parts) {
  Accumulator sum = nothing();
  ROLLED for (index_t part = first; part < parts; part += PARTS_AT_ONCE * step) {
    u64 word[PARTS_AT_ONCE][U64S];
    EACH(k, PARTS_AT_ONCE) {
      EACH(w, U64S) {
        if (part + k * step < parts)
          word[k][w] = taken_word(PASS(partials), U64_AT(part + k * step, w, output, outputs));
      }
    }
    EACH(k, PARTS_AT_ONCE) {
      Accumulator one;
      EACH(w, U64S) set_word(&one, w, word[k][w]);
      if (part + k * step < parts) combine(&sum, one);
    }
  }
  return sum;
}
