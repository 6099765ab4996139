// How tiles of "tile_flat" lie in local memory: plain host code.
#include "ops/rearrange/tile_flat_shape.hpp"
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <vector>

namespace axisloom::ops_test {
namespace {

constexpr std::int64_t tile_bytes = 32768, room_bytes = tile_bytes * 9 / 8, sector = 32, banks = 32;
constexpr ops::FlatAccess access{16, 16};

core::Move move_of(const Operation& op, Dtype dtype, const Dims& shape) {
  return problem_of(op, with_result(op, View::contiguous(dtype, shape))).move;
}

/// Batches of small matrices and images, rows that begin anywhere, and many short axes.
std::vector<core::Move> moves() {
  return {move_of(transpose(), Dtype::u8, {16000, 37, 41}),
          move_of(transpose(), Dtype::u8, {16000, 64, 48}),
          move_of(transpose(), Dtype::f32, {10000, 37, 41}),
          move_of(transpose(), Dtype::f64, {1000, 37, 41}),
          move_of(relayout("NCHW", "NHWC"), Dtype::u8, {128, 512, 7, 7}),
          move_of(relayout("NHWC", "NCHW"), Dtype::u8, {128, 14, 14, 512}),
          move_of(relayout("NHWC", "NCHW"), Dtype::u16, {128, 27, 29, 512}),
          move_of(transpose(), Dtype::u8, {8191, 8193}),
          move_of(permute(std::array{3, 1, 0, 2}), Dtype::f32, {90, 130, 125, 10}),
          move_of(permute(std::array{4, 2, 0, 5, 3, 1}), Dtype::f32, {33, 37, 41, 43, 4, 2})};
}

ops::TileFlat layout_of(const core::Move& move) {
  const ops::TileNd tile = *ops::tile_flat_of(move, tile_bytes, sector);
  return *ops::tile_flat_layout(move, tile, access, room_bytes / move.element, banks);
}

TEST(TileFlat, TilesAreLongRunsOnBothSides) {
  for (const core::Move& move : moves()) {
    SCOPED_TRACE(core::to_string(move));
    const ops::TileNd tile = *ops::tile_flat_of(move, tile_bytes, sector);
    EXPECT_GE(tile.in.run_length * move.element, 64);
    EXPECT_GE(tile.out.run_length * move.element, 64);
    EXPECT_LE(tile.elements() * move.element, tile_bytes);
    EXPECT_GE(tile.elements() * move.element, tile_bytes / 2);
  }
}

TEST(TileFlat, WholeMatricesAreOneRunOfWholePackets) {
  for (const core::Move& move : {moves()[0], moves()[2]}) {
    const ops::TileNd tile = *ops::tile_flat_of(move, tile_bytes, sector);
    EXPECT_EQ(tile.in.count, 1);
    EXPECT_EQ(tile.out.count, 1);
    EXPECT_EQ(ops::tile_nd_alignment(move, tile, false, 16), 16);
    EXPECT_EQ(ops::tile_nd_alignment(move, tile, true, 16), 16);
  }
}

// A word or packet holds what is beside a run, too, so that of two runs would be written twice.
TEST(TileFlat, NoWordHoldsElementsOfTwoRuns) {
  for (const core::Move& move : moves()) {
    SCOPED_TRACE(core::to_string(move));
    const ops::TileFlat flat = layout_of(move);
    const std::int64_t unit = std::max<std::int64_t>(1, (flat.by_words ? 4 : access.in) / move.element);
    const std::vector<int>& runs = flat.tile.in.runs;
    for (std::int64_t lead = 0; lead < unit; ++lead) {
      if (ops::tile_nd_alignment(move, flat.tile, false, unit * move.element) == unit * move.element && lead > 0) break;
      std::int64_t end = 0;  // of the units of the runs before
      for (std::int64_t run = 0; run < flat.tile.in.count; ++run) {
        std::int64_t place = lead, rest = run, offset = lead;
        for (const int axis : runs) {
          const std::int64_t digit = rest % flat.tile.block[axis];
          rest /= flat.tile.block[axis];
          place += digit * flat.step[axis];
          offset += digit * move.axes[axis].in;
        }
        EXPECT_EQ((place - offset) % unit, 0) << "words stay words";
        EXPECT_GE(place / unit * unit, end);
        end = (place + flat.tile.in.run_length + unit - 1) / unit * unit;
      }
      EXPECT_LE(end, flat.size);
    }
    EXPECT_LE(flat.size, room_bytes / move.element);
  }
}

TEST(TileFlat, BytesMeetFewBankConflicts) {
  for (const core::Move& move : moves()) {
    SCOPED_TRACE(core::to_string(move));
    EXPECT_LE(layout_of(move).rounds, move.element < 4 ? 3 : 6) << "wider elements hide them behind operations";
  }
}

}  // namespace
}  // namespace axisloom::ops_test
