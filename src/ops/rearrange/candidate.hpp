// What a candidate of the moves is asked, and questions that several of them ask of a move.
#pragma once

#include "core/integers.hpp"
#include "core/move.hpp"
#include "planner/candidate.hpp"

#include <algorithm>
#include <optional>
#include <string>

namespace axisloom::ops {

using core::Loop, core::Loops, core::Move;

/// A normalised move, its tail's axes in front, and what was decided before a candidate is asked.
struct MoveProblem {
  Move move;
  int index_bits = 32;  // 64 where an offset might not fit in 32 bits, or when forced

  /// The same as another move, whose offsets may need 64 bits.
  MoveProblem as(Move other) const;
};
std::string to_string(const MoveProblem& problem);
std::string shape_class(const MoveProblem& problem);

using MoveCandidate = Candidate<MoveProblem>;

/// The candidates, in the order in which ties are decided; the last one takes everything.
const Candidates<MoveProblem>& move_candidates();

/// The longest axis of a stride on one side, the first of equals; -1: there is none.
int longest_axis(const Move& move, bool output, i64 stride);

/// Elements of an axis in whole blocks.
inline double in_blocks(i64 extent, i64 block) {
  return ceil_div(extent, block) * block;
}

/// Axes that the tiled variants work on: `in` is contiguous in the input, `out` in the output; they differ.
struct TileAxes {
  int in = 0;
  int out = 0;
  bool has(int axis) const { return axis == in || axis == out; }
};
std::optional<TileAxes> tile_axes(const Move& move);
inline constexpr const char* no_tile_axes =
    "no two different axes are contiguous, one in the input and one in the output";

/// Whether a tiled kernel can keep a move's tail: its inner axis walked, or filled along o, or skipped along i.
bool tail_fits_tiles(const Move& move, const TileAxes& axes);
/// Whether the fastest axis of the output is contiguous on both sides.
inline bool keeps_fastest_axis(const Move& move) {
  return !move.axes.empty() && move.axes.back().in == 1 && move.axes.back().out == 1;
}

/// Bytes of all elements, on one side.
inline double bytes_of(const Move& move) {
  return move.count() * move.element;
}
/// Bytes, up to `limit`, of the widest access that starts, lengths and tail of a move allow which keeps its fastest
/// axis.
i64 packet_bytes(const Move& move, i64 limit);
/// The same move counted in larger or smaller elements, of `bytes`. Its fastest axis is kept.
Move counted_in(Move move, i64 bytes);
/// A fastest axis that is kept makes larger elements, where starts allow it and no tail of channels has its place.
Move widened(const Move& move);

/// Lanes that lie side by side on one side, pixel after pixel, and along which the other side has a run each.
struct Pixels {
  int lanes = 0;       // the axis that lies interleaved
  int along = 0;       // the axis from pixel to pixel
  i64 pitch = 0;       // elements from pixel to pixel
  bool split = false;  // lanes lie together in the input (else in the output)
};
/// The first that a kernel `takes`.
std::optional<Pixels> pixel_axes(const Move& move, bool (*takes)(const Move&, const Pixels&));
/// Blocks of channels keep their tail among the lanes, filled where they are put together and skipped where not.
bool tail_fits_pixels(const Move& move, const Pixels& pixels);

/// Time of a CPU's kernel that waits for memory and works by turns: of the shorter of the two a part shows.
inline double partly_hidden(double memory, double loops) {
  constexpr double shown = 0.6;  // slabs of 13 to 17 million floats, two cores of an EPYC 9005
  return std::max(memory, loops) + shown * std::min(memory, loops);
}

/// From how many bytes moved on a CPU kernel stores past the cache, that number for a device where it is left open, and
/// whether this move is that large.
Tunable stream_tunable();
Configuration with_stream(const Configuration& wish, const DeviceModel& device);
inline bool streams(const Move& move, const Configuration& values) {
  return move.bytes_moved() >= values.at("stream_mib") << 20;
}

}  // namespace axisloom::ops
