// The masks of each dtype, and filling by all cores.
#include "bench/data.hpp"

#include "core/number.hpp"

#include <algorithm>
#include <cmath>
#include <cstring>

namespace axisloom::bench {

Data Data::of(Dtype dtype, u64 seed) {
  Data data{i64(size_of(dtype)), seed};
  // An exponent whose upper bits are 01 is neither that of zero nor that of infinity, in f16 and bf16, f32 and f64.
  if (dtype == Dtype::boolean) {
    data.keep = 1;
  } else if (data.element == 2) {
    data.keep = 0xBFFF;
    data.set = 0x2000;
  } else if (data.element > 2) {
    data.keep = 0xBFFFFFFF'BFFFFFFFu;
    data.set = 0x20000000'20000000u;
  }
  return data;
}

Data Data::numbers(Dtype dtype, u64 seed, int fraction_bits) {
  Data data{i64(size_of(dtype)), seed};
  if (dtype == Dtype::boolean) data.keep = 1;
  const WholeNumbers whole(dtype, fraction_bits);
  if (!whole.floating) return data;
  const core::FloatFormat& format = *core::float_format(dtype);
  data.keep = ((u64{1} << whole.fraction_bits) - 1) << whole.fraction_shift | u64{1} << whole.sign_bit;
  data.set = u64(format.bias() - 1) << format.fraction_bits;
  if (format.bits() == 32) {  // the second component of a c64; of others the upper half is not used
    data.keep |= data.keep << 32;
    data.set |= data.set << 32;
  }
  return data;
}

void fill_on_host(Team& team, const Data& data, std::span<std::byte> memory) {
  const i64 count = memory.size() / data.element, part = std::min<i64>(data.element, 8);
  team.run([&](unsigned member) {
    const auto [begin, end] = team.share(count, member);
    for (i64 i = begin; i < end; ++i)
      for (unsigned half = 0; half < (data.element == 16 ? 2u : 1u); ++half) {
        const u64 bits = data.bits(i, half);  // little endian, as all devices are
        std::memcpy(memory.data() + i * data.element + half * 8, &bits, part);
      }
  });
}

WholeNumbers::WholeNumbers(Dtype dtype, int most_fraction_bits) {
  const core::FloatFormat* const format = core::float_format(dtype);
  floating = format != nullptr;
  if (floating) {
    fraction_bits = std::min(most_fraction_bits, format->fraction_bits);
    sign_bit = format->bits() - 1;
    fraction_shift = format->fraction_bits - fraction_bits;
    unit = std::ldexp(1.0, -int(fraction_bits) - 1);
    return;
  }
  is_signed = core::kind_of(dtype) == core::NumberKind::signed_integer;
  unused = 64 - 8 * size_of(dtype);
}

}  // namespace axisloom::bench
