// What a candidate of the product is asked.
#pragma once

#include "core/integers.hpp"
#include "ops/matmul/product.hpp"
#include "planner/candidate.hpp"

#include <string>

namespace axisloom::ops {

/// A normalised product that has a result to write; n is the axis along which C lies together, or the longer one. And
/// what was decided before a candidate is asked.
struct ProductProblem : Product {
  int index_bits = 32;   // 64 where an offset might not fit in 32 bits, or when forced
  bool swapped = false;  // C^T = B^T A^T is computed: the product's A is the plan's B

  i64 batch_count() const;
  i64 outputs() const;                      // elements of C, of the whole batch
  i64 blocks(i64 rows, i64 columns) const;  // of so many elements that make up C, of the whole batch
};
std::string to_string(const ProductProblem& problem);
std::string shape_class(const ProductProblem& problem);

using ProductCandidate = Candidate<ProductProblem>;

/// The candidates, in the order in which ties are decided; the last one takes everything.
const Candidates<ProductProblem>& product_candidates();

}  // namespace axisloom::ops
