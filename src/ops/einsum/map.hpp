// Arrays to an array, element by element: a product of two, a conversion of dtype, a factor, an addend, an activation.
#pragma once

#include "ops/matmul/product.hpp"

#include <memory>

namespace axisloom::ops {

/// A product without sums, whose loops are all in the batch: C = activation(alpha * A [* B] + beta * D), there being a
/// B where it `multiplies`. Computed in the arithmetic of `out`, which holds the values of `in`.
struct Map : Product {
  bool multiplies = false;
};

/// A plan with views A, [B,] [D,] C. Throws Error(unsupported) where the device lacks a dtype.
SharedPlan plan_map(const Map& map, const Device& device, const PlanOptions& options);

}  // namespace axisloom::ops
