// Reading and writing single elements. The 16-bit floats have no type of C++, so they go by way of their bits.
#include "core/number.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdint>
#include <cstring>
#include <limits>

namespace axisloom::core {
namespace {

static_assert(std::numeric_limits<long double>::digits >= 64, "64-bit integers are exact in long double");

/// A binary float of 16 bits: how many bits its exponent and its fraction have.
struct SmallFloat {
  int exponent_bits, fraction_bits;
  int bias() const { return (1 << (exponent_bits - 1)) - 1; }
  int top() const { return (1 << exponent_bits) - 1; }  // exponent field of infinities and NaN
};
constexpr SmallFloat half{5, 10};
constexpr SmallFloat brain{8, 7};

long double decode(SmallFloat format, std::uint16_t bits) {
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

std::uint16_t encode(SmallFloat format, long double number) {
  const std::uint16_t sign = std::signbit(number) ? 0x8000 : 0;
  const auto infinity = static_cast<std::uint16_t>(format.top() << format.fraction_bits);
  if (std::isnan(number)) return static_cast<std::uint16_t>(sign | infinity | (1 << (format.fraction_bits - 1)));
  if (std::isinf(number)) return sign | infinity;
  const long double magnitude = std::fabs(number);
  if (magnitude == 0) return sign;
  // Units of the last place at this magnitude; below the normal numbers they stay what they are there.
  const int exponent = std::max(std::ilogb(magnitude), 1 - format.bias());
  const auto units = static_cast<std::uint32_t>(
      std::nearbyint(std::ldexp(magnitude, format.fraction_bits - exponent)));  // the mode is nearest even
  // Adding lets a carry out of the fraction run into the exponent, up to infinity.
  const std::uint32_t field = static_cast<std::uint32_t>(exponent + format.bias() - 1) << format.fraction_bits;
  return static_cast<std::uint16_t>(sign | std::min<std::uint32_t>(field + units, infinity));
}

template <class T>
T read(const std::byte* from) {
  T value;
  std::memcpy(&value, from, sizeof value);
  return value;
}

template <class T>
void write(std::byte* to, T value) {
  std::memcpy(to, &value, sizeof value);
}

template <class T>
std::string digits(T value) {
  std::array<char, 64> text;
  return {text.data(), std::to_chars(text.data(), text.data() + text.size(), value).ptr};
}

std::string component_text(Dtype dtype, const std::byte* element, int component) {
  const long double number = number_at(dtype, element, component);
  if (component_of(dtype) == Dtype::f64) return digits(static_cast<double>(number));
  return digits(static_cast<float>(number));
}

}  // namespace

NumberKind kind_of(Dtype dtype) noexcept {
  switch (dtype) {
    case Dtype::boolean:
      return NumberKind::boolean;
    case Dtype::u8:
    case Dtype::u16:
    case Dtype::u32:
    case Dtype::u64:
      return NumberKind::unsigned_integer;
    case Dtype::i8:
    case Dtype::i16:
    case Dtype::i32:
    case Dtype::i64:
      return NumberKind::signed_integer;
    case Dtype::c64:
    case Dtype::c128:
      return NumberKind::complex;
    default:
      return NumberKind::floating;
  }
}

double unit_roundoff(Dtype dtype) noexcept {
  switch (component_of(dtype)) {
    case Dtype::f16:
      return 0x1p-11;
    case Dtype::bf16:
      return 0x1p-8;
    case Dtype::f32:
      return 0x1p-24;
    case Dtype::f64:
      return 0x1p-53;
    default:
      return 0;
  }
}

int components_of(Dtype dtype) noexcept {
  return kind_of(dtype) == NumberKind::complex ? 2 : 1;
}

Dtype component_of(Dtype dtype) noexcept {
  return dtype == Dtype::c64 ? Dtype::f32 : dtype == Dtype::c128 ? Dtype::f64 : dtype;
}

long double number_at(Dtype dtype, const std::byte* element, int component) {
  const std::byte* const at = element + static_cast<std::size_t>(component) * size_of(component_of(dtype));
  switch (component_of(dtype)) {
    case Dtype::boolean:
      return read<std::uint8_t>(at) != 0 ? 1 : 0;
    case Dtype::u8:
      return read<std::uint8_t>(at);
    case Dtype::i8:
      return read<std::int8_t>(at);
    case Dtype::u16:
      return read<std::uint16_t>(at);
    case Dtype::i16:
      return read<std::int16_t>(at);
    case Dtype::f16:
      return decode(half, read<std::uint16_t>(at));
    case Dtype::bf16:
      return decode(brain, read<std::uint16_t>(at));
    case Dtype::u32:
      return read<std::uint32_t>(at);
    case Dtype::i32:
      return read<std::int32_t>(at);
    case Dtype::f32:
      return read<float>(at);
    case Dtype::u64:
      return read<std::uint64_t>(at);
    case Dtype::i64:
      return read<std::int64_t>(at);
    default:
      return read<double>(at);
  }
}

void store_number(Dtype dtype, std::byte* element, long double number, int component) {
  std::byte* const at = element + static_cast<std::size_t>(component) * size_of(component_of(dtype));
  switch (component_of(dtype)) {
    case Dtype::boolean:
      return write(at, static_cast<std::uint8_t>(number != 0));
    case Dtype::u8:
      return write(at, static_cast<std::uint8_t>(number));
    case Dtype::i8:
      return write(at, static_cast<std::int8_t>(number));
    case Dtype::u16:
      return write(at, static_cast<std::uint16_t>(number));
    case Dtype::i16:
      return write(at, static_cast<std::int16_t>(number));
    case Dtype::f16:
      return write(at, encode(half, number));
    case Dtype::bf16:
      return write(at, encode(brain, number));
    case Dtype::u32:
      return write(at, static_cast<std::uint32_t>(number));
    case Dtype::i32:
      return write(at, static_cast<std::int32_t>(number));
    case Dtype::f32:
      return write(at, static_cast<float>(number));
    case Dtype::u64:
      return write(at, static_cast<std::uint64_t>(number));
    case Dtype::i64:
      return write(at, static_cast<std::int64_t>(number));
    default:
      return write(at, static_cast<double>(number));
  }
}

std::string number_text(Dtype dtype, const std::byte* element) {
  switch (kind_of(dtype)) {
    case NumberKind::boolean:
      return number_at(dtype, element) != 0 ? "true" : "false";
    case NumberKind::unsigned_integer:
      return digits(static_cast<std::uint64_t>(number_at(dtype, element)));
    case NumberKind::signed_integer:
      return digits(static_cast<std::int64_t>(number_at(dtype, element)));
    case NumberKind::floating:
      return component_text(dtype, element, 0);
    case NumberKind::complex:
      break;
  }
  const std::string imaginary = component_text(dtype, element, 1);
  return component_text(dtype, element, 0) + (imaginary.starts_with('-') ? "" : "+") + imaginary + "j";
}

}  // namespace axisloom::core
