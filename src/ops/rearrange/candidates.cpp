// The variants of the moves, in the order in which ties are decided. A new variant is its two files and one line here.
#include "ops/rearrange/variants.hpp"

#include <array>

namespace axisloom::ops {

std::span<const MoveCandidate> move_candidates() {
  static const std::array candidates = {
      tile_candidate(),     // transposes on GPUs, through local memory
      slab_candidate(),     // permutations of many short axes on GPUs, through local memory
      pixels_candidate(),   // 2, 3, 4 or 8 lanes, on GPUs
      rows_candidate(),     // the fastest axis kept, on GPUs
      shift_candidate(),    // the same where rows begin unlike within 16 bytes
      block_candidate(),    // transposes on CPUs, in registers
      weave_candidate(),    // 2 to 4 interleaved lanes, on CPUs
      strip_candidate(),    // the fastest axis kept, on CPUs
      swap_candidate(),     // square, in place
      tma_candidate(),      // transposes by bulk tensor copies, on CUDA
      vectors_candidate(),  // rows, as a lesson
      plain_candidate(),    // everything else
  };
  return candidates;
}

}  // namespace axisloom::ops
