// Reading and writing single elements. The 16-bit floats have no type of C++, so they go by way of their bits.
#include "core/number.hpp"

#include "core/integers.hpp"
#include "core/text.hpp"

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

/// Two parts of a text: "1.5-2j" is "1.5" and "-2", "2j" is "0" and "2".
std::array<std::string_view, 2> parts_of(std::string_view text) {
  if (!text.ends_with('j')) return {text, "0"};
  text.remove_suffix(1);
  size_t sign = text.find_last_of("+-");
  if (sign != text.npos && sign > 0 && (text[sign - 1] == 'e' || text[sign - 1] == 'E'))
    sign = text.find_last_of("+-", sign - 1);
  if (sign == text.npos || sign == 0) return {"0", text};
  return {text.substr(0, sign), text.substr(text[sign] == '+' ? sign + 1 : sign)};
}

std::optional<long double> real_of(std::string_view text) {
  if (const auto number = whole_number<i64>(text)) return *number;
  if (const auto number = whole_number<u64>(text)) return *number;
  if (const auto number = whole_number<double>(text)) return *number;
  if (text == "true" || text == "false") return text == "true";
  return std::nullopt;
}

/// The number as the dtype has it, which of integers must be the number itself.
std::optional<long double> rounded(Dtype component, long double number) {
  std::array<std::byte, sizeof(u64)> element{};
  const bool inexact = float_format(component) != nullptr;
  if (!inexact && !(std::fabs(number) < 0x1p64L)) return std::nullopt;
  store_number(component, element.data(), number);
  const long double stored = number_at(component, element.data());
  if (!inexact && stored != number) return std::nullopt;
  return stored;
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

std::optional<Parts> number_of(Dtype dtype, std::string_view text) {
  Parts parts{};
  const auto texts = parts_of(text);
  for (size_t i = 0; i < parts.size(); ++i) {
    const auto real = real_of(texts[i]);
    const auto number = real ? rounded(component_of(dtype), *real) : std::nullopt;
    if (!number || (i == 1 && *number != 0 && components_of(dtype) == 1)) return std::nullopt;
    parts[i] = *number;
  }
  return parts;
}

}  // namespace axisloom::core
