// Elements as numbers, whatever their dtype: for oracles, comparisons and printing, not for speed.
#pragma once

#include <axisloom/array.hpp>

#include <array>
#include <cstddef>
#include <optional>
#include <string>
#include <string_view>

namespace axisloom::core {

/// How a dtype computes.
enum class NumberKind { boolean, unsigned_integer, signed_integer, floating, complex };
NumberKind kind_of(Dtype dtype) noexcept;

/// A binary float with a sign, and a leading bit that is not stored.
struct FloatFormat {
  int exponent_bits = 0, fraction_bits = 0;

  int bits() const noexcept { return 1 + exponent_bits + fraction_bits; }
  int bias() const noexcept { return (1 << (exponent_bits - 1)) - 1; }
  int top() const noexcept { return (1 << exponent_bits) - 1; }  // the exponent as stored of infinities and NaN
  long double largest() const noexcept;
  long double least() const noexcept;  // the smallest positive number
};
/// The dtype of a code of NumPy without its byte order: "f4", "b1".
std::optional<Dtype> numpy_dtype(std::string_view code);
/// Null for integers and bool; of complex dtypes the format of a component.
const FloatFormat* float_format(Dtype dtype) noexcept;

/// Floats that kernels have no type for: they are kept as bits and computed with as f32.
bool is_small_float(Dtype dtype) noexcept;

/// Rounding of one operation relative to its result, half of the distance between 1 and the next number: 2^-24 for f32
/// and c64, 2^-11 for f16. 0 for integers and bool.
double unit_roundoff(Dtype dtype) noexcept;

/// 2 for complex dtypes, else 1.
int components_of(Dtype dtype) noexcept;
/// The dtype of a component: f32 for c64, else the dtype itself.
Dtype component_of(Dtype dtype) noexcept;

/// u64 for unsigned integers, i64 for all others.
Dtype widest_integer(Dtype dtype) noexcept;

/// A component of the element at `element`. Every value of every dtype is exact: long double has at least 64 digits.
long double number_at(Dtype dtype, const std::byte* element, int component = 0);
/// Stores a component: floats are rounded to nearest even; integers must be whole, and of those that are too
/// large the low bytes are stored; bool is number != 0.
void store_number(Dtype dtype, std::byte* element, long double number, int component = 0);

/// The shortest decimal digits from which the element's bits can be read back: "0.1", "-7", "true", "1.5-2j", "nan".
std::string number_text(Dtype dtype, const std::byte* element);

/// The real and the imaginary part of a number.
using Parts = std::array<long double, 2>;
/// The other way: such a text, or another that means a number, as a value of the dtype, to which floats are rounded.
/// Nothing for a text that means none, and for a number that the dtype does not have: 0.5 or 300 of u8, 1j of f32.
std::optional<Parts> number_of(Dtype dtype, std::string_view text);

}  // namespace axisloom::core
