// The candidates of the product: what variants.inc lists, and what the stores call a problem.
#include "ops/matmul/candidate.hpp"

#include "core/text.hpp"

#include <array>

namespace axisloom::ops {

#define VARIANT(name) ProductCandidate name##_product();
#include "ops/matmul/variants.inc"
#undef VARIANT

const Candidates<ProductProblem>& product_candidates() {
  static const Candidates<ProductProblem> candidates = {
#define VARIANT(name) name##_product(),
#include "ops/matmul/variants.inc"
#undef VARIANT
  };
  return candidates;
}

i64 ProductProblem::batch_count() const {
  return core::count(product.batch);
}

i64 ProductProblem::outputs() const {
  return product.m.extent * product.n.extent * batch_count();
}

i64 ProductProblem::blocks(i64 m, i64 n) const {
  return ceil_div(product.m.extent, m) * ceil_div(product.n.extent, n) * batch_count();
}

std::string to_string(const ProductProblem& problem) {
  const Product& product = problem.product;
  const core::Loop &m = product.m, &n = product.n, &k = product.k;
  const auto matrix = [](i64 rows, i64 columns) {
    return "{" + std::to_string(rows) + "," + std::to_string(columns) + "}";
  };
  std::string text = std::string(name(product.in)) + " to " + std::string(name(product.out)) + " " +
                     joined(std::array{m, n, k}, "x", &core::Loop::extent) + " a " + matrix(m.in, k.in) + " b " +
                     matrix(k.other, n.other) + " c " + matrix(m.out, n.out);
  for (const core::Loop& axis : product.batch) text += " batch " + std::to_string(axis.extent);
  return text;
}

std::string shape_class(const ProductProblem& problem) {
  constexpr i64 large = 256;  // from which tuned values are kept apart: more than a block
  const auto size = [](i64 extent) { return std::string(extent == 1 ? "1" : extent < large ? "small" : "large"); };
  const Product& product = problem.product;
  return std::string(name(product.in)) + " " + size(product.m.extent) + " x " + size(product.n.extent) + " x " +
         size(product.k.extent);
}

}  // namespace axisloom::ops
