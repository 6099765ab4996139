// What CUDA C++ and HIP share of the dialect, compiled here: packets hold their bytes, and loose accesses touch no
// more.
#include <gtest/gtest.h>

#include <sys/mman.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <cstring>
#include <stdexcept>

#define __device__
#define __forceinline__ inline

namespace axisloom::emulated_cpp {
namespace {

using std::memcpy;
struct alignas(8) axl_two_words {
  std::uint32_t x, y;
};
struct alignas(16) axl_four_words {
  std::uint32_t x, y, z, w;
};
#include "dialect/cpp.h"

/// Bytes 1, 2, 3 ... between others, at addresses that suit any packet.
struct Memory {
  static constexpr std::size_t before = 64, room = 256;
  static constexpr u8 untouched = 0xee;

  Memory() { bytes.fill(untouched); }
  u8* at() { return bytes.data() + before; }
  void count(std::size_t size) {
    for (std::size_t i = 0; i < size; ++i) at()[i] = static_cast<u8>(i + 1);
  }
  bool counts_alone(std::size_t size) const {
    for (std::size_t i = 0; i < room; ++i) {
      const bool inside = i >= before && i < before + size;
      if (bytes[i] != (inside ? static_cast<u8>(i - before + 1) : untouched)) return false;
    }
    return true;
  }
  alignas(64) std::array<u8, room> bytes;
};

/// A page of memory behind which nothing may be touched.
class Page {
 public:
  Page()
      : begin_(
            static_cast<u8*>(::mmap(nullptr, 2 * size, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0))) {
    if (begin_ == MAP_FAILED || ::mprotect(begin_ + size, size, PROT_NONE) != 0) throw std::runtime_error("no memory");
  }
  ~Page() { ::munmap(begin_, 2 * size); }
  Page(const Page&) = delete;
  Page& operator=(const Page&) = delete;
  u8* end() const { return begin_ + size; }

 private:
  static constexpr std::size_t size = 65536;  // a multiple of the page of every system
  u8* begin_;
};

template <class P>
class DialectPackets : public ::testing::Test {};
using Packets = ::testing::Types<u8x2, u8x3, u8x4, u8x8, u8x16, u16x2, u16x3, u16x8, u32x2, u32x3, u32x4, u32x8, f32x16,
                                 u64x2, u64x3, f64x4, f64x16>;
TYPED_TEST_SUITE(DialectPackets, Packets);

TYPED_TEST(DialectPackets, TravelWhole) {
  Memory from, to;
  from.count(sizeof(TypeParam));
  axl_put<TypeParam>(to.at(), axl_get<TypeParam>(from.at()));
  constexpr std::size_t elements = TypeParam::lanes * sizeof(typename TypeParam::scalar);
  EXPECT_TRUE(std::equal(to.at(), to.at() + elements, from.at()));
  for (std::size_t i = elements; i < sizeof(TypeParam); ++i) to.at()[i] = from.at()[i];  // padding may hold anything
  EXPECT_TRUE(to.counts_alone(sizeof(TypeParam)));
}

TYPED_TEST(DialectPackets, LooseOnesTouchTheirElementsAlone) {
  typedef typename TypeParam::scalar Scalar;
  constexpr std::size_t bytes = TypeParam::lanes * sizeof(Scalar);
  const Page page;
  u8* const from = page.end() - bytes;
  for (std::size_t i = 0; i < bytes; ++i) from[i] = static_cast<u8>(i + 1);
  const auto value = axl_get_loose<TypeParam>(reinterpret_cast<const Scalar*>(from));
  Memory to;
  axl_put_loose<TypeParam>(reinterpret_cast<Scalar*>(to.at()), value);
  EXPECT_TRUE(to.counts_alone(bytes));
}

TYPED_TEST(DialectPackets, LieAsInOpencl) {
  constexpr std::size_t room = (TypeParam::lanes == 3 ? 4 : TypeParam::lanes) * sizeof(typename TypeParam::scalar);
  EXPECT_EQ(sizeof(TypeParam), room);
  EXPECT_EQ(alignof(TypeParam), room < 16 ? room : 16);
}

TEST(DialectPacketsOfParts, AreMadeInOrder) {
  const u32x2 two = make_u32x2(1, 2);
  const u32x3 three = make_u32x3(1, 2, 3);
  const u32x4 four = make_u32x4(1, 2, 3, 4);
  const u32x8 eight = make_u32x8(1, 2, 3, 4, 5, 6, 7, 8);
  const u32x16 sixteen = make_u32x16(1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15, 16);
  const auto counts = [](const auto& packet, std::size_t lanes) {
    std::array<u32, 16> parts{};
    memcpy(parts.data(), &packet, lanes * sizeof(u32));
    for (std::size_t i = 0; i < lanes; ++i)
      if (parts[i] != i + 1) return false;
    return true;
  };
  EXPECT_TRUE(counts(two, 2));
  EXPECT_TRUE(counts(three, 3));
  EXPECT_TRUE(counts(four, 4));
  EXPECT_TRUE(counts(eight, 8));
  EXPECT_TRUE(counts(sixteen, 16));
}

}  // namespace
}  // namespace axisloom::emulated_cpp
