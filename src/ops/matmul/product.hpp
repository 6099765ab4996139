// The batched product of two strided matrices: what every einsum and matmul lowers to.
#pragma once

#include "ops/plan_impl.hpp"
#include "ops/registry.hpp"

#include <axisloom/array.hpp>
#include <axisloom/plan.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace axisloom::ops {

/// How a matrix lies in its buffer: strides in elements along the axes of the product that it has (the third is
/// ignored), any sign, 0 repeats. The output's strides keep its elements apart.
struct ProductOperand {
  std::int64_t m = 0, n = 0, k = 0;
  std::int64_t offset = 0;   // of the first element from the start of the buffer, in elements
  std::int64_t align = 256;  // bytes to which the start of the buffer is known to be aligned
};

/// One axis that all matrices are walked along together; strides in elements, 0 where an operand lacks it.
struct BatchAxis {
  std::int64_t extent = 1;
  std::int64_t a = 0, b = 0, c = 0, d = 0;
};

/// For every point of the batch and all m, n:
///   C[m,n] = activation(alpha * sum over k of A[m,k] B[k,n] + beta * D[m,n])
/// Extents from 0 up; a sum of no terms is 0. Floats accumulate in f32 (f16, bf16 too) or f64, integers wrap round, of
/// bools `+` is or and `*` is and. `out` is `in`, or i32 of i8 and u8, or f32 of f16 and bf16. Integers take integral
/// alpha and beta, bools alpha 1 and beta 0 or 1; relu is for real numbers. A beta of 0 does not read D.
struct Product {
  Dtype in = Dtype::f32;   // of A and B
  Dtype out = Dtype::f32;  // of C and D
  std::int64_t m = 1, n = 1, k = 1;
  std::vector<BatchAxis> batch;     // slowest first; at most most_batch_axes that cannot be merged
  ProductOperand a, b, c;           // a: m, k; b: k, n; c: m, n
  std::optional<ProductOperand> d;  // m, n
  double alpha = 1, beta = 0;
  bool relu = false;
};

inline constexpr int most_batch_axes = max_rank - 2;

/// The same product with the fewest batch axes: extents of 1 dropped, neighbours merged where all strides allow it, and
/// an axis that only A (only B) and the output have made part of m (of n).
Product normalise(const Product& product);

/// A plan whose views are A, B, [D,] C. `options` as for any plan: forced candidate, configuration, index width,
/// checked. Fills the report but for op, shapes and device. Throws Error(usage) for what a Product may not be and
/// Error(unsupported) where the device lacks f64 or a forced candidate does not fit.
std::shared_ptr<PlanImpl> plan_product(const Product& product, std::vector<View> views, const Device& device,
                                       const PlanOptions& options);

/// The variants, in the order in which ties are decided.
std::span<const CandidateInfo> product_candidates();

/// Predicted seconds of the product on a device, by the variant that would be taken. Needs no compiler.
double product_seconds(const Product& product, const DeviceInfo& device);

}  // namespace axisloom::ops
