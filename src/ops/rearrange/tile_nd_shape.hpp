// What a tile of tile_nd.kernel is made of: how it is cut out of a move, and how it lies in local memory.
#pragma once

#include "core/integers.hpp"
#include "core/move.hpp"

#include <optional>
#include <vector>

namespace axisloom::ops {

using core::Move;

inline constexpr size_t most_tile_nd_axes = 6;  // of a run, TILE_ND_AXES of tile_nd.params.h
inline constexpr i64 most_tile_nd_runs = 256;   // on either side

/// The fastest axes of both sides of a move, whole but for the last one of either, which may be cut. Axes are numbered
/// as in the move, and listed fastest first.
struct TileNd {
  /// The input's, or the output's.
  struct Side {
    std::vector<int> run;           // axes along which a run goes
    std::vector<int> runs;          // axes of the tile that number the runs
    int cut = -1;                   // the axis that is cut at the end of a run, -1: none; perhaps the same for both
    i64 run_length = 1, count = 1;  // elements of a run, and runs
  };
  std::vector<i64> block;  // of every axis of the move: its indices in a tile; 1: walked by groups
  Side in, out;
  Side& side(bool output) { return output ? out : in; }
  const Side& side(bool output) const { return output ? out : in; }
  i64 vector = 1;   // elements of an access
  double cost = 0;  // time relative to copying as many elements

  i64 elements() const { return in.run_length * in.count; }
};

/// The tile of lowest cost with at most `bytes` for groups of `items`, accesses to smaller elements being of up to
/// `access` bytes, `in_flight` bytes asked for at a time and memory that moves `sector` bytes at least; none where no
/// axis is contiguous on one side.
std::optional<TileNd> tile_nd_of(const Move& move, i64 bytes, i64 access, i64 items, i64 in_flight, i64 sector);

/// The same for tile_flat.kernel, whose runs are as long as can be and may be any number; of at most 64 KiB.
std::optional<TileNd> tile_flat_of(const Move& move, i64 bytes, i64 sector);

/// Lets the slowest axis of a run number shorter runs instead, where it can. An axis that is cut must stay the slowest
/// there, and can only be one that both sides cut.
bool tile_nd_shorten(TileNd& tile, bool output);

/// Largest power of two, up to `limit`, that divides the byte address of every run's start on one side.
i64 tile_nd_alignment(const Move& move, const TileNd& tile, bool output, i64 limit);

/// How many of a group's items work side by side along runs of `run` accesses, such that every pass takes as many.
i64 tile_nd_width(i64 run, i64 items);

/// Accesses that an item has in flight: as many as `bytes`; 0: what is best for its kind of access.
i64 tile_nd_in_flight(const TileNd& tile, i64 element, i64 bytes);

/// Local memory holds a tile in the input's order, with `pad` elements left out after every `from` of a run, which are
/// one or several whole axes of it, or all.
struct TileNdPadding {
  i64 from = 1, pad = 0;
  bool rotate = false;  // items of a warp take the elements of an access in different orders
  double rounds = 1;    // of local memory that an access by neighbouring items takes; without bank conflicts 1
  i64 place(i64 n) const { return n + n / from * pad; }
};

/// The padding with the fewest conflicts of local memory's `banks` of 4 bytes, a power of two, among those that fit in
/// `room` elements.
TileNdPadding tile_nd_padding(const TileNd& tile, i64 element, i64 room, i64 banks);

/// The place in local memory of index 1 of an axis, in elements.
i64 tile_nd_place(const TileNd& tile, const TileNdPadding& padding, int axis);

}  // namespace axisloom::ops
