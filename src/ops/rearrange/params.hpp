// The host's side of move.params.h, and how a walk is written into it.
#pragma once

#include "core/integers.hpp"
#include "core/move.hpp"
#include "device/device.hpp"
#include "jit/jit.hpp"
#include "ops/rearrange/candidate.hpp"

#include <functional>
#include <vector>

namespace axisloom::ops {

#include "ops/rearrange/move.params.h"
static_assert(arguments_fit(sizeof(MoveParams), 2));

/// A launch of `kernel`.kernel over a move, from its first element to its last; `done` completes it.
struct MoveLaunch {
  Launch launch;
  MoveParams params{};

  MoveLaunch(const std::string& kernel, const core::Move& move, i64 items = 1, i64 local_bytes = 0);
  jit::Defines& defines() { return launch.kernel.defines; }
  Launches done(i64 groups);
};

/// Ranks that kernels are compiled for; a walk takes the next one up. Walked once per tile, the steps for axes that are
/// not there cost nothing, and fewer ranks mean fewer kernels. Walked once per access they show: two steps too many
/// take a copy of odd rows from 4023 to 3275 GB/s on an H200 (f32), from 1410 to 826 (u8).
enum class Ranks { fine, coarse };  // 2, 4, 6, 8, 16 or 4, 8, 16

/// A walk over `axes` (slowest first): fills its part of the parameters and sets RANK, INDEX_BITS and AXL_PARAMS_SIZE.
/// Axes that are missing from the rank are padded behind the first `leading` ones, so that these stand at fixed places.
/// `params_bytes` is the size of the structure that the kernel gets. Returns how many were padded.
int write_walk(const core::Loops& axes, int leading, Ranks ranks, int index_bits, MoveParams& params,
               jit::Defines& defines, std::size_t params_bytes = sizeof(MoveParams));

/// How many axes of a move ordered by with_tail_in_front belong to its tail and are not the fastest.
int leading_axes(const core::Move& move);

/// The move with its tail's axes in front (outer, then inner; an inner axis that is the fastest stays), so that
/// kernels differ little in where they find them. The order of the other axes stays.
core::Move with_tail_in_front(const core::Move& move);

/// The tail's defines; `place` maps an axis of the move to its position in the walk, -1 (AXIS_SELF) where the kernel
/// handles the axis itself.
void write_tail(const std::optional<core::ChannelTail>& tail, const std::function<int(int)>& place, MoveParams& params,
                jit::Defines& defines);

/// The tail, or that there is none, as parameters, so that one kernel does for all. Its outer axis is the first of the
/// walk, and the inner one, where it is walked, the second.
void write_tail_params(const core::Move& move, int index_bits, MoveParams& params);

/// The walk of a CPU item: all axes but the fastest, then the segments of the fastest, which the kernel takes itself
/// (extent_i; its strides are the kernel's business). Sets SEGMENT and the tail.
struct SegmentWalk {
  i64 segment = 1;  // elements, at most the extent
};
SegmentWalk write_segment_walk(const core::Move& move, i64 segment, int index_bits, MoveParams& params,
                               jit::Defines& defines);

/// The walk of a tiled kernel: all axes but the tile's two, then the tiles along them (AXIS_I, AXIS_O). Sets extents
/// and strides of the tile's axes; the tail's outer axis is the first, the inner one the second where it is walked.
struct Tiling {
  i64 tile_i, tile_o;  // elements
  bool down_columns;   // tiles along o are neighbours in the walk, else those along i
};
void write_tile_walk(const core::Move& move, const TileAxes& axes, const Tiling& tiling, int index_bits,
                     MoveParams& params, jit::Defines& defines);

/// Deals the points of a walk to one-item groups, about `group_bytes` each, where one point moves `point_bytes`.
/// Returns how many groups that makes.
i64 split_into_groups(i64 group_bytes, i64 point_bytes, MoveParams& params);

/// Type of an element or packet of `bytes` in the dialect: u8, u16, u32, u64, u32x4.
std::string type_of_bytes(i64 bytes);

}  // namespace axisloom::ops
