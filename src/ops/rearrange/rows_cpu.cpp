// Variant "rows_cpu": the fastest axis is kept; rows are copied line by line. For CPUs.
#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>
#include <cstdlib>

namespace axisloom::ops {
namespace {

constexpr i64 line = 64;                // bytes of a cache line
constexpr i64 short_row = 4 * line;     // bytes of rows that the kernel copies without asking each how long it is
constexpr i64 group_bytes = 128 << 10;  // a group's work: long against its start, short against a core's share

// Finding a row's place by division, and its first and last bytes: 307 200 rows of three bytes take a core of an EPYC
// 9005 (Turin) 3.0 ms, of three floats 3.4 ms.
constexpr double row_seconds = 10e-9;
// A short one, of which only the place is found: 161000 rows of 28 bytes took two cores of a Xeon 0.185 ms.
constexpr double short_row_seconds = 2.5e-9;

// A row's first bytes one by one, where stores go past the cache and rows begin anywhere in a line: 281735 rows of 196
// bytes took two cores of an EPYC 7003 36 ms longer than by "plain", of 516 bytes 34 ms; with AVX-512 the 196 bytes
// took an EPYC 9005 6.5 ms in all.
constexpr double ragged_row_seconds = 140e-9, masked_ragged_row_seconds = 30e-9;

// A row that does not follow the one before it in memory is waited for: two cores of an EPYC 9005 took 1.7 million rows
// of 64 bytes in 29 ms, 450 000 of 704 bytes in 27.2, and by "slab" 6 and 23.5. In a core's time: of an EPYC 7003,
// which has slower ones, 691 200 of 640 bytes in 51 and by "slab" in 33.
constexpr double far_row_seconds = 12e-9;

/// Whether rows are read in another order than they lie in.
bool jumps(const Move& move) {
  for (size_t d = 0; d + 1 < move.axes.size(); ++d)
    if (std::abs(move.axes[d].in) < std::abs(move.axes[d + 1].in)) return true;
  return false;
}

// Of both arrays: larger ones go faster past the cache, by other kernels. Rows of 28 bytes of 38 MB took two cores of a
// Xeon 1.1 ms, and 1.6 by "slab"; of 48 bytes of 77 MB 5.1 and 3.2.
constexpr i64 through_cache = 48 << 20;

/// Rows that are taken, each from a place of its own, before one that lies beside the first. Processors foresee what
/// comes next of some thirty. Two cores of a Xeon took rows of 28 bytes from 28 places in 2.9 ns, of 32 bytes from 64
/// in 18.
bool are_foreseen(const Move& move) {
  constexpr i64 most_places = 32;
  i64 places = 1, taken = 1, nearest = 0;
  for (size_t d = move.axes.size() - 1; d-- > 0;) {
    const i64 step = std::abs(move.axes[d].in);
    if (nearest == 0 || step < nearest) nearest = step, places = taken;
    taken *= move.axes[d].extent;
  }
  return places <= most_places;
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  if (!keeps_fastest_axis(move)) return refuse("the fastest axis of the output is not contiguous in the input");
  const double run = move.axes.back().extent, elements = move.count();
  const double sectors = 2 * sector_bytes(elements, run, 1, move.element, device);
  const bool far = jumps(move) && sectors > device.cache;
  const Configuration values = with_stream(wish, device);
  // Short rows that begin anywhere in the output have hardly a whole line.
  const bool ragged = streams(move, values) && proven_alignment(move, true, int(move.axes.size()) - 1, line) < line;
  const bool stream = streams(move, values) && !(ragged && run * move.element <= short_row);
  const bool is_short = !move.tail && !stream && run * move.element <= short_row;
  const double rows = device.on_cores(elements / run * (is_short ? short_row_seconds : row_seconds));
  const double share = std::min(1.0, run * move.element / line);  // of a head, where rows are shorter
  const double head = has_masks(device) ? masked_ragged_row_seconds : ragged_row_seconds;
  const double heads = stream && ragged ? device.on_cores(elements / run * share * head) : 0;
  const bool foreseen = is_short && move.bytes_moved() <= through_cache && are_foreseen(move);
  const double bytes = foreseen ? 2 * elements * move.element : sectors;  // a line's rows come soon one after the other
  const double waits = far && !foreseen ? device.on_cores(elements / run * far_row_seconds) : 0;
  const auto launches = [=, &problem, units = i64(device.units())] {
    MoveLaunch launch("rearrange/rows_cpu", problem.as(counted_in(problem.move, 1)));
    const i64 segment = launch.walk_segments(values.at("segment"));
    launch.defines().set("STREAM", stream);
    return launch.done(launch.split_into_groups(group_bytes, segment, units));
  };
  const double seconds = std::max(transfer_seconds(bytes, device), rows) + heads + waits;
  return {.seconds = seconds, .configuration = values, .launches = launches};
}

}  // namespace

MoveCandidate rows_cpu_move() {
  return {{.name = "rows_cpu",
           .summary = "whole rows by cache lines on a CPU, where the fastest axis is kept",
           .tunables =
               {
                   {"segment", 16384, {4096, 16384, 65536}, "bytes", "longest run that an item takes at a time"},
                   stream_tunable(),
               },
           .runtimes = {Api::opencl, Api::host},
           .runs_on = cpus},
          propose};
}

}  // namespace axisloom::ops
