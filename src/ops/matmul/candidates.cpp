// The variants of the product, in the order in which ties are decided. A new variant is its two files and one line here.
#include "ops/matmul/variants.hpp"

#include <array>

namespace axisloom::ops {

std::span<const ProductCandidate> product_variants() {
  static const std::array candidates = {
      packed_candidate(),  // matrices on CPUs, packed into panels
  };
  return candidates;
}

}  // namespace axisloom::ops
