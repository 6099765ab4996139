// The host's side of move.params.h, and how a walk is written into it.
#pragma once

#include "core/integers.hpp"
#include "core/move.hpp"
#include "jit/jit.hpp"
#include "ops/rearrange/candidate.hpp"

#include <string>

namespace axisloom::ops {

#include "ops/rearrange/move.params.h"
static_assert(arguments_fit(sizeof(MoveParams), 2));

/// Ranks that kernels are compiled for; a walk takes the next one up. Walked once per tile, the steps for axes that are
/// not there cost nothing, and fewer ranks mean fewer kernels. Walked once per access they show: two steps too many
/// take a copy of odd rows from 4023 to 3275 GB/s on an H200 (f32), from 1410 to 826 (u8).
enum class Ranks { fine, coarse };  // 2, 4, 6, 8, 16 or 4, 8, 16
/// Throws Error(unsupported) where there are too many axes.
int rank_for(size_t axes, Ranks ranks);

/// How a tiled kernel cuts the two axes of its tiles.
struct Tiling {
  i64 tile_i, tile_o;  // elements
  bool down_columns;   // tiles along o are neighbours in the walk, else those along i
};

/// A launch of a kernel, "rearrange/tile", over a move, from its first element to its last: parameters and constants
/// are written piece by piece, and `done` completes it.
struct MoveLaunch : OpenLaunch<MoveParams> {
  const MoveProblem problem;

  MoveLaunch(const std::string& kernel, const MoveProblem& problem, const Group& group = {});

  /// A walk over `axes` (slowest first): fills its part of the structure that the kernel gets and params.work, and sets
  /// RANK, INDEX_BITS and AXL_PARAMS_SIZE. Axes that are missing from the rank are padded behind the first `leading`
  /// ones, so that these stand at fixed places. Returns the rank.
  template <class Params>
  int walk_in(Params& walk, Loops axes, int leading, Ranks ranks) {
    const int rank = rank_for(axes.size(), ranks);
    axes.insert(axes.begin() + leading, rank - axes.size(), {});
    write_walk(axes, problem.index_bits, walk);
    params.work = count(axes);
    defines().set("RANK", rank).set("INDEX_BITS", problem.index_bits).set("AXL_PARAMS_SIZE", i64(sizeof(Params)));
    return rank;
  }
  int walk(const Loops& axes, int leading, Ranks ranks) { return walk_in(params, axes, leading, ranks); }
  /// The walk of a CPU item: all axes but the fastest, then the segments of the fastest, which the kernel takes itself
  /// (extent_i; its strides are the kernel's business). Sets SEGMENT and the tail. Returns the elements of a segment,
  /// at most the extent.
  i64 walk_segments(i64 segment);
  /// The walk of a tiled kernel: all axes but the tile's two, then the tiles along them (AXIS_I, AXIS_O). Sets extents
  /// and strides of the tile's axes; the tail's outer axis is the first, the inner one the second where it is walked.
  void walk_tiles(const TileAxes& axes, const Tiling& tiling);
  /// The walk over all axes but the lanes, of the pixels in segments; lanes and tail are parameters.
  void walk_pixels(const Pixels& pixels, i64 segment, Ranks ranks);

  /// The tail's defines; `inner`: the position of its inner axis in the walk, -1 (AXIS_SELF) where the kernel handles
  /// that axis itself.
  void define_tail(int inner);
  /// The tail, or that there is none, as parameters, so that one kernel does for all. Its outer axis is the first of
  /// the walk, and the inner one, where it is walked, the second.
  void write_tail();
  /// ELEMENT and ELEMENT_BYTES; returns the defines.
  jit::Defines& define_element();

  /// Deals the points of a walk to one-item groups, where one point moves `point_bytes`: `group_bytes` for each, and
  /// less where `units` cores would have unlike shares. Returns how many groups that makes.
  i64 split_into_groups(i64 group_bytes, i64 point_bytes, i64 units);
  Launches done(i64 groups) { return {{closed(groups)}}; }
  /// A group for every point of the walk.
  Launches done() { return done(params.work); }
};

/// How many axes of a move ordered by with_tail_in_front belong to its tail and are not the fastest.
int leading_axes(const Move& move);

/// The move with its tail's axes in front (outer, then inner; an inner axis that is the fastest stays), so that
/// kernels differ little in where they find them. The order of the other axes stays.
Move with_tail_in_front(const Move& move);

/// Type of an element or packet of `bytes` in the dialect: u8, u16, u32, u64, u32x4, u32x8, u32x16.
std::string type_of_bytes(i64 bytes);

}  // namespace axisloom::ops
