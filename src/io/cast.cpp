// By way of double, which holds every number of 32 bits or fewer and every float, or of long double for larger
// integers.
#include "io/cast.hpp"

#include "core/number.hpp"
#include "io/codec.hpp"
#include "io/packed.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>
#include <limits>

namespace axisloom::io {
namespace {

using core::NumberKind;

bool is_integer(Dtype dtype) {
  return core::kind_of(dtype) == NumberKind::unsigned_integer || core::kind_of(dtype) == NumberKind::signed_integer;
}

bool is_wide_integer(Dtype dtype) {
  return is_integer(dtype) && size_of(dtype) == sizeof(u64);
}

template <class Number>
struct Interval {
  Number low, high;
};

/// The numbers of an integer dtype.
template <class Number>
Interval<Number> range_of(Dtype dtype) {
  const int bits = 8 * int(size_of(dtype));
  if (core::kind_of(dtype) == NumberKind::unsigned_integer) return {0, std::ldexp(Number(1), bits) - 1};
  return {-std::ldexp(Number(1), bits - 1), std::ldexp(Number(1), bits - 1) - 1};
}

long double whole(long double number) {
  return std::nearbyint(number);
}
/// Within 51 bits; several times as fast as nearbyint, which is a call on processors without SSE4.1.
double whole(double number) {
  constexpr double no_room_for_fractions = 0x1.8p52;
  return number + no_room_for_fractions - no_room_for_fractions;
}

/// Calls act(Stored()) with the C++ type of a dtype; false where it has none, or one that is not worth a loop of its
/// own.
bool with_type(Dtype dtype, const auto& act) {
  const auto is = [&](Dtype known, auto stored) {
    if (known == dtype) act(stored);
    return known == dtype;
  };
  return is(Dtype::u8, u8()) || is(Dtype::i8, std::int8_t()) || is(Dtype::u16, std::uint16_t()) ||
         is(Dtype::i16, std::int16_t()) || is(Dtype::u32, u32()) || is(Dtype::i32, std::int32_t()) ||
         is(Dtype::f32, float()) || is(Dtype::f64, double());
}

template <class Number>
void load(Dtype dtype, const std::byte* from, std::span<Number> numbers) {
  const bool done = with_type(dtype, [&]<class Stored>(Stored stored) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      std::memcpy(&stored, from + i * sizeof stored, sizeof stored);
      numbers[i] = Number(stored);
    }
  });
  for (size_t i = 0; !done && i < numbers.size(); ++i)
    numbers[i] = Number(core::number_at(dtype, from + i * size_of(dtype)));
}

template <class Number>
void store(Dtype dtype, std::byte* to, std::span<const Number> numbers) {
  const bool done = with_type(dtype, [&]<class Stored>(Stored stored) {
    for (size_t i = 0; i < numbers.size(); ++i) {
      stored = Stored(numbers[i]);
      std::memcpy(to + i * sizeof stored, &stored, sizeof stored);
    }
  });
  for (size_t i = 0; !done && i < numbers.size(); ++i) core::store_number(dtype, to + i * size_of(dtype), numbers[i]);
}

/// Calls visit(numbers) for pieces of the array's components, in C order.
template <class Number>
void for_each_piece(const HostArray& array, const auto& visit) {
  constexpr i64 piece = 4096;  // elements
  const int components = core::components_of(array.view.dtype);
  std::vector<std::byte> elements(size_t(piece) * size_of(array.view.dtype));
  std::vector<Number> numbers(size_t(piece * components));
  PackedReader reader(array);
  for (i64 left = array.view.count(); left > 0; left -= piece) {
    const i64 count = std::min(left, piece);
    reader.next(elements.data(), count);
    const std::span<Number> read(numbers.data(), size_t(count * components));
    load(core::component_of(array.view.dtype), elements.data(), read);
    visit(read);
  }
}

/// Real numbers with imaginary parts of 0.
template <class Number>
std::vector<Number> as_complex(std::span<const Number> numbers) {
  std::vector<Number> pairs;
  for (const Number number : numbers) pairs.insert(pairs.end(), {number, 0});
  return pairs;
}

/// An array of that dtype whose components are change(component of the old one).
template <class Number>
HostArray changed(const HostArray& array, Dtype dtype, const auto& change) {
  HostArray result = allocate_for("the result", View::contiguous(dtype, array.view.shape));
  const bool widens = core::components_of(dtype) > core::components_of(array.view.dtype);
  const Dtype component = core::component_of(dtype);
  std::byte* out = result.memory.get();
  for_each_piece<Number>(array, [&](std::span<Number> numbers) {
    for (Number& number : numbers) number = change(number);
    const std::vector<Number> pairs = widens ? as_complex<Number>(numbers) : std::vector<Number>();
    const std::span<const Number> stored = widens ? std::span<const Number>(pairs) : numbers;
    store(component, out, stored);
    out += stored.size() * size_of(component);
  });
  return result;
}

/// The smallest and the largest finite number; 0 and 0 where there is none.
template <class Number>
Interval<Number> extremes_of(const HostArray& array) {
  constexpr Number infinity = std::numeric_limits<Number>::infinity();
  Interval<Number> found{infinity, -infinity};
  for_each_piece<Number>(array, [&](std::span<const Number> numbers) {
    for (const Number number : numbers) {
      if (number < found.low && number > -infinity) found.low = number;
      if (number > found.high && number < infinity) found.high = number;
    }
  });
  return found.low <= found.high ? found : Interval<Number>{0, 0};
}

template <class Number>
HostArray cast_by(const HostArray& array, Dtype dtype, Beyond beyond, Number factor) {
  if (!is_integer(dtype)) return changed<Number>(array, dtype, [&](Number number) { return number * factor; });
  const Interval range = range_of<Number>(dtype);
  return changed<Number>(array, dtype, [&](Number number) -> Number {
    number *= factor;
    constexpr Number half = 0.5;  // what rounding may add
    const bool inside = number >= range.low - half && number <= range.high + half;
    if (!inside && beyond == Beyond::refused)
      throw Error(Errc::usage, fmt::format("the result holds {}, which {} cannot", double(number), name(dtype)),
                  "add --normalize, or --out-dtype to cut it off");
    return std::isnan(number) ? 0 : whole(std::clamp(number, range.low, range.high));
  });
}

template <class Number>
HostArray normalized_by(const HostArray& array, Dtype dtype) {
  const Interval from = extremes_of<Number>(array);
  const Interval to = is_integer(dtype) ? range_of<Number>(dtype) : Interval<Number>{0, 1};
  const Number width = std::max(from.high - from.low, std::numeric_limits<Number>::min());  // of one number, not 0
  return changed<Number>(array, dtype, [&](Number number) -> Number {
    if (std::isnan(number)) return is_integer(dtype) ? 0 : number;
    const Number part = (std::clamp(number, from.low, from.high) - from.low) / width;
    const Number stretched = std::min(to.low + part * (to.high - to.low), to.high);
    return is_integer(dtype) ? whole(stretched) : stretched;
  });
}

}  // namespace

HostArray cast(const HostArray& array, Dtype dtype, Beyond beyond, double factor) {
  if (dtype == array.view.dtype && factor == 1) return array;
  if (core::components_of(array.view.dtype) > core::components_of(dtype))
    throw Error(Errc::usage,
                fmt::format("{} would lose the imaginary parts of {}", name(dtype), name(array.view.dtype)),
                "cast to c64 or c128");
  const bool wide = is_wide_integer(array.view.dtype) || is_wide_integer(dtype);
  return wide ? cast_by<long double>(array, dtype, beyond, factor) : cast_by<double>(array, dtype, beyond, factor);
}

HostArray normalized(const HostArray& array, Dtype dtype) {
  if (core::components_of(array.view.dtype) > 1)
    throw Error(Errc::usage,
                fmt::format("{} cannot be normalized: complex numbers have no order", name(array.view.dtype)),
                "leave --normalize out");
  // Two f64 may be further apart than any f64.
  const bool wide = size_of(array.view.dtype) == sizeof(double) || is_wide_integer(dtype);
  return wide ? normalized_by<long double>(array, dtype) : normalized_by<double>(array, dtype);
}

}  // namespace axisloom::io
