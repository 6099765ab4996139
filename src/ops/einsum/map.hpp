// Arrays to an array, element by element: a product of two, a conversion of dtype, a factor, an addend, an activation.
#pragma once

#include "core/nest.hpp"
#include "planner/plan_impl.hpp"

#include <memory>

namespace axisloom::ops {

/// out = activation(alpha * in [* other] + beta * addend). Computed in the arithmetic of `to`, which holds the values
/// of `from`, the dtype of `in` and `other`.
struct Map {
  Dtype from = Dtype::f32, to = Dtype::f32;
  core::Loops loops = {};  // slowest output first
  i64 in_offset = 0, other_offset = 0, out_offset = 0, addend_offset = 0;
  bool multiplies = false;  // there is `other`
  bool adds = false;        // there is an addend, of dtype `to`
  double alpha = 1, beta = 0;
  bool relu = false;
};

/// A plan with views in, [other,] [addend,] out. Throws Error(unsupported) where the device lacks a dtype.
std::shared_ptr<PlanImpl> plan_map(const Map& map, const Device& device, const PlanOptions& options);

}  // namespace axisloom::ops
