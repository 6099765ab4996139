// Channels in blocks and back, for every count of channels around the blocks, against loops written for this test.
#include "ops_support.hpp"

#include <gtest/gtest.h>

namespace axisloom::ops_test {
namespace {

using Values = std::vector<std::uint16_t>;

constexpr std::int64_t n_count = 2, h_count = 3, w_count = 5, pixels = h_count * w_count;

std::int64_t blocks(std::int64_t channels, std::int64_t x) {
  return (channels + x - 1) / x;
}

std::string blocked(std::int64_t x) {
  return "NC/" + std::to_string(x) + "HW" + std::to_string(x);
}

Dims blocked_shape(std::int64_t channels, std::int64_t x) {
  return {n_count, blocks(channels, x), h_count, w_count, x};
}

/// Where channel c of image n at pixel p stands.
std::size_t in_blocks(std::int64_t channels, std::int64_t x, std::int64_t n, std::int64_t c, std::int64_t p) {
  return static_cast<std::size_t>(((n * blocks(channels, x) + c / x) * pixels + p) * x + c % x);
}
std::size_t in_planes(std::int64_t channels, std::int64_t n, std::int64_t c, std::int64_t p) {
  return static_cast<std::size_t>((n * channels + c) * pixels + p);
}
std::size_t in_pixels(std::int64_t channels, std::int64_t n, std::int64_t c, std::int64_t p) {
  return static_cast<std::size_t>((n * pixels + p) * channels + c);
}

template <class Each>
void for_each(std::int64_t channels, Each each) {
  for (std::int64_t n = 0; n < n_count; ++n)
    for (std::int64_t c = 0; c < channels; ++c)
      for (std::int64_t p = 0; p < pixels; ++p) each(n, c, p);
}

/// Different everywhere, and never zero.
Values numbered(std::int64_t count) {
  Values values(static_cast<std::size_t>(count));
  for (std::size_t i = 0; i < values.size(); ++i) values[i] = static_cast<std::uint16_t>(i % 65535 + 1);
  return values;
}

Values ran(const Operation& op, const Dims& shape, const Values& in) {
  const View view = View::contiguous(Dtype::u16, shape);
  const View result = result_view(op, std::span(&view, 1));
  Values out(static_cast<std::size_t>(result.count()), 0xdead);
  const std::span<const std::byte> bytes = std::as_bytes(std::span(in));
  run_on_host(op, std::span(&view, 1), std::span(&bytes, 1), std::as_writable_bytes(std::span(out)), real_device());
  return out;
}

class Relayout : public ::testing::TestWithParam<std::int64_t> {};

TEST_P(Relayout, FillsTheTailOnTheWayIn) {
  const std::int64_t x = GetParam();
  for (std::int64_t channels = 1; channels <= 67; ++channels) {
    SCOPED_TRACE(channels);
    const Values in = numbered(n_count * channels * pixels);
    Values from_planes(static_cast<std::size_t>(n_count * blocks(channels, x) * pixels * x), 0);
    Values from_pixels = from_planes;
    for_each(channels, [&](auto n, auto c, auto p) {
      from_planes[in_blocks(channels, x, n, c, p)] = in[in_planes(channels, n, c, p)];
      from_pixels[in_blocks(channels, x, n, c, p)] = in[in_pixels(channels, n, c, p)];
    });
    ASSERT_EQ(ran(relayout("NCHW", blocked(x)), {n_count, channels, h_count, w_count}, in), from_planes);
    ASSERT_EQ(ran(relayout("NHWC", blocked(x)), {n_count, h_count, w_count, channels}, in), from_pixels);
  }
}

TEST_P(Relayout, LeavesTheTailOutOnTheWayBack) {
  const std::int64_t x = GetParam();
  for (std::int64_t channels = 1; channels <= 67; ++channels) {
    SCOPED_TRACE(channels);
    const Values in = numbered(element_count(blocked_shape(channels, x)));
    Values to_planes(static_cast<std::size_t>(n_count * channels * pixels)), to_pixels = to_planes;
    for_each(channels, [&](auto n, auto c, auto p) {
      to_planes[in_planes(channels, n, c, p)] = in[in_blocks(channels, x, n, c, p)];
      to_pixels[in_pixels(channels, n, c, p)] = in[in_blocks(channels, x, n, c, p)];
    });
    ASSERT_EQ(ran(relayout(blocked(x), "NCHW", channels), blocked_shape(channels, x), in), to_planes);
    ASSERT_EQ(ran(relayout(blocked(x), "NHWC", channels), blocked_shape(channels, x), in), to_pixels);
  }
}

TEST_P(Relayout, BetweenBlocksKeepsEveryChannel) {
  const std::int64_t x = GetParam();
  for (const std::int64_t y : {4, 8, 16, 32}) {
    for (const std::int64_t channels : {1, 3, 4, 5, 8, 9, 16, 17, 31, 32, 33, 35, 63, 64, 65, 67}) {
      SCOPED_TRACE("to " + std::to_string(y) + ", channels " + std::to_string(channels));
      const Values planes = numbered(n_count * channels * pixels);
      Values in(static_cast<std::size_t>(element_count(blocked_shape(channels, x))), 0);
      Values out(static_cast<std::size_t>(element_count(blocked_shape(channels, y))), 0);
      for_each(channels, [&](auto n, auto c, auto p) {
        in[in_blocks(channels, x, n, c, p)] = out[in_blocks(channels, y, n, c, p)] =
            planes[in_planes(channels, n, c, p)];
      });
      ASSERT_EQ(ran(relayout(blocked(x), blocked(y), channels), blocked_shape(channels, x), in), out);
    }
  }
}

INSTANTIATE_TEST_SUITE_P(Blocks, Relayout, ::testing::Values(4, 8, 16, 32));

std::optional<Errc> refused(const char* from, const char* to, const Dims& shape, std::int64_t channels) {
  const View in = View::contiguous(Dtype::f32, shape);
  return code_thrown([&] { result_view(relayout(from, to, channels), std::span(&in, 1)); });
}

TEST(RelayoutChannels, MustFillTheBlocksButTheLast) {
  const Dims three_blocks{1, 3, 2, 2, 8};
  EXPECT_EQ(refused("NC/8HW8", "NCHW", three_blocks, 16), Errc::shape) << "two blocks would do";
  EXPECT_EQ(refused("NC/8HW8", "NCHW", three_blocks, 17), std::nullopt);
  EXPECT_EQ(refused("NC/8HW8", "NCHW", three_blocks, 24), std::nullopt);
  EXPECT_EQ(refused("NC/8HW8", "NCHW", three_blocks, 25), Errc::shape) << "more than there are";
  EXPECT_EQ(refused("NC/8HW8", "NCHW", three_blocks, 0), std::nullopt) << "all of them";
  EXPECT_EQ(refused("NCHW", "NC/8HW8", {1, 20, 2, 2}, 20), std::nullopt);
  EXPECT_EQ(refused("NCHW", "NC/8HW8", {1, 20, 2, 2}, 19), Errc::shape);
  EXPECT_EQ(code_thrown([] { relayout("NC/8HW8", "NCHW", -1); }), Errc::usage);
}

TEST(RelayoutChannels, LayoutsAndRanksMustMatch) {
  EXPECT_EQ(refused("NCHW", "NC/5HW5", {1, 20, 2, 2}, 0), Errc::usage);
  EXPECT_EQ(refused("NCWH", "NHWC", {1, 20, 2, 2}, 0), Errc::usage);
  EXPECT_EQ(refused("NCHW", "NHWC", {20, 2, 2}, 0), Errc::shape);
  EXPECT_EQ(refused("NC/8HW8", "NCHW", {1, 3, 2, 2, 4}, 0), Errc::shape) << "blocks of four";
  const View in = View::contiguous(Dtype::f32, {1, 3, 2, 2, 8});
  const Operation misnamed{"relayout", {"NC/8HW8", "NCHW"}, {{"chanels", 20}}};
  EXPECT_EQ(code_thrown([&] { result_view(misnamed, std::span(&in, 1)); }), Errc::usage);
}

}  // namespace
}  // namespace axisloom::ops_test
