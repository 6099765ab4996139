// What a variant of the moves answers: may I run this, how long would it take, and what is to be launched.
#pragma once

#include "core/move.hpp"
#include "ops/choose.hpp"
#include "ops/plan_impl.hpp"
#include "ops/registry.hpp"
#include "tune/configuration.hpp"

#include <optional>
#include <string>

namespace axisloom::ops {

/// A normalised move, its guard's axes in front, and what was decided before a variant is asked.
struct MoveProblem {
  core::Move move;
  int index_bits = 32;    // 64 where an offset might not fit in 32 bits, or when forced
  bool in_place = false;  // input and output are the same bytes
  bool checked = false;   // every access is to be checked
};

struct MoveCandidate {
  CandidateInfo info;
  Verdict (*consider)(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device);
  Launch (*lower)(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device);
};

/// The variants, in the order in which ties are decided; the last one fits everything.
std::span<const MoveCandidate> move_candidates();

/// Axes that the tiled variants work on: `in` is contiguous in the input, `out` in the output; they differ.
struct TileAxes {
  int in = 0;
  int out = 0;
  bool has(int axis) const { return axis == in || axis == out; }
};
std::optional<TileAxes> tile_axes(const core::Move& move);

/// The axes of a move but those named, in order.
std::vector<core::MoveAxis> axes_without(const core::Move& move, int first, int second = -1);
/// Whether a tiled kernel can keep a move's guard: its inner axis walked, or filled along o, or skipped along i.
bool guard_fits_tiles(const core::Move& move, const TileAxes& axes);

/// Bytes, up to `limit`, of the widest access that starts, lengths and guard of a move allow which keeps its fastest
/// axis.
std::int64_t packet_bytes(const core::Move& move, std::int64_t limit);
/// The same move counted in packets of `bytes`.
core::Move in_packets(core::Move move, std::int64_t bytes);

/// From how many bytes moved on a CPU kernel stores past the cache, and whether this move is that large.
tune::Tunable stream_tunable();
bool streams(const core::Move& move, const Configuration& values);

}  // namespace axisloom::ops
