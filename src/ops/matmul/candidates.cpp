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
  return core::count(batch);
}

i64 ProductProblem::outputs() const {
  return m.extent * n.extent * batch_count();
}

i64 ProductProblem::blocks(i64 rows, i64 columns) const {
  return ceil_div(m.extent, rows) * ceil_div(n.extent, columns) * batch_count();
}

std::string to_string(const ProductProblem& problem) {
  const Loop &m = problem.m, &n = problem.n, &k = problem.k;
  const auto matrix = [](i64 rows, i64 columns) { return concat("{", rows, ",", columns, "}"); };
  std::string text =
      concat(name(problem.in), " to ", name(problem.out), " ", joined(std::array{m, n, k}, "x", &Loop::extent), " a ",
             matrix(m.in, k.in), " b ", matrix(k.other, n.other), " c ", matrix(m.out, n.out));
  for (const Loop& axis : problem.batch) text += concat(" batch ", axis.extent);
  return text;
}

std::string shape_class(const ProductProblem& problem) {
  constexpr i64 large = 256;  // from which tuned values are kept apart: more than a block
  const auto size = [](const Loop& loop) { return loop.extent == 1 ? "1" : loop.extent < large ? "small" : "large"; };
  return concat(name(problem.in), " ", size(problem.m), " x ", size(problem.n), " x ", size(problem.k));
}

}  // namespace axisloom::ops
