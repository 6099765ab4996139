// Reading and writing single elements. The 16-bit floats have no type of C++, so they go by way of their bits.
#include "core/number.hpp"

#include "core/integers.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace axisloom::core {
namespace {

using enum NumberKind;

static_assert(std::numeric_limits<long double>::digits >= 64, "64-bit integers are exact in long double");
static_assert(std::endian::native == std::endian::little, "an integer's first bytes are taken to be its low ones");

long double decode(const FloatFormat& format, std::uint16_t bits) {
  const int exponent = (bits >> format.fraction_bits) & format.top();
  const int fraction = bits & ((1 << format.fraction_bits) - 1);
  long double magnitude = 0;
  if (exponent == format.top())
    magnitude =
        fraction != 0 ? std::numeric_limits<long double>::quiet_NaN() : std::numeric_limits<long double>::infinity();
  else if (exponent == 0)
    magnitude = std::ldexp(static_cast<long double>(fraction), 1 - format.bias() - format.fraction_bits);
  else
    magnitude = std::ldexp(static_cast<long double>(fraction + (1 << format.fraction_bits)),
                           exponent - format.bias() - format.fraction_bits);
  return (bits & 0x8000) != 0 ? -magnitude : magnitude;
}

std::uint16_t encode(const FloatFormat& format, long double number) {
  const std::uint16_t sign = std::signbit(number) ? 0x8000 : 0;
  const auto infinity = std::uint16_t(format.top() << format.fraction_bits);
  if (std::isnan(number)) return std::uint16_t(sign | infinity | (1 << (format.fraction_bits - 1)));
  if (std::isinf(number)) return sign | infinity;
  const long double magnitude = std::fabs(number);
  if (magnitude == 0) return sign;
  // Units of the last place at this magnitude; below the normal numbers they stay what they are there.
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  const auto units =
      u32(std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent)));  // the mode is nearest even
  // Adding lets a carry out of the fraction run into the exponent, up to infinity.
  const u32 field = u32(exponent + format.bias() - 1) << format.fraction_bits;
  return std::uint16_t(sign | std::min<u32>(field + units, infinity));
}

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

void write(std::byte* to, auto value) {
  std::memcpy(to, &value, sizeof value);
}

std::string digits(auto value) {
  std::array<char, 64> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string component_text(Dtype dtype, const std::byte* element, int component) {
  const long double number = number_at(dtype, element, component);
  if (std::isnan(number)) return "nan";  // its sign means nothing
  if (component_of(dtype) == Dtype::f64) return digits(double(number));
  return digits(float(number));
}

}  // namespace

long double FloatFormat::largest() const noexcept {
  return std::ldexp(2 - std::ldexp(1.0L, -fraction_bits), bias());
}

long double FloatFormat::least() const noexcept {
  return std::ldexp(1.0L, 1 - bias() - fraction_bits);
}

bool is_small_float(Dtype dtype) noexcept {
  const FloatFormat* const format = float_format(dtype);
  return format != nullptr && format->bits() < 32;
}

double unit_roundoff(Dtype dtype) noexcept {
  const FloatFormat* const format = float_format(dtype);
  return format != nullptr ? std::ldexp(1.0, -format->fraction_bits - 1) : 0;
}

Dtype widest_integer(Dtype dtype) noexcept {
  return kind_of(dtype) == unsigned_integer ? Dtype::u64 : Dtype::i64;
}

int components_of(Dtype dtype) noexcept {
  return kind_of(dtype) == complex ? 2 : 1;
}

long double number_at(Dtype dtype, const std::byte* element, int component) {
  const size_t size = size_of(component_of(dtype));
  const std::byte* const at = element + size_t(component) * size;
  if (const FloatFormat* const format = float_format(dtype))
    return size == 8 ? read<double>(at) : size == 4 ? read<float>(at) : decode(*format, read<std::uint16_t>(at));
  u64 bits = 0;
  std::memcpy(&bits, at, size);
  if (kind_of(dtype) == boolean) return bits != 0 ? 1 : 0;
  const auto unused = unsigned(64 - 8 * size);
  if (kind_of(dtype) == signed_integer) return i64(bits << unused) >> unused;
  return bits;
}

void store_number(Dtype dtype, std::byte* element, long double number, int component) {
  const size_t size = size_of(component_of(dtype));
  std::byte* const at = element + size_t(component) * size;
  if (const FloatFormat* const format = float_format(dtype))
    return size == 8   ? write(at, double(number))
           : size == 4 ? write(at, float(number))
                       : write(at, encode(*format, number));
  const NumberKind kind = kind_of(dtype);
  const u64 bits = kind == boolean ? number != 0 : number < 0 ? u64(i64(number)) : u64(number);
  std::memcpy(at, &bits, size);
}

std::string number_text(Dtype dtype, const std::byte* element) {
  switch (kind_of(dtype)) {
    case boolean:
      return number_at(dtype, element) != 0 ? "true" : "false";
    case unsigned_integer:
      return digits(u64(number_at(dtype, element)));
    case signed_integer:
      return digits(i64(number_at(dtype, element)));
    case floating:
      return component_text(dtype, element, 0);
    case complex:
      break;
  }
  const std::string imaginary = component_text(dtype, element, 1);
  return component_text(dtype, element, 0) + (imaginary.starts_with('-') ? "" : "+") + imaginary + "j";
}

}  // namespace axisloom::core
