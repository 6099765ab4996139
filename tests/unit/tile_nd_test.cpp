// How tiles are cut out of moves, and how they lie in local memory: plain host code.
#include "ops/rearrange/tile_nd_shape.hpp"
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <numeric>
#include <set>

namespace axisloom::ops_test {
namespace {

constexpr std::int64_t tile_nd_bytes = 16384, tile_nd_room_bytes = tile_nd_bytes * 9 / 8, tile_nd_sector = 32,
                       tile_nd_banks = 32;

core::Move reversed(Dtype dtype, const Dims& shape) {
  std::vector<int> order(shape.size());
  std::iota(order.rbegin(), order.rend(), 0);
  return problem_of(permute(order), with_result(permute(order), View::contiguous(dtype, shape))).move;
}

core::Move relaid(Dtype dtype, const char* from, const char* to, const Dims& shape) {
  const Operation op = relayout(from, to);
  return problem_of(op, with_result(op, View::contiguous(dtype, shape))).move;
}

/// Moves of many short axes, of long ones, and of one short axis beside a long one.
std::vector<core::Move> tile_nd_moves() {
  return {reversed(Dtype::f32, {40, 37, 33, 35, 4, 2, 3, 5}),
          reversed(Dtype::f64, {24, 22, 18, 20, 2, 3, 2, 2, 3, 4, 3, 2}),
          reversed(Dtype::f32, {32, 15, 15, 15, 15, 32}),
          reversed(Dtype::c128, {48, 28, 28, 28, 48}),
          reversed(Dtype::u8, {16384, 16384}),
          reversed(Dtype::u16, {99, 7, 3, 5, 9, 77}),
          relaid(Dtype::u8, "NCHW", "NHWC", {256, 64, 56, 56}),
          relaid(Dtype::u8, "NHWC", "NCHW", {256, 56, 56, 64}),
          relaid(Dtype::f16, "NHWC", "NCHW", {16, 400, 600, 3})};
}

TEST(TileNd, RunsAreLongOnBothSides) {
  for (const core::Move& move : tile_nd_moves()) {
    SCOPED_TRACE(core::to_string(move));
    const std::optional<ops::TileNd> tile = ops::tile_nd_of(move, tile_nd_bytes, 4, 256, 0, tile_nd_sector);
    ASSERT_TRUE(tile);
    EXPECT_GE(tile->in.run_length * move.element, 64);
    EXPECT_GE(tile->out.run_length * move.element, 64);
    EXPECT_LE(tile->elements() * move.element, tile_nd_bytes);
    EXPECT_GE(tile->elements() * move.element, tile_nd_bytes / 2);
    EXPECT_EQ(tile->elements(), tile->out.run_length * tile->out.count);
  }
}

TEST(TileNd, EveryElementHasAPlaceOfItsOwn) {
  for (const core::Move& move : tile_nd_moves()) {
    SCOPED_TRACE(core::to_string(move));
    const ops::TileNd tile = *ops::tile_nd_of(move, tile_nd_bytes, 4, 256, 0, tile_nd_sector);
    const ops::TileNdPadding padding =
        ops::tile_nd_padding(tile, move.element, tile_nd_room_bytes / move.element, tile_nd_banks);
    std::set<std::int64_t> places{0};
    for (std::size_t d = 0; d < tile.block.size(); ++d) {
      std::set<std::int64_t> further;
      for (std::int64_t n = 0; n < tile.block[d]; ++n)
        for (const std::int64_t place : places)
          further.insert(place + n * ops::tile_nd_place(tile, padding, static_cast<int>(d)));
      places = std::move(further);
    }
    std::set<std::int64_t> expected;
    for (std::int64_t n = 0; n < tile.elements(); ++n) expected.insert(padding.place(n));
    EXPECT_EQ(places, expected);
    EXPECT_LT(*places.rbegin(), tile_nd_room_bytes / move.element);
  }
}

// With one long run for all, 3 of 4 or 7 of 8 accesses in flight would be the same.
TEST(TileNd, ManyRunsKeepItemsBusy) {
  const auto accesses = [](const ops::TileNd& tile, const ops::TileNd::Side& side) {
    const std::int64_t width = ops::tile_nd_width(side.run_length / tile.vector, 256);
    EXPECT_GE(2 * side.count, 256 / width * ops::tile_nd_in_flight(tile, tile.vector > 1 ? 1 : 4, 0));
  };
  const Operation swapped = permute(std::array{1, 0, 2, 4, 5, 6, 3, 7});
  const View eight = View::contiguous(Dtype::f32, {40, 37, 33, 35, 4, 2, 3, 5});
  for (const core::Move& move :
       {problem_of(swapped, with_result(swapped, eight)).move, relaid(Dtype::u8, "NCHW", "NHWC", {256, 64, 56, 56}),
        relaid(Dtype::u8, "NHWC", "NCHW", {256, 56, 56, 64})}) {
    SCOPED_TRACE(core::to_string(move));
    const ops::TileNd tile = *ops::tile_nd_of(move, tile_nd_bytes, 4, 256, 0, tile_nd_sector);
    accesses(tile, tile.in);
    accesses(tile, tile.out);
  }
}

// 32 floats a row would put a column of them into one bank.
TEST(TileNd, PaddingKeepsColumnsOutOfOneBank) {
  for (const core::Move& move : tile_nd_moves()) {
    SCOPED_TRACE(core::to_string(move));
    const ops::TileNd tile = *ops::tile_nd_of(move, tile_nd_bytes, 4, 256, 0, tile_nd_sector);
    EXPECT_LE(ops::tile_nd_padding(tile, move.element, tile_nd_room_bytes / move.element, tile_nd_banks).rounds, 2);
  }
  const core::Move powers = reversed(Dtype::f32, {64, 64, 64, 64});
  const ops::TileNd tile = *ops::tile_nd_of(powers, tile_nd_bytes, 4, 256, 0, tile_nd_sector);
  EXPECT_GE(ops::tile_nd_padding(tile, 4, tile.elements(), tile_nd_banks).rounds, 16) << "no room for padding";
  EXPECT_EQ(ops::tile_nd_padding(tile, 4, tile_nd_room_bytes / 4, tile_nd_banks).rounds, 1);
}

TEST(TileNd, BytesTravelInWordsWhereRunsAllow) {
  const ops::TileNd words =
      *ops::tile_nd_of(relaid(Dtype::u8, "NHWC", "NCHW", {4, 56, 56, 64}), tile_nd_bytes, 4, 256, 0, tile_nd_sector);
  EXPECT_EQ(words.vector, 4);
  const ops::TileNd odd =
      *ops::tile_nd_of(relaid(Dtype::u8, "NHWC", "NCHW", {4, 57, 57, 64}), tile_nd_bytes, 4, 256, 0, tile_nd_sector);
  EXPECT_EQ(odd.vector, 1) << "rows of 57 * 57 bytes begin anywhere";
  core::Move shifted = relaid(Dtype::u8, "NHWC", "NCHW", {4, 56, 56, 64});
  shifted.in_offset = 1;
  EXPECT_EQ(ops::tile_nd_of(shifted, tile_nd_bytes, 4, 256, 0, tile_nd_sector)->vector, 1);
}

TEST(TileNd, StridedSidesHaveNone) {
  core::Move move = reversed(Dtype::f32, {16, 16, 16});
  for (core::Loop& axis : move.axes) axis.in *= 2;
  EXPECT_FALSE(ops::tile_nd_of(move, tile_nd_bytes, 4, 256, 0, tile_nd_sector));
}

}  // namespace
}  // namespace axisloom::ops_test
