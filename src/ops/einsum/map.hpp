// Arrays to an array, element by element: a product of two, a conversion of dtype, a factor, an addend, an activation.
#pragma once

#include "ops/plan_impl.hpp"

#include <memory>
#include <vector>

namespace axisloom::ops {

/// A loop with the strides of the arrays, in elements.
struct MapLoop {
  std::int64_t extent = 1;
  std::int64_t in = 0, other = 0, out = 0, addend = 0;
};

/// out = activation(alpha * in [* other] + beta * addend). Computed in the arithmetic of `to`, which holds the values
/// of `from`, the dtype of `in` and `other`.
struct Map {
  Dtype from = Dtype::f32, to = Dtype::f32;
  std::vector<MapLoop> loops = {};  // slowest output first
  std::int64_t in_offset = 0, other_offset = 0, out_offset = 0, addend_offset = 0;
  bool multiplies = false;  // there is `other`
  bool adds = false;        // there is an addend, of dtype `to`
  double alpha = 1, beta = 0;
  bool relu = false;
};

/// A plan with views in, [other,] [addend,] out. Throws Error(unsupported) where the device lacks a dtype.
std::shared_ptr<PlanImpl> plan_map(const Map& map, const Device& device, const PlanOptions& options);

}  // namespace axisloom::ops
