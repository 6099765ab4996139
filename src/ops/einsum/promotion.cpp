// Promotion of dtypes, by rule instead of by table.
#include "ops/einsum/promotion.hpp"

#include "core/number.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

using core::NumberKind;

Dtype signed_of(std::size_t bytes) {
  return bytes == 1 ? Dtype::i8 : bytes == 2 ? Dtype::i16 : bytes == 4 ? Dtype::i32 : Dtype::i64;
}

Dtype integers(Dtype a, Dtype b) {
  if (core::kind_of(a) == core::kind_of(b)) return size_of(a) >= size_of(b) ? a : b;
  const bool a_signed = core::kind_of(a) == NumberKind::signed_integer;
  const std::size_t with_sign = size_of(a_signed ? a : b), without = size_of(a_signed ? b : a);
  if (with_sign > without) return signed_of(with_sign);
  return without == 8 ? Dtype::f64 : signed_of(2 * without);
}

/// The smallest float that has a value near each of an integer's: at least twice as wide, up to f64.
std::size_t float_bytes(Dtype dtype) {
  if (core::kind_of(dtype) == NumberKind::floating) return size_of(dtype);
  return std::min<std::size_t>(8, 2 * size_of(dtype));
}

Dtype floats(Dtype a, Dtype b) {
  const std::size_t bytes = std::max(float_bytes(a), float_bytes(b));
  if (bytes == 8) return Dtype::f64;
  const bool a_small = core::is_small_float(a), b_small = core::is_small_float(b);
  if (bytes == 4 || (a_small && b_small && a != b)) return Dtype::f32;
  return a_small ? a : b;
}

}  // namespace

Dtype promoted(Dtype a, Dtype b) {
  if (a == b || b == Dtype::boolean) return a;
  if (a == Dtype::boolean) return b;
  const NumberKind kind_a = core::kind_of(a), kind_b = core::kind_of(b);
  if (kind_a == NumberKind::complex || kind_b == NumberKind::complex)
    return promoted(core::component_of(a), core::component_of(b)) == Dtype::f64 ? Dtype::c128 : Dtype::c64;
  if (kind_a == NumberKind::floating || kind_b == NumberKind::floating) return floats(a, b);
  return integers(a, b);
}

}  // namespace axisloom::ops
