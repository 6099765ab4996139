// The demo's own picture: a grey test card on which a flip or a swap of axes is seen at once.
#pragma once

#include "core/integers.hpp"
#include "io/io.hpp"

namespace axisloom::cli {

/// Side of the card in pixels.
inline constexpr int card_side = 256;

/// Draws text of 8 x 8 glyphs, each pixel of a glyph `scale` pixels wide and high, into an image of 8-bit grey, h w.
/// Letters that the card needs; throws Error(usage) for others. What falls outside is cut off.
void draw_text(io::HostArray& image, int row, int column, int scale, u8 grey, std::string_view text);

/// u8, h w: a gradient from the top left to the bottom right, the name, TOP, LEFT, and an arrow to each of the two
/// edges.
io::HostArray grey_card();
/// u8, h w 3: red grows to the right, green downwards, and blue is the grey card.
io::HostArray colour_card();

}  // namespace axisloom::cli
