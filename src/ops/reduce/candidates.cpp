// The variants of the reductions, in the order in which ties are decided. A new variant is its two files and one line
// here.
#include "ops/reduce/variants.hpp"

#include <array>

namespace axisloom::ops {

std::span<const ReduceCandidate> reduce_candidates() {
  static const std::array candidates = {
      rows_reduction(),      // runs of memory, on GPUs
      columns_reduction(),   // the fastest axis kept, on GPUs
      stripe_reduction(),    // runs of memory, on CPUs
      sheet_reduction(),     // the fastest axis kept, on CPUs
      lesson_reduction(),    // one array, as it is taught
      portable_reduction(),  // one order of additions for all devices
      plain_reduction(),     // everything else
  };
  return candidates;
}

}  // namespace axisloom::ops
