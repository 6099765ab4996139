// The batched product of two strided matrices: what every einsum and matmul lowers to.
#pragma once

#include "core/nest.hpp"
#include "planner/plan_impl.hpp"

#include <axisloom/array.hpp>
#include <axisloom/plan.hpp>

#include <memory>
#include <optional>
#include <span>
#include <vector>

namespace axisloom::ops {

using core::Loop;
using core::Loops;
using core::Operand;

/// For every point of the batch and all m, n:
///   C[m,n] = activation(alpha * sum over k of A[m,k] B[k,n] + beta * D[m,n])
/// Extents from 0 up; a sum of no terms is 0. Floats accumulate in f32 (f16, bf16 too) or f64, integers wrap round, of
/// bools `+` is or and `*` is and. `out` is `in`, or i32 of i8 and u8, or f32 of f16 and bf16. Integers take integral
/// alpha and beta, bools alpha 1 and beta 0 or 1; relu is for real numbers. A beta of 0 does not read D.
/// Of each loop, A's steps are `in`, B's `other`, C's `out` and D's `addend`; those of C keep its elements apart.
struct Product {
  Dtype in = Dtype::f32;   // of A and B
  Dtype out = Dtype::f32;  // of C and D
  Loop m, n, k;            // A walks m and k, B k and n, C and D m and n
  Loops batch;             // slowest first; at most most_batch_axes that cannot be merged
  core::Start a, b, c;
  std::optional<core::Start> d;
  double alpha = 1, beta = 0;
  bool relu = false;

  Loops loops() const;  // the batch, then m, n and k
};

inline constexpr int most_batch_axes = max_rank - 2;

/// The same product with the fewest batch axes: extents of 1 dropped, neighbours merged where all strides allow it, and
/// an axis that only A (only B) and the output have made part of m (of n).
Product normalise(const Product& product);

/// A plan whose views are A, B, [D,] C. `options` as for any plan: forced candidate, configuration, index width,
/// checked. Fills the report but for op, shapes and device. Throws Error(usage) for what a Product may not be and
/// Error(unsupported) where the device lacks f64 or a forced candidate does not fit.
SharedPlan plan_product(const Product& product, std::vector<View> views, const Device& device,
                        const PlanOptions& options);

}  // namespace axisloom::ops
