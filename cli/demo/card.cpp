// Built-in glyphs, and the card drawn with them.
#include "cli/demo/card.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <array>

namespace axisloom::cli {
namespace {

/// Eight rows of eight pixels, leftmost pixel in the highest bit.
struct Glyph {
  char letter;
  std::array<std::uint8_t, 8> rows;
};

constexpr char arrow_up = '^';
constexpr char arrow_left = '<';

constexpr std::array glyphs{
    Glyph{' ', {0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00, 0x00}},
    Glyph{'A', {0x18, 0x3C, 0x66, 0x66, 0x7E, 0x66, 0x66, 0x00}},
    Glyph{'E', {0x7E, 0x60, 0x60, 0x7C, 0x60, 0x60, 0x7E, 0x00}},
    Glyph{'F', {0x7E, 0x60, 0x60, 0x7C, 0x60, 0x60, 0x60, 0x00}},
    Glyph{'I', {0x3C, 0x18, 0x18, 0x18, 0x18, 0x18, 0x3C, 0x00}},
    Glyph{'L', {0x60, 0x60, 0x60, 0x60, 0x60, 0x60, 0x7E, 0x00}},
    Glyph{'M', {0x63, 0x77, 0x7F, 0x6B, 0x63, 0x63, 0x63, 0x00}},
    Glyph{'O', {0x3C, 0x66, 0x66, 0x66, 0x66, 0x66, 0x3C, 0x00}},
    Glyph{'P', {0x7C, 0x66, 0x66, 0x7C, 0x60, 0x60, 0x60, 0x00}},
    Glyph{'S', {0x3C, 0x66, 0x60, 0x3C, 0x06, 0x66, 0x3C, 0x00}},
    Glyph{'T', {0x7E, 0x18, 0x18, 0x18, 0x18, 0x18, 0x18, 0x00}},
    Glyph{'U', {0x66, 0x66, 0x66, 0x66, 0x66, 0x66, 0x3C, 0x00}},
    Glyph{'X', {0x66, 0x66, 0x3C, 0x18, 0x3C, 0x66, 0x66, 0x00}},
    Glyph{arrow_up, {0x18, 0x3C, 0x7E, 0xFF, 0x18, 0x18, 0x18, 0x18}},
    Glyph{arrow_left, {0x10, 0x30, 0x70, 0xFF, 0xFF, 0x70, 0x30, 0x10}},
};

const Glyph& glyph_of(char letter) {
  const auto* found = std::find_if(glyphs.begin(), glyphs.end(), [&](const Glyph& g) { return g.letter == letter; });
  if (found == glyphs.end()) throw Error(Errc::usage, fmt::format("there is no glyph for '{}'", letter));
  return *found;
}

void fill_block(io::HostArray& image, int row, int column, int side, std::uint8_t grey) {
  const View& view = image.view;
  for (std::int64_t r = std::max(row, 0); r < std::min<std::int64_t>(row + side, view.shape[0]); ++r)
    for (std::int64_t c = std::max(column, 0); c < std::min<std::int64_t>(column + side, view.shape[1]); ++c)
      image.memory.get()[view.offset + r * view.strides[0] + c * view.strides[1]] = std::byte{grey};
}

}  // namespace

void draw_text(io::HostArray& image, int row, int column, int scale, std::uint8_t grey, std::string_view text) {
  for (char letter : text) {
    const Glyph& glyph = glyph_of(letter);
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c)
        if ((glyph.rows[static_cast<std::size_t>(r)] >> (7 - c) & 1) != 0)
          fill_block(image, row + r * scale, column + c * scale, scale, grey);
    column += 8 * scale;
  }
}

io::HostArray grey_card() {
  io::HostArray image = io::HostArray::allocate(View::contiguous(Dtype::u8, {card_side, card_side}));
  for (int r = 0; r < card_side; ++r)
    for (int c = 0; c < card_side; ++c)
      image.memory.get()[r * card_side + c] = static_cast<std::byte>((2 * r + c) / 4);  // steeper down than across
  constexpr std::uint8_t white = 255;
  draw_text(image, 4, 120, 2, white, {&arrow_up, 1});
  draw_text(image, 24, 104, 2, white, "TOP");
  draw_text(image, 84, 4, 2, white, {&arrow_left, 1});
  draw_text(image, 84, 24, 2, white, "LEFT");
  draw_text(image, 140, 32, 3, white, "AXISLOOM");
  return image;
}

io::HostArray colour_card() {
  const io::HostArray grey = grey_card();
  io::HostArray image = io::HostArray::allocate(View::contiguous(Dtype::u8, {card_side, card_side, 3}));
  std::byte* pixel = image.memory.get();
  for (int r = 0; r < card_side; ++r)
    for (int c = 0; c < card_side; ++c) {
      *pixel++ = static_cast<std::byte>(c);
      *pixel++ = static_cast<std::byte>(r);
      *pixel++ = grey.memory.get()[r * card_side + c];
    }
  return image;
}

}  // namespace axisloom::cli
