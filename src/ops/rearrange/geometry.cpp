// Questions that several variants ask of a move: its tile axes, the axes that remain, its packets.
#include "core/integers.hpp"
#include "ops/rearrange/candidate.hpp"

#include <algorithm>

namespace axisloom::ops {

MoveProblem MoveProblem::as(Move other) const {
  const int bits = fits_32_bits(other) ? index_bits : 64;
  return {std::move(other), bits};
}

int longest_axis(const Move& move, bool output, i64 stride) {
  int longest = -1;
  for (int d = 0; d < int(move.axes.size()); ++d)
    if (move.axes[d].*core::side(output) == stride && (longest < 0 || move.axes[d].extent > move.axes[longest].extent))
      longest = d;
  return longest;
}

std::optional<TileAxes> tile_axes(const Move& move) {
  const TileAxes found{longest_axis(move, false, 1), longest_axis(move, true, 1)};
  if (found.in < 0 || found.out < 0 || found.in == found.out) return std::nullopt;
  return found;
}

bool tail_fits_tiles(const Move& move, const TileAxes& axes) {
  if (!move.tail) return true;
  if (axes.has(move.tail->outer)) return false;
  return !axes.has(move.tail->inner) || move.tail->fill == (move.tail->inner == axes.out);
}

i64 packet_bytes(const Move& move, i64 limit) {
  const int fastest = int(move.axes.size()) - 1;
  i64 bytes = std::min(proven_alignment(move, false, fastest, limit), proven_alignment(move, true, fastest, limit));
  const auto divides = [&](i64 elements) {
    while (bytes > move.element && elements * move.element % bytes != 0) bytes /= 2;
  };
  divides(move.axes.back().extent);
  if (move.tail && move.tail->inner == fastest) divides(move.tail->count);
  return std::max(bytes, move.element);
}

Move counted_in(Move move, i64 bytes) {
  if (bytes == move.element) return move;
  if (move.axes.empty()) move.axes.push_back({1, 1, 1});
  const auto scale = [bytes, element = move.element](i64& count) { count = count * element / bytes; };
  for (Loop& axis : move.axes) {
    scale(axis.in);
    scale(axis.out);
  }
  Loop& fastest = move.axes.back();
  scale(fastest.extent);
  fastest.in = fastest.out = 1;
  scale(move.in_offset);
  scale(move.out_offset);
  if (move.tail && move.tail->inner + 1 == int(move.axes.size())) scale(move.tail->count);
  move.element = bytes;
  return move;
}

Move widened(const Move& move) {
  if (!keeps_fastest_axis(move) || move.tail) return move;
  Move wide = counted_in(move, packet_bytes(move, 16));
  drop_single_steps(wide.axes);
  return wide;
}

std::optional<Pixels> pixel_axes(const Move& move, bool (*takes)(const Move&, const Pixels&)) {
  const int count = int(move.axes.size());
  for (int lanes = 0; lanes < count; ++lanes) {
    const Loop& l = move.axes[lanes];
    for (int along = 0; along < count && l.extent > 1; ++along) {
      const Loop& n = move.axes[along];
      const bool split = l.in == 1 && n.in >= l.extent && n.out == 1;
      const bool joined = l.out == 1 && n.out == l.extent && n.in == 1;
      const Pixels pixels{lanes, along, split ? n.in : n.out, split};
      if ((split || joined) && takes(move, pixels)) return pixels;
    }
  }
  return std::nullopt;
}

bool tail_fits_pixels(const Move& move, const Pixels& pixels) {
  return !move.tail ||
         (move.tail->inner == pixels.lanes && move.tail->outer != pixels.along && move.tail->fill != pixels.split);
}

Tunable stream_tunable() {
  return {"stream_mib",
          -1,
          {-1, 0, 4, 8, 12, 16, 32, 48, 64, 96, i64{1} << 30},
          "MiB",
          "bytes moved from which stores go past the cache; -1: one and a half caches. On two cores of a Xeon 57 "
          "against 28 "
          "GB/s at 128 MiB, 73 against 60 at 12, 40 against 98 at 4",
          true};
}

Configuration with_stream(const Configuration& wish, const DeviceModel& device) {
  constexpr double caches = 1.5;
  Configuration values = wish;
  if (i64& mib = values["stream_mib"]; mib < 0) mib = i64(caches * device.cache) >> 20;
  return values;
}

}  // namespace axisloom::ops
