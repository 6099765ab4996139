// One step of a contraction, the product of two arrays, as a batched product of strided matrices.
#pragma once

#include "ops/einsum/problem.hpp"
#include "ops/matmul/product.hpp"

namespace axisloom::ops {

/// The arrays of a step: out = left * right, summed over the axes that out lacks. Every such axis belongs to both.
struct ProductStep {
  const Term& left;
  const Term& right;
  const Term& out;
  const Term* addend = nullptr;
};

/// Where a term begins.
inline core::Start start_of(const Term& term) {
  return {term.offset, term.align};
}

/// Loops over some axes in which arrays lie that are read, written, multiplied and added, those absent standing still;
/// the fewest, ordered by the output.
Loops loops_over(const Contraction& problem, AxisSet axes, const Term& in, const Term& out, const Term* other = nullptr,
                 const Term* addend = nullptr);

/// Axes in which an array must lie, slowest first, so that all summed axes are one loop; empty: as it lies.
struct Orders {
  AxisList left, right;
};
/// The cheapest way: nothing where both arrays have the summed axes in one order already, else a copy of the smaller
/// array that has to follow the other, else copies of both.
Orders orders_needed(const Contraction& problem, const ProductStep& step);

/// The product of a step whose summed axes are one loop. m and n are one loop each: those with the longest runs; all
/// other axes are walked as a batch. A and B are left and right, or the other way round where the output's fastest axis
/// comes from the left: `swapped` says so. Dtypes, alpha, beta and relu are left to the caller.
struct LoweredProduct {
  Product product;
  bool swapped = false;
};
LoweredProduct lower_product(const Contraction& problem, const ProductStep& step);

/// An array of a product's plan: its steps along a loop, bytes of an element, and where it begins.
struct Walked {
  core::Operand step;
  i64 element;
  core::Start* start;
};
/// Takes axes out of a product's batch until `most` are left, which kernels walk, and says where the plan of what is
/// left has to be repeated: the first time is not among them. Throws Error(unsupported) where that is too often.
std::vector<std::vector<Place>> take_repeats(Product& product, size_t most, std::span<const Walked> arrays);

/// Those of some axes that a term has, as it has them: slowest first.
AxisList by_stride(const Term& term, AxisSet axes);

/// A good layout for the result of a step that is read by later steps: its axes, slowest first.
AxisList result_order(const Term& left, const Term& right, AxisSet axes);

}  // namespace axisloom::ops
