// The test card is not symmetrical in any way that would hide a flip, a turn or a swap.
#include "cli/demo/card.hpp"

#include <axisloom/error.hpp>

#include <gtest/gtest.h>

#include <functional>

namespace axisloom::cli {
namespace {

int pixel(const io::HostArray& image, int row, int column) {
  return std::to_integer<int>(image.memory.get()[row * card_side + column]);
}

TEST(CliCard, EveryFlipAndTurnIsVisible) {
  const io::HostArray card = grey_card();
  constexpr int last = card_side - 1;
  const std::vector<std::function<int(int, int)>> moved{
      [&](int r, int c) { return pixel(card, c, r); },
      [&](int r, int c) { return pixel(card, r, last - c); },
      [&](int r, int c) { return pixel(card, last - r, c); },
      [&](int r, int c) { return pixel(card, last - r, last - c); },
      [&](int r, int c) { return pixel(card, last - c, r); },
      [&](int r, int c) { return pixel(card, c, last - r); },
      [&](int r, int c) { return pixel(card, last - c, last - r); },
  };
  for (const auto& at : moved) {
    int different = 0;
    for (int r = 0; r < card_side; ++r)
      for (int c = 0; c < card_side; ++c) different += at(r, c) != pixel(card, r, c);
    EXPECT_GT(different, card_side * card_side / 4);
  }
}

TEST(CliCard, GlyphsAreDrawnWhereAskedAndCutAtTheEdge) {
  io::HostArray image = io::HostArray::allocate(View::contiguous(Dtype::u8, {8, 12}));
  for (std::byte& byte : image.span()) byte = std::byte{0};
  draw_text(image, 0, 0, 1, 9, "TT");
  const auto at = [&](int r, int c) { return std::to_integer<int>(image.memory.get()[r * 12 + c]); };
  EXPECT_EQ(at(0, 0), 0);
  EXPECT_EQ(at(0, 1), 9);  // the bar of the first T
  EXPECT_EQ(at(0, 6), 9);
  EXPECT_EQ(at(1, 1), 0);
  EXPECT_EQ(at(6, 3), 9);  // its stem
  EXPECT_EQ(at(7, 3), 0);
  EXPECT_EQ(at(0, 11), 9);  // the second T, cut off
  EXPECT_THROW(draw_text(image, 0, 0, 1, 9, "?"), Error);
}

TEST(CliCard, ColourPlanesDiffer) {
  const io::HostArray card = colour_card();
  EXPECT_EQ(card.view.shape, (Dims{card_side, card_side, 3}));
  const std::byte* pixel = card.memory.get() + (10 * card_side + 20) * 3;
  EXPECT_EQ(std::to_integer<int>(pixel[0]), 20);
  EXPECT_EQ(std::to_integer<int>(pixel[1]), 10);
}

}  // namespace
}  // namespace axisloom::cli
