// Which sums and products an einsum is made of, where infinities show it.
#include "limited_device.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <cstring>

namespace axisloom::ops_test {
namespace {

constexpr float the_infinite = std::numeric_limits<float>::infinity();

std::vector<float> results_of(const Operation& op, const std::vector<Dims>& shapes,
                              const std::vector<std::vector<float>>& numbers) {
  std::vector<View> views;
  std::vector<Bytes> in;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    views.push_back(View::contiguous(Dtype::f32, shapes[i]));
    in.emplace_back(numbers[i].size() * sizeof(float));
    std::memcpy(in.back().data(), numbers[i].data(), in.back().size());
  }
  views.push_back(result_view(op, views));
  const Bytes before(static_cast<std::size_t>(buffer_bytes(views.back())));
  Bytes out = before;
  const std::vector<std::span<const std::byte>> spans(in.begin(), in.end());
  run_on_host(op, views, spans, out, real_device());
  EXPECT_EQ(beyond_bound(op, views, in, before, out), "") << to_string(op) << ": either order is right";
  std::vector<float> results(out.size() / sizeof(float));
  std::memcpy(results.data(), out.data(), out.size());
  return results;
}

// Of NumPy, which multiplies every pair, the first result is inf * 0 + ..., hence NaN.
TEST(EinsumOrder, AxesOfOneArrayAreSummedBeforeItIsMultiplied) {
  const std::vector<float> sums =
      results_of(einsum("a c d, b -> a"), {{2, 2, 2}, {3}}, {{the_infinite, 1, 2, 3, 1, 2, 3, 4}, {0, 1, 2}});
  EXPECT_EQ(sums[0], the_infinite);
  EXPECT_EQ(sums[1], 30);
}

TEST(EinsumOrder, AxesOfTwoArraysAreMultipliedBeforeTheyAreSummed) {
  const std::vector<float> sums = results_of(einsum("a b, b -> a"), {{2, 2}, {2}}, {{the_infinite, 1, 1, 2}, {0, 5}});
  EXPECT_TRUE(std::isnan(sums[0])) << sums[0];
  EXPECT_EQ(sums[1], 10);
}

}  // namespace
}  // namespace axisloom::ops_test
