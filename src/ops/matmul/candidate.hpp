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
  int index_bits = 32;  // 64 where an offset might not fit in 32 bits, or when forced
  bool on_host =
      false;  // kernels are those that were compiled with the library, which take as values what others compile in
  bool swapped = false;  // C^T = B^T A^T is computed: the product's A is the plan's B

  i64 batch_count() const { return core::count(batch); }
  /// Elements of C, of the whole batch.
  i64 outputs() const { return m.extent * n.extent * batch_count(); }
  /// Blocks of so many elements that make up C, of the whole batch.
  i64 blocks(i64 rows, i64 columns) const {
    return ceil_div(m.extent, rows) * ceil_div(n.extent, columns) * batch_count();
  }
};
std::string to_string(const ProductProblem& problem);
std::string shape_class(const ProductProblem& problem);

using ProductCandidate = Candidate<ProductProblem>;

/// The candidates, in the order in which ties are decided; the last one takes everything.
const Candidates<ProductProblem>& product_candidates();

}  // namespace axisloom::ops
