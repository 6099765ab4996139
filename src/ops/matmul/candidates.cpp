// The variants of the product, in the order in which ties are decided. A new variant is its two files and one line
// here.
#include "ops/matmul/variants.hpp"

#include <array>

namespace axisloom::ops {

std::span<const ProductCandidate> product_variants() {
  static const std::array candidates = {
      wgmma_candidate(),          // 16-bit floats by warpgroups of an H100 or H200
      mma_candidate(),            // matrices on NVIDIA's tensor cores
      tile_product_candidate(),   // matrices on GPUs, outputs in registers
      packed_candidate(),         // matrices on CPUs, packed into panels
      gemv_candidate(),           // a vector and a matrix, or two vectors
      local16_candidate(),        // 16 x 16 in local memory
      plain_product_candidate(),  // everything else
  };
  return candidates;
}

}  // namespace axisloom::ops
