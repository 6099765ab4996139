// The variants of the product; each is defined in the file of its name, beside its kernel.
#pragma once

#include "ops/matmul/candidate.hpp"

namespace axisloom::ops {

ProductCandidate wgmma_candidate();
ProductCandidate mma_candidate();
ProductCandidate tile_product_candidate();
ProductCandidate packed_candidate();
ProductCandidate gemv_candidate();
ProductCandidate local16_candidate();
ProductCandidate plain_product_candidate();

}  // namespace axisloom::ops
