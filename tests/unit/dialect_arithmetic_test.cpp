// Arithmetic of the dialect against independent oracles: integer words, bit casts, 16-bit floats on all their values.
#include <bit>
#include <cmath>
#include <numeric>

#include "dialect_support.hpp"

namespace axisloom::dialect_test {
namespace {

struct Count {
  i64 count;
};

unsigned groups_for(std::size_t count) {
  return static_cast<unsigned>((count + items - 1) / items);
}

u64 sign_extended(u32 value) {
  return static_cast<u64>(static_cast<i64>(static_cast<std::int32_t>(value)));
}

// Byte k of the result is byte `k` of x where even, of y where odd, shifted up by `first` bytes.
u32 interleaved(u32 x, u32 y, int first, int width) {
  u32 result = 0;
  for (int k = 0; k < 4; k += width) {
    const u32 source = (k / width) % 2 == 0 ? x : y;
    const int byte = (width == 1 ? k - k % 2 : 0) + first;
    for (int j = 0; j < width; ++j) result |= ((source >> (8 * (byte + j))) & 0xffu) << (8 * (k + j));
  }
  return result;
}

std::vector<u64> arithmetic_oracle(u64 x, u64 y) {
  const u32 v = static_cast<u32>(x), w = static_cast<u32>(y);
  const i64 sx = static_cast<i64>(x), sy = static_cast<i64>(y);
  const auto sv = static_cast<std::int32_t>(v), sw = static_cast<std::int32_t>(w);
  return {static_cast<u64>(v) * w >> 32,
          static_cast<u64>(static_cast<unsigned __int128>(x) * y >> 64),
          sign_extended(static_cast<u32>(std::min(sv, sw))),
          sign_extended(static_cast<u32>(std::max(sv, sw))),
          std::min(v, w),
          std::max(v, w),
          static_cast<u64>(std::min(sx, sy)),
          static_cast<u64>(std::max(sx, sy)),
          std::min(x, y),
          std::max(x, y),
          interleaved(v, w, 0, 1),
          interleaved(v, w, 1, 1),
          interleaved(v, w, 0, 2),
          interleaved(v, w, 2, 2),
          static_cast<u64>(std::popcount(v)),
          static_cast<u64>(std::countl_zero(v)),
          v,
          sign_extended(v),
          0x3f800000u,
          x};
}

// In a warp of 32 items the last three have nobody three further on, and their value is not looked at.
TEST(DialectArithmetic, SumsAndShufflesOfItemsAndRoots) {
  const auto a = noise<u64>(4 * items);
  const u64 total = std::accumulate(a.begin(), a.end(), u64{0});
  on_every_device([&](device::Device& device, Prelude prelude) {
    auto in = a;
    std::vector<u64> sum{~u64{0}}, shuffled(2 * a.size()), roots(2 * a.size());
    KernelRun(device, "together", "together", prelude)
        .buffer(in)
        .buffer(sum)
        .buffer(shuffled)
        .buffer(roots)
        .launch(Count{static_cast<i64>(a.size())}, 4);
    EXPECT_EQ(sum[0], total - 1) << "it began at -1";
    const bool shuffles = device.info().vendor.find("NVIDIA") != std::string::npos || device.info().api == Api::host;
    for (std::size_t k = 0; k < a.size(); ++k) {
      const std::size_t from = shuffles ? k + 3 : k;
      if (!shuffles || k % 32 < 29) {
        EXPECT_EQ(shuffled[k], a[from]);
        EXPECT_EQ(shuffled[a.size() + k], static_cast<u32>(a[from]));
      }
      const auto single = std::bit_cast<float>(static_cast<u32>(roots[k]));
      EXPECT_NEAR(single, std::sqrt(static_cast<float>(static_cast<u32>(a[k]))), single * 3 * 0x1p-23);
      if (device.info().f64) {
        EXPECT_EQ(std::bit_cast<double>(roots[a.size() + k]), std::sqrt(static_cast<double>(a[k])));
      }
    }
  });
}

TEST(DialectArithmetic, IntegerWords) {
  auto a = noise<u64>(2000);
  const u64 edges[] = {0, 1, 0x7fffffff, 0x80000000, 0xffffffff, 0x7fffffffffffffff, 0x8000000000000000, ~u64{0}};
  for (const u64 x : edges) {
    for (const u64 y : edges) a.insert(a.end(), {x, y});
  }
  const i64 pairs = static_cast<i64>(a.size() / 2);
  std::vector<u64> expected;
  for (i64 k = 0; k < pairs; ++k) {
    const auto results = arithmetic_oracle(a[2 * k], a[2 * k + 1]);
    expected.insert(expected.end(), results.begin(), results.end());
  }
  on_every_device([&](device::Device& device, Prelude prelude) {
    std::vector<u64> b(expected.size());
    KernelRun(device, "arithmetic", "arithmetic", prelude).buffer(a).buffer(b).launch(Count{pairs}, groups_for(pairs));
    for (std::size_t k = 0; k < b.size(); ++k) {
      // A NaN may lose its payload on the way through a float register.
      const bool nan = k % 20 >= 16 && k % 20 <= 17 && std::isnan(std::bit_cast<float>(static_cast<u32>(expected[k])));
      if (nan) continue;
      ASSERT_EQ(b[k], expected[k]) << "result " << k % 20 << " of pair " << k / 20;
    }
  });
}

TEST(DialectArithmetic, EverySixteenBitFloatWidens) {
  std::vector<u16> a(65536);
  for (u32 k = 0; k < 65536; ++k) a[k] = static_cast<u16>(k);
  on_every_device([&](device::Device& device, Prelude prelude) {
    std::vector<u32> from_f16(a.size()), from_bf16(a.size());
    KernelRun(device, "convert", "widen", prelude)
        .buffer(a)
        .buffer(from_f16)
        .buffer(from_bf16)
        .launch(Count{65536}, groups_for(a.size()));
    for (u32 k = 0; k < 65536; ++k) {
      ASSERT_EQ(from_f16[k], f16.widened(k)) << std::hex << k;
      ASSERT_EQ(from_bf16[k], bf16.widened(k)) << std::hex << k;
    }
  });
}

// Every f16 and bf16 value, the halfway points between neighbours and the floats beside these, and random bits.
std::vector<u32> floats_to_narrow() {
  std::vector<u32> values = noise<u32>(200000);
  for (u32 k = 0; k < 65536; ++k) {
    const u32 low = f16.widened(k);
    const auto middle = std::bit_cast<u32>(
        0.5f * (std::bit_cast<float>(low) + std::bit_cast<float>(f16.widened(std::min(k + 1, 0xffffu)))));
    values.insert(values.end(), {low, middle - 1, middle, middle + 1});
    const u32 high = k << 16;
    values.insert(values.end(), {high, high + 0x7fff, high + 0x8000, high + 0x8001});
  }
  return values;
}

TEST(DialectArithmetic, FloatsNarrowToNearestEven) {
  auto a = floats_to_narrow();
  on_every_device([&](device::Device& device, Prelude prelude) {
    std::vector<u16> to_f16(a.size()), to_bf16(a.size());
    KernelRun(device, "convert", "narrow", prelude)
        .buffer(a)
        .buffer(to_f16)
        .buffer(to_bf16)
        .launch(Count{static_cast<i64>(a.size())}, groups_for(a.size()));
    for (std::size_t k = 0; k < a.size(); ++k) {
      ASSERT_EQ(to_f16[k], f16.narrowed(a[k])) << std::hex << a[k];
      ASSERT_EQ(to_bf16[k], bf16.narrowed(a[k])) << std::hex << a[k];
    }
  });
}

}  // namespace
}  // namespace axisloom::dialect_test
