// The masks of each dtype, and filling by all cores.
#include "bench/data.hpp"

#include <algorithm>

namespace axisloom::bench {

Data Data::of(Dtype dtype, std::uint64_t seed) {
  Data data{static_cast<std::int64_t>(size_of(dtype)), seed};
  // An exponent whose upper bits are 01 is neither that of zero nor that of infinity.
  if (dtype == Dtype::f32 || dtype == Dtype::c64) {
    data.keep = 0xBFFFFFFF'BFFFFFFFu;
    data.set = 0x20000000'20000000u;
  } else if (dtype == Dtype::f64 || dtype == Dtype::c128) {
    data.keep = 0xBFFFFFFF'FFFFFFFFu;
    data.set = 0x20000000'00000000u;
  } else if (dtype == Dtype::boolean) {
    data.keep = 1;
  }
  return data;
}

void fill_on_host(Team& team, const Data& data, std::span<std::byte> memory) {
  const auto count = static_cast<std::int64_t>(memory.size()) / data.element;
  const auto part = static_cast<std::size_t>(std::min<std::int64_t>(data.element, 8));
  team.run([&](unsigned member) {
    const auto [begin, end] = team.share(count, member);
    for (std::int64_t i = begin; i < end; ++i)
      for (unsigned half = 0; half < (data.element == 16 ? 2u : 1u); ++half) {
        const std::uint64_t bits = data.bits(static_cast<std::uint64_t>(i), half);  // little endian, as all devices are
        std::memcpy(memory.data() + i * data.element + half * 8, &bits, part);
      }
  });
}

}  // namespace axisloom::bench
