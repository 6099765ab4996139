// All by way of long double, which holds every number of every dtype.
#include "io/cast.hpp"

#include "core/number.hpp"
#include "io/codec.hpp"
#include "io/packed.hpp"

#include <algorithm>
#include <cmath>
#include <limits>

namespace axisloom::io {
namespace {

using core::NumberKind;

struct Interval {
  long double low, high;
};

bool is_integer(Dtype dtype) {
  return core::kind_of(dtype) == NumberKind::unsigned_integer || core::kind_of(dtype) == NumberKind::signed_integer;
}

/// The numbers of an integer dtype.
Interval range_of(Dtype dtype) {
  const int bits = 8 * int(size_of(dtype));
  if (core::kind_of(dtype) == NumberKind::unsigned_integer) return {0, std::ldexp(1.0L, bits) - 1};
  return {-std::ldexp(1.0L, bits - 1), std::ldexp(1.0L, bits - 1) - 1};
}

/// Calls `visit(element)` for each, in C order.
void for_each_element(const HostArray& array, const auto& visit) {
  constexpr i64 piece = 4096;  // elements gathered at a time
  const size_t size = size_of(array.view.dtype);
  std::vector<std::byte> elements(size_t(piece) * size);
  PackedReader reader(array);
  for (i64 left = array.view.count(); left > 0; left -= piece) {
    const i64 count = std::min(left, piece);
    reader.next(elements.data(), count);
    for (i64 i = 0; i < count; ++i) visit(elements.data() + size_t(i) * size);
  }
}

/// An array of that dtype whose components are change(component of the old one).
HostArray changed(const HostArray& array, Dtype dtype, const auto& change) {
  HostArray result = allocate_for("the result", View::contiguous(dtype, array.view.shape));
  const Dtype from = array.view.dtype;
  const int kept = std::min(core::components_of(from), core::components_of(dtype));
  std::byte* out = result.memory.get();
  for_each_element(array, [&](const std::byte* element) {
    for (int i = 0; i < core::components_of(dtype); ++i)
      core::store_number(dtype, out, i < kept ? change(core::number_at(from, element, i)) : 0, i);
    out += size_of(dtype);
  });
  return result;
}

/// The smallest and the largest finite number; 0 and 0 where there is none.
Interval extremes_of(const HostArray& array) {
  Interval found{std::numeric_limits<long double>::infinity(), -std::numeric_limits<long double>::infinity()};
  for_each_element(array, [&](const std::byte* element) {
    const long double number = core::number_at(array.view.dtype, element);
    if (!std::isfinite(number)) return;
    found.low = std::min(found.low, number);
    found.high = std::max(found.high, number);
  });
  return found.low <= found.high ? found : Interval{0, 0};
}

}  // namespace

HostArray cast(const HostArray& array, Dtype dtype, Beyond beyond) {
  if (dtype == array.view.dtype) return array;
  if (core::components_of(array.view.dtype) > core::components_of(dtype))
    throw Error(Errc::usage,
                fmt::format("{} would lose the imaginary parts of {}", name(dtype), name(array.view.dtype)),
                "cast to c64 or c128");
  if (!is_integer(dtype)) return changed(array, dtype, [](long double number) { return number; });
  const Interval range = range_of(dtype);
  return changed(array, dtype, [&](long double number) {
    const long double whole = std::nearbyint(number);
    const bool inside = whole >= range.low && whole <= range.high;
    if (!inside && beyond == Beyond::refused)
      throw Error(Errc::usage, fmt::format("the result holds {}, which {} cannot", double(number), name(dtype)),
                  "add --normalize, or --out-dtype to cut it off");
    return std::isnan(number) ? 0 : std::clamp(whole, range.low, range.high);
  });
}

HostArray normalized(const HostArray& array, Dtype dtype) {
  if (core::components_of(array.view.dtype) > 1)
    throw Error(Errc::usage,
                fmt::format("{} cannot be normalized: complex numbers have no order", name(array.view.dtype)),
                "leave --normalize out");
  const Interval from = extremes_of(array), to = is_integer(dtype) ? range_of(dtype) : Interval{0, 1};
  const long double scale = from.high > from.low ? (to.high - to.low) / (from.high - from.low) : 0;
  return changed(array, dtype, [&](long double number) -> long double {
    if (std::isnan(number)) return is_integer(dtype) ? 0 : number;
    const long double part = (std::clamp(number, from.low, from.high) - from.low) * scale;
    const long double stretched = std::min(to.low + part, to.high);
    return is_integer(dtype) ? std::nearbyint(stretched) : stretched;
  });
}

}  // namespace axisloom::io
