// Built-in glyphs, and the card drawn with them.
#include "cli/demo/card.hpp"

#include "harness/arguments.hpp"

#include <algorithm>

namespace axisloom::cli {
namespace {

using io::HostArray;

/// Eight rows of eight pixels: a byte for each, the top row's the highest, and in it the leftmost pixel the highest
/// bit.
struct Glyph {
  char letter;
  u64 rows;
};

constexpr char arrow_up = '^';
constexpr char arrow_left = '<';

constexpr Glyph glyphs[] = {
    {' ', 0x00'00'00'00'00'00'00'00}, {'A', 0x18'3C'66'66'7E'66'66'00},      {'E', 0x7E'60'60'7C'60'60'7E'00},
    {'F', 0x7E'60'60'7C'60'60'60'00}, {'I', 0x3C'18'18'18'18'18'3C'00},      {'L', 0x60'60'60'60'60'60'7E'00},
    {'M', 0x63'77'7F'6B'63'63'63'00}, {'O', 0x3C'66'66'66'66'66'3C'00},      {'P', 0x7C'66'66'7C'60'60'60'00},
    {'S', 0x3C'66'60'3C'06'66'3C'00}, {'T', 0x7E'18'18'18'18'18'18'00},      {'U', 0x66'66'66'66'66'66'3C'00},
    {'X', 0x66'66'3C'18'3C'66'66'00}, {arrow_up, 0x18'3C'7E'FF'18'18'18'18}, {arrow_left, 0x10'30'70'FF'FF'70'30'10},
};

const Glyph& glyph_of(char letter) {
  const Glyph* const found = std::ranges::find(glyphs, letter, &Glyph::letter);
  if (found == std::end(glyphs)) harness::refuse("", "there is no glyph for '{}'", letter);
  return *found;
}

void fill_block(HostArray& image, int row, int column, int side, u8 grey) {
  const View& view = image.view;
  for (i64 r = std::max(row, 0); r < std::min<i64>(row + side, view.shape[0]); ++r)
    for (i64 c = std::max(column, 0); c < std::min<i64>(column + side, view.shape[1]); ++c)
      image.memory.get()[view.offset + r * view.strides[0] + c * view.strides[1]] = std::byte{grey};
}

}  // namespace

void draw_text(HostArray& image, int row, int column, int scale, u8 grey, std::string_view text) {
  for (char letter : text) {
    const Glyph& glyph = glyph_of(letter);
    for (int r = 0; r < 8; ++r)
      for (int c = 0; c < 8; ++c)
        if ((glyph.rows >> (63 - 8 * r - c) & 1) != 0)
          fill_block(image, row + r * scale, column + c * scale, scale, grey);
    column += 8 * scale;
  }
}

HostArray grey_card() {
  HostArray image = HostArray::allocate(View::contiguous(Dtype::u8, {card_side, card_side}));
  for (int r = 0; r < card_side; ++r)
    for (int c = 0; c < card_side; ++c)
      image.memory.get()[r * card_side + c] = std::byte((2 * r + c) / 4);  // steeper down than across
  constexpr u8 white = 255;
  draw_text(image, 4, 120, 2, white, {&arrow_up, 1});
  draw_text(image, 24, 104, 2, white, "TOP");
  draw_text(image, 84, 4, 2, white, {&arrow_left, 1});
  draw_text(image, 84, 24, 2, white, "LEFT");
  draw_text(image, 140, 32, 3, white, "AXISLOOM");
  return image;
}

HostArray colour_card() {
  const HostArray grey = grey_card();
  HostArray image = HostArray::allocate(View::contiguous(Dtype::u8, {card_side, card_side, 3}));
  std::byte* pixel = image.memory.get();
  for (int r = 0; r < card_side; ++r)
    for (int c = 0; c < card_side; ++c) {
      *pixel++ = std::byte(c);
      *pixel++ = std::byte(r);
      *pixel++ = grey.memory.get()[r * card_side + c];
    }
  return image;
}

}  // namespace axisloom::cli
