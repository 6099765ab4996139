// Strided host arrays are packed in C order, whatever their strides.
#include "io/packed.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <numeric>

namespace axisloom {
namespace {

/// The bytes of an array of bytes in C order, by plain loops.
std::vector<std::uint8_t> plainly(const io::HostArray& array) {
  std::vector<std::uint8_t> values;
  const View& view = array.view;
  const auto walk = [&](const auto& self, int axis, std::int64_t at) -> void {
    if (axis == view.rank()) return values.push_back(std::to_integer<std::uint8_t>(array.memory.get()[at]));
    for (std::int64_t i = 0; i < view.shape[axis]; ++i) self(self, axis + 1, at + i * view.strides[axis]);
  };
  walk(walk, 0, view.offset);
  return values;
}

TEST(Packed, EveryOrderOfTheAxes) {
  const std::int64_t extents[] = {3, 1, 4, 2};
  const Dims dense = contiguous_strides({3, 1, 4, 2});
  int order[] = {0, 1, 2, 3};
  do {
    View view = View::contiguous(Dtype::u8, {1, 1, 1, 1});
    for (int i = 0; i < 4; ++i) view.shape[i] = extents[order[i]], view.strides[i] = dense[order[i]];
    const io::HostArray array = io::HostArray::allocate(view);
    std::iota(reinterpret_cast<std::uint8_t*>(array.memory.get()),
              reinterpret_cast<std::uint8_t*>(array.memory.get()) + 24, 0);
    for (const std::int64_t piece : {1, 5, 24}) {
      std::vector<std::uint8_t> packed(24);
      io::PackedReader reader(array);
      for (std::int64_t at = 0; at < 24; at += piece)
        reader.next(reinterpret_cast<std::byte*>(packed.data()) + at, std::min<std::int64_t>(piece, 24 - at));
      EXPECT_EQ(packed, plainly(array)) << to_string(view.shape) << " by " << piece;
    }
  } while (std::next_permutation(std::begin(order), std::end(order)));
}

}  // namespace
}  // namespace axisloom
