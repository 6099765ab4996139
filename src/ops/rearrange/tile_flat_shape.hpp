// How a tile of tile_flat.kernel lies in local memory.
#pragma once

#include "ops/rearrange/tile_nd_shape.hpp"

namespace axisloom::ops {

/// Accesses of tile_flat.kernel, in bytes; no smaller than an element.
struct FlatAccess {
  i64 in, out;
};

struct TileFlat {
  TileNd tile;
  std::vector<i64> step;                // of local memory, in elements, for an index of each axis of the tile
  i64 size = 0;                         // elements of local memory, wherever within a word the tile begins
  i64 in_packets = 1, out_packets = 1;  // that a run touches at most
  double ends = 0;                      // operations for what whole packets leave of a run of the output
  double rows = 0;                      // and of an element, where rows of the fastest axis are short
  bool by_words = false;                // packets of the input go to local memory by words, else whole
  bool rotate = false;                  // items take the elements of a word in different orders
  i64 turn_shift = 0;                   // item n begins at word n >> turn_shift of its packet of the output
  i64 rotate_shift = 0;                 // and with `rotate` at element n >> rotate_shift of a word
  double rounds = 1;                    // of local memory that an element read by neighbouring items takes

  double operations() const;  // of items, for an element
  double passage() const;     // of an element through local memory, in rounds
};

/// The layout of a tile with the fewest conflicts of local memory's `banks` of 4 bytes, a power of two, that fits in
/// `room` elements; none where the tightest one does not.
std::optional<TileFlat> tile_flat_layout(const Move& move, const TileNd& tile, const FlatAccess& access, i64 room,
                                         i64 banks);
/// The tightest layout.
TileFlat tile_flat_tight(const Move& move, const TileNd& tile, const FlatAccess& access);

}  // namespace axisloom::ops
