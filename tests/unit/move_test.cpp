// Moves: normal form, bounds, alignment and 32-bit proofs, against plain loops over random moves.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <map>
#include <optional>
#include <random>
#include <set>

#include <axisloom/error.hpp>

#include "core/move.hpp"

namespace axisloom::core {
namespace {

constexpr std::int64_t large = std::int64_t{1} << 62;

/// Calls visit(output offset, input offset, whether it exists) for every element that the move writes, by its
/// definition.
template <class Visit>
void run(const Move& move, const Visit& visit) {
  std::vector<std::int64_t> index(move.axes.size(), 0);
  const auto step = [&](const auto& self, std::size_t axis, std::int64_t out, std::int64_t in) -> void {
    if (axis < move.axes.size()) {
      for (index[axis] = 0; index[axis] < move.axes[axis].extent; ++index[axis])
        self(self, axis + 1, out + index[axis] * move.axes[axis].out, in + index[axis] * move.axes[axis].in);
      return;
    }
    const auto tail_index = [&index](int i) { return index[static_cast<std::size_t>(i)]; };
    const bool exists =
        !move.tail || tail_index(move.tail->outer) * move.axes[static_cast<std::size_t>(move.tail->inner)].extent +
                              tail_index(move.tail->inner) <
                          move.tail->count;
    if (exists)
      visit(out, in, true);
    else if (move.tail->fill)
      visit(out, in, false);
  };
  step(step, 0, move.out_offset, move.in_offset);
}

/// What the move leaves behind: output offset -> input offset, nullopt for a zero.
using Image = std::map<std::int64_t, std::optional<std::int64_t>>;

Image image_of(const Move& move) {
  Image image;
  run(move, [&image](std::int64_t out, std::int64_t in, bool exists) {
    EXPECT_FALSE(image.contains(out)) << "the output overlaps itself";
    image[out] = exists ? std::optional(in) : std::nullopt;
  });
  return image;
}

/// Random moves with few elements whose outputs never overlap themselves.
class Generator {
 public:
  explicit Generator(unsigned seed) : engine_(seed) {}

  std::int64_t pick(std::int64_t low, std::int64_t high) {
    return std::uniform_int_distribution<std::int64_t>(low, high)(engine_);
  }

  Move move() {
    Move move;
    move.element = std::int64_t{1} << pick(0, 4);
    move.in_align = std::int64_t{1} << pick(4, 8);
    move.out_align = std::int64_t{1} << pick(4, 8);
    move.in_offset = pick(-20, 100);
    move.out_offset = pick(-20, 100);
    const bool like_input = pick(0, 2) > 0;
    std::int64_t pitch = pick(1, 2);
    for (std::int64_t axes = pick(0, 5); axes > 0; --axes) {
      Loop axis{pick(0, 15) == 0 ? 0 : pick(1, 4), 0, pitch};
      axis.in = like_input ? axis.out : pick(-6, 6);
      pitch *= std::max<std::int64_t>(axis.extent, 1);
      if (pick(0, 3) == 0) pitch += pick(1, 3);
      if (pick(0, 3) == 0) axis.out *= -1;
      if (pick(0, 3) == 0) axis.in *= -1;
      move.axes.push_back(axis);
    }
    std::shuffle(move.axes.begin(), move.axes.end(), engine_);
    if (move.axes.size() >= 2 && pick(0, 1) == 0) add_tail(move);
    return move;
  }

 private:
  void add_tail(Move& move) {
    ChannelTail tail{static_cast<int>(pick(0, static_cast<std::int64_t>(move.axes.size()) - 1)), 0, 0, pick(0, 1) == 0};
    do tail.inner = static_cast<int>(pick(0, static_cast<std::int64_t>(move.axes.size()) - 1));
    while (tail.inner == tail.outer);
    tail.count = pick(-1, move.axes[static_cast<std::size_t>(tail.outer)].extent *
                                  move.axes[static_cast<std::size_t>(tail.inner)].extent +
                              1);
    move.tail = tail;
  }

  std::mt19937 engine_;
};

bool tail_axis(const Move& move, std::size_t axis) {
  return move.tail && (move.tail->outer == static_cast<int>(axis) || move.tail->inner == static_cast<int>(axis));
}

void expect_normal(const Move& move) {
  for (std::size_t i = 0; i < move.axes.size(); ++i) {
    const Loop& a = move.axes[i];
    if (!tail_axis(move, i)) {
      EXPECT_NE(a.extent, 1);
      EXPECT_GE(a.out, 0);
    }
    if (i > 0) {
      EXPECT_GE(std::abs(move.axes[i - 1].out), std::abs(a.out));
    }
    for (std::size_t k = 0; k < move.axes.size(); ++k) {
      const Loop& b = move.axes[k];
      const bool neighbours = a.in == b.in * b.extent && a.out == b.out * b.extent;
      EXPECT_FALSE(i != k && !tail_axis(move, i) && !tail_axis(move, k) && neighbours);
    }
  }
}

TEST(Move, NormalFormMovesTheSameElements) {
  Generator generator(1);
  int tail_axis_moves = 0;
  for (int round = 0; round < 20000; ++round) {
    const Move move = generator.move();
    const Move normal = normalise(move);
    SCOPED_TRACE(to_string(move) + "  ->  " + to_string(normal));
    ASSERT_EQ(image_of(move), image_of(normal));
    expect_normal(normal);
    EXPECT_EQ(normalise(normal), normal);
    EXPECT_LE(normal.axes.size(), std::max<std::size_t>(move.axes.size(), 1));
    tail_axis_moves += normal.tail.has_value();
    if (HasFailure()) return;
  }
  EXPECT_GT(tail_axis_moves, 1000);
}

TEST(Move, BoundsAreThoseOfTheElementsTouched) {
  Generator generator(2);
  for (int round = 0; round < 5000; ++round) {
    const Move move = generator.move();
    SCOPED_TRACE(to_string(move));
    std::set<std::int64_t> in, out;
    run(move, [&](std::int64_t to, std::int64_t from, bool exists) {
      out.insert(to);
      if (exists) in.insert(from);
    });
    for (const auto& [touched, bounds] : {std::pair(&in, in_bounds(move)), {&out, out_bounds(move)}}) {
      EXPECT_EQ(bounds.high - bounds.low, touched->empty() ? 0 : *touched->rbegin() - *touched->begin() + 1);
      if (!touched->empty()) {
        EXPECT_EQ(bounds.low, *touched->begin());
      }
    }
    EXPECT_GE(move.bytes_moved(), static_cast<std::int64_t>(in.size() + out.size()) * move.element);
    if (HasFailure()) return;
  }
}

TEST(Move, ProvenAlignmentHoldsForEveryRun) {
  Generator generator(3);
  for (int round = 0; round < 5000; ++round) {
    const Move move = generator.move();
    if (move.axes.empty()) continue;
    const int fastest = static_cast<int>(generator.pick(0, static_cast<std::int64_t>(move.axes.size()) - 1));
    const std::int64_t limit = std::int64_t{1} << generator.pick(0, 6);
    Move starts = move;
    starts.tail.reset();
    if (starts.axes[static_cast<std::size_t>(fastest)].extent > 1)
      starts.axes[static_cast<std::size_t>(fastest)].extent = 1;
    const std::int64_t in = proven_alignment(move, false, fastest, limit);
    const std::int64_t out = proven_alignment(move, true, fastest, limit);
    EXPECT_LE(std::max(in, out), limit);
    EXPECT_GE(std::min(in, out), std::min(limit, move.element));
    run(starts, [&](std::int64_t to, std::int64_t from, bool) {
      EXPECT_EQ((move.in_align + from * move.element) % in, 0);
      EXPECT_EQ((move.out_align + to * move.element) % out, 0);
    });
  }
}

TEST(Move, ProvenAlignmentIsTheLargest) {
  const Move move{.element = 4, .axes = {{8, 6, 16}, {5, 1, 1}}, .in_offset = 4, .in_align = 256, .out_align = 8};
  EXPECT_EQ(proven_alignment(move, false, 1, 16), 8);                                   // the stride of 6 elements
  EXPECT_EQ(proven_alignment(move, true, 1, 16), 8);                                    // the start of the buffer
  EXPECT_EQ(proven_alignment(move, false, 0, 16), 4);                                   // the stride of 1 element
  EXPECT_EQ(proven_alignment(move, false, 1, 4), 4);                                    // the limit
  EXPECT_EQ(proven_alignment({.element = 1, .axes = {{1, 3, 3}}}, false, -1, 64), 64);  // a stride that is never taken
}

TEST(Move, ACopyIsOneAxis) {
  const Move move{.element = 2, .axes = {{3, 20, 20}, {1, 7, 9}, {4, 5, 5}, {5, 1, 1}}};
  EXPECT_EQ(normalise(move).axes, (Loops{{60, 1, 1}}));
}

TEST(Move, ATransposeIsTwoAxes) {
  const Move move{.element = 4, .axes = {{6, 1, 4}, {2, 12, 2}, {2, 6, 1}}};
  EXPECT_EQ(normalise(move).axes, (Loops{{6, 1, 4}, {4, 6, 1}}));
}

TEST(Move, AReversedCopyBecomesForward) {
  const Move normal = normalise({.element = 1, .axes = {{4, -3, -3}, {3, -1, -1}}, .in_offset = 11, .out_offset = 11});
  EXPECT_EQ(normal, (Move{.element = 1, .axes = {{12, 1, 1}}}));
}

TEST(Move, OneElementHasNoAxes) {
  EXPECT_TRUE(normalise({.axes = {{1, 5, -7}, {1, 0, 0}}}).axes.empty());
}

TEST(Move, AnEmptyAxisLeavesNothing) {
  const Move normal =
      normalise({.axes = {{large, 1, 1}, {0, 1, -1}, {large, 1, 1}}, .tail = ChannelTail{0, 2, 3, true}});
  EXPECT_EQ(normal.count(), 0);
  EXPECT_FALSE(normal.tail.has_value());
  EXPECT_EQ(normal.bytes_moved(), 0);
  EXPECT_TRUE(fits_32_bits(normal));
  EXPECT_EQ(in_bounds(normal).low, in_bounds(normal).high);
}

TEST(Move, AChannelTailThatLeavesNothingOutGoes) {
  const Move full{.axes = {{2, 4, 4}, {4, 1, 1}}, .tail = ChannelTail{0, 1, 8, true}};
  EXPECT_EQ(normalise(full), (Move{.axes = {{8, 1, 1}}}));
}

TEST(Move, AChannelTailWithoutFillShortensItsAxes) {
  const Move three{.axes = {{2, 4, 4}, {4, 1, 1}}, .tail = ChannelTail{0, 1, 3, false}};
  EXPECT_EQ(normalise(three), (Move{.axes = {{3, 1, 1}}}));
  const Move none{.axes = {{2, 4, 4}, {4, 1, 1}}, .tail = ChannelTail{0, 1, 0, false}};
  EXPECT_EQ(normalise(none).count(), 0);
}

TEST(Move, ChannelTailAxesKeepTheirDirection) {
  const Move move{.axes = {{2, 4, -4}, {4, 1, -1}, {3, 8, 8}}, .tail = ChannelTail{0, 1, 5, true}};
  const Move normal = normalise(move);
  EXPECT_EQ(normal.axes, (Loops{{3, 8, 8}, {2, 4, -4}, {4, 1, -1}}));
  EXPECT_EQ(normal.tail, (ChannelTail{1, 2, 5, true}));
}

TEST(Move, RefusesChannelTailsOfNoTwoAxes) {
  EXPECT_THROW(normalise({.axes = {{2, 1, 1}}, .tail = ChannelTail{0, 0, 1, true}}), Error);
  EXPECT_THROW(normalise({.axes = {{2, 1, 1}}, .tail = ChannelTail{0, 1, 1, true}}), Error);
  EXPECT_THROW(normalise({.axes = {{-1, 1, 1}}}), Error);
}

TEST(Move, CountsABroadcastElementOnce) {
  EXPECT_EQ((Move{.element = 4, .axes = {{10, 0, 6}, {6, 1, 1}}}.bytes_moved()), 4 * (6 + 60));
  EXPECT_EQ((Move{.element = 4, .axes = {{10, 6, 6}, {6, 1, 1}}}.bytes_moved()), 4 * (60 + 60));
  EXPECT_EQ((Move{.element = 1, .axes = {{10, 1, 6}, {6, 1, 1}}}.bytes_moved()), 15 + 60);  // sliding windows
  EXPECT_EQ((Move{.element = 1, .axes = {{2, 4, 4}, {4, 1, 1}}, .tail = ChannelTail{0, 1, 5, true}}.bytes_moved()),
            5 + 8);
  EXPECT_EQ((Move{.element = 1, .axes = {{2, 4, 4}, {4, 1, 1}}, .tail = ChannelTail{0, 1, 5, false}}.bytes_moved()),
            5 + 5);
  EXPECT_EQ((Move{.element = 1, .axes = {{2, 0, 4}, {4, 1, 1}}, .tail = ChannelTail{0, 1, 5, true}}.bytes_moved()),
            4 + 8);
}

TEST(Move, Fits32BitsUpToTheLastElement) {
  constexpr std::int64_t last = std::numeric_limits<std::int32_t>::max();
  constexpr std::int64_t most_items = 1024 * 8;  // of a group, with all that each has in flight
  EXPECT_TRUE(fits_32_bits({.axes = {{last - (1 << 20), 1, 1}}}));
  EXPECT_FALSE(fits_32_bits({.axes = {{last - most_items + 1, 1, 1}}})) << "the last group's items count on past it";
  EXPECT_TRUE(fits_32_bits({.axes = {{2, last, 1}}}));
  EXPECT_FALSE(fits_32_bits({.axes = {{2, last, 1}}, .in_offset = 1}));
  EXPECT_FALSE(fits_32_bits({.axes = {{2, 1, last + 1}}}));
  EXPECT_TRUE(fits_32_bits({.axes = {{2, -last, 1}}, .in_offset = last}));
  EXPECT_TRUE(fits_32_bits({.axes = {{2, 1, -last}}}));
  EXPECT_FALSE(fits_32_bits({.axes = {{2, 1, -last - 1}}})) << "the least number stands for no place";
  EXPECT_FALSE(fits_32_bits({.axes = {{2, -last - 2, 1}}, .in_offset = last}));
  EXPECT_TRUE(fits_32_bits({.axes = {{2, last, 1}, {2, 0, 2}}, .in_offset = -last}));
  EXPECT_FALSE(fits_32_bits({.axes = {{2, last, 1}, {2, last, 2}}, .in_offset = -last}));  // only before the offset
  EXPECT_FALSE(fits_32_bits({.axes = {{65536, 0, 65536}, {65536, 0, 1}}}));
}

TEST(Move, OverflowIsAnError) {
  EXPECT_THROW(normalise({.axes = {{large, 1, 1}, {2, 1, 1}}}), Error);
  EXPECT_THROW(in_bounds({.axes = {{3, large, 1}}}), Error);
  EXPECT_THROW(out_bounds({.axes = {{2, 1, large}}, .out_offset = large}), Error);
  EXPECT_THROW((Move{.element = 16, .axes = {{large, 0, 1}}}.bytes_moved()), Error);
  EXPECT_THROW(normalise({.axes = {{5, 1, -large}}}), Error);
}

TEST(Move, IsShownWithItsStrides) {
  EXPECT_EQ(to_string(Move{.element = 4, .axes = {{8192, 1, 8192}, {8192, 8192, 1}}}),
            "8192x8192 of 4 bytes, in {1,8192}, out {8192,1}");
  EXPECT_EQ(to_string(Move{.in_offset = 5, .out_offset = -2}), "1 of 1 byte, in {}+5, out {}-2");
  EXPECT_EQ(to_string(Move{.axes = {{2, 4, 4}, {4, 1, 1}}, .tail = ChannelTail{0, 1, 5, true}}),
            "2x4 of 1 byte, in {4,1}, out {4,1}, axes 0 and 1 to 5, the rest zero");
}

}  // namespace
}  // namespace axisloom::core
