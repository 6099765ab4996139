// Sectors that a move touches, against a set of all of them.
#include "bench/sectors.hpp"

#include <gtest/gtest.h>

#include <random>
#include <set>

namespace axisloom::bench {
namespace {

/// Every element's sectors, one by one.
i64 counted(const core::Move& move, bool output, i64 sector) {
  const core::Operand side = core::side(output);
  std::set<i64> sectors;
  std::vector<i64> index(move.axes.size());
  for (;;) {
    i64 at = output ? move.out_offset : move.in_offset;
    for (size_t d = 0; d < index.size(); ++d) at += index[d] * (move.axes[d].*side);
    for (i64 byte = at * move.element; byte < (at + 1) * move.element; ++byte) sectors.insert(byte / sector);
    size_t d = index.size();
    for (; d > 0; --d) {
      if (++index[d - 1] < move.axes[d - 1].extent) break;
      index[d - 1] = 0;
    }
    if (d == 0) return i64(sectors.size());
  }
}

TEST(BenchSectors, AreThoseOfEveryElement) {
  std::mt19937 random(1);
  const auto draw = [&](i64 low, i64 high) { return std::uniform_int_distribution<i64>(low, high)(random); };
  int told = 0;
  for (int round = 0; round < 3000; ++round) {
    core::Move move{.element = i64{1} << draw(0, 4)};
    i64 in = draw(1, 3), out = draw(1, 3);  // steps of the innermost axis; the next reach beyond it, mostly
    for (i64 axes = draw(1, 3), d = 0; d < axes; ++d) {
      const i64 extent = draw(1, 7);
      move.axes.insert(move.axes.begin(), {.extent = extent, .in = draw(0, 5) == 0 ? -in : in, .out = out});
      in *= extent + draw(-1, 9), out *= extent + draw(0, 9);
      if (in == 0) in = 1;
    }
    for (const core::Loop& axis : move.axes)
      if (axis.in < 0) move.in_offset -= axis.in * (axis.extent - 1);
    move.in_offset += draw(0, 9);
    for (const bool output : {false, true})
      if (const auto sectors = sectors_touched(move, output, 32)) {
        EXPECT_EQ(*sectors, counted(move, output, 32)) << to_string(move);
        ++told;
      }
  }
  EXPECT_GT(told, 5000);  // of 6000: axes that run through each other are not told
}

TEST(BenchSectors, OfChannelsInBlocksCountWhole) {
  // 3 of 32 channels: each pixel's bytes lie in a sector of their own, the planes close together.
  const core::Move planes{.element = 1, .axes = {{3, 1, 4096}, {4096, 32, 1}}};
  EXPECT_EQ(sectors_touched(planes, false, 32), 4096);
  EXPECT_EQ(sectors_touched(planes, true, 32), 3 * 4096 / 32);
  EXPECT_EQ(floor_bytes(planes, 32), (4096 + 384) * 32);
}

TEST(BenchSectors, OfNothingAreNone) {
  EXPECT_EQ(sectors_touched({.element = 4, .axes = {{0, 1, 1}}}, false, 32), 0);
}

}  // namespace
}  // namespace axisloom::bench
