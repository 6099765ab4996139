// Promotion of dtypes, by rule instead of by table.
#include "ops/einsum/promotion.hpp"

#include "core/number.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

using core::NumberKind;

/// Whether a dtype has all values of another; of a float, one near each of an integer's, which takes twice as many
/// bytes, up to those of f64.
bool holds(Dtype dtype, Dtype other) {
  const NumberKind kind = core::kind_of(dtype), other_kind = core::kind_of(other);
  const size_t bytes = size_of(dtype), other_bytes = size_of(other);
  if (dtype == other || other == Dtype::boolean) return true;
  if (kind == NumberKind::complex) return holds(core::component_of(dtype), core::component_of(other));
  if (kind == NumberKind::floating && other_kind < kind) return bytes >= std::min<size_t>(8, 2 * other_bytes);
  return other_kind <= kind && bytes > other_bytes;
}

}  // namespace

Dtype promoted(Dtype a, Dtype b) {
  if (a == b) return a;
  const auto dtypes = all_dtypes();  // the smallest first, and of equals integers before floats before complex numbers
  return *std::ranges::find_if(dtypes, [&](Dtype dtype) { return holds(dtype, a) && holds(dtype, b); });
}

}  // namespace axisloom::ops
