// Variant "block": transposes in registers, whole cache lines in and out. For CPUs.
#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr i64 line = 64;  // bytes of a cache line
// A line transposed in registers and L1; where rows lie whole pages apart, and share few sets of a cache, it takes
// longer. Two cores of an EPYC 9005 took c128 300 x 500 in 43 us, 1024 x 1024 in 650.
constexpr double line_seconds = 2.5e-9, pages_apart_line_seconds = 4e-9;
constexpr double partial_line_seconds =
    0.5e-9;                                    // more of one written in pieces: 41 x 9 x 11 x 63 x 45 bytes, 0 1 3 4 2
constexpr double joined_row_seconds = 1.5e-9;  // more of one of less than two: 9 x 611 x 987 floats as h w c
constexpr double part_row_seconds =
    8e-9;  // more of a row of less than a line, with a tail: 32 x 12544 pixels of 16 bytes, of 32
constexpr double read_on_seconds = 1e-9;  // without a tail, where lines are read beyond its end: 273 x 631 x 5 doubles
// More of a row of less than two lines, whose second begins in the first: two cores of a Xeon took 5000 x 100 x 20
// floats in 2.2 ms, and by "slab" in 3.3; 30000 x 17 x 19 in 4.6 and 3.5.
constexpr double twice_row_seconds = 3e-9;
// A line of a tile's first run that the tile before it did not fetch, since it lies elsewhere: two cores of an EPYC
// 9005 took f32 96 x 75 x 12 x 160 reversed in 2.9 ms, and in 4.1 where the tile itself did not fetch it at its start,
// either.
constexpr double unfetched_line_seconds = 8e-9;
// Of both arrays, from which on a tile fetches its first run: 512 x 512 floats, 2 MiB, took the same machine 25 us in a
// warm cache and 26.3 with fetching, and no less in a cold one; 768 x 768 60 and 63, in a cold one 152 to 255 and 143
// to 169.
constexpr double fetched_bytes = 3 << 20;
// So many times as long where vectors hold 8 floats and have no masks: 3619 x 16 x 24 doubles, whole lines, took two
// cores of an EPYC 7003 1.0 ms and by "plain" 2.3; 3619 x 21 x 11 took 2.9 and by "plain" 1.6.
constexpr double unmasked_pieces = 2.6;
constexpr i64 page = 4096;          // bytes of each row that a tile reads: rows of two tiles share no page
constexpr i64 groups_per_unit = 8;  // at least, where the array is large enough: idle cores cost more

bool rows_lie_pages_apart(const Move& move, const TileAxes& axes) {
  return move.axes[axes.out].in * move.element % page == 0;
}

// Lines of a tile along i, where there are `rows` rows of tiles, each `lines` lines long. The same machine, shares down
// the columns and along the rows, runs of 4: f32 8192 x 8192 8 lines 0.61 and 0.83, 32 lines 0.80 and 0.84, 128 lines
// 0.86 and 0.83, 64 lines down the columns 0.90; u8 16384 x 16384, runs of 8: 32 lines 0.62 and 0.51, 64 lines 0.62 and
// 0.58, 128 lines 0.53 and 0.56, 16 lines down the columns 0.55. Runs of 0, 4 and 8 lines: u8 0.39, 0.62, 0.58; u16
// 8192 x 8192 0.91, 1.26, 1.21; f32 0.84, 0.90, 0.87; c128 4096 x 4096 0.88, 0.93, 0.92.
i64 default_lines_in(i64 rows, i64 lines, const DeviceModel& device) {
  i64 tile = page / line;
  while (tile > 4 && rows * ceil_div(lines, tile) < groups_per_unit * i64(device.units())) tile /= 2;
  return tile;
}

// Lines of a row of the output that are written together. Two cores of an EPYC 9005, tiles of 64 lines along i, runs of
// 8, ms with 2, 4 and 8 lines: f32 32768 x 512 10.6, 3.9, 3.7; 4097 x 4097 9.7, 6.3, 5.6; u8 8191 x 8191 12.2, 7.9,
// 6.8. Runs of 4, with 4, 8 and 16 lines: f64 2047 x 2047 1.66, 1.26, 1.20; c128 2047 x 2047 4.4, 2.8, 2.6, 1000 x 1500
// 1.15, 0.98, 0.91. Where rows lie whole pages apart, which share few sets of a cache: c128 4096 x 4096 11.4, 12.3,
// 12.3, f64 6.2, 5.8, 6.6; and a Xeon (Emerald Rapids), share of a copy with 2, 4 and 8 lines: f32 8192 x 8192 0.89,
// 0.87, 0.76; u8 16384 x 16384 0.61, 0.58 with 2 and 4. Rows that begin anywhere have more lines in pieces; the Xeon,
// ms with 8 and 16 lines: f32 4097 x 4097 7.4 and 5.5, 1000003 x 16 5.3 and 4.5, u16 4097 x 4095 3.1 and 2.4; rows of
// whole lines, f32 1000000 x 16, 3.0 and 3.4.
i64 default_lines_out(const Move& move, const TileAxes& axes) {
  constexpr i64 some = 8, many = 16;
  if (move.element == 1) return some;
  const bool in_pieces = proven_alignment(move, true, axes.out, line) < line;
  const bool is_long = move.axes[axes.out].extent * move.element >= many * line;
  if (move.element < 8) return in_pieces && is_long ? many : some;
  if (rows_lie_pages_apart(move, axes)) return 4;
  return move.element == 8 ? some : many;
}

/// What a row of the input takes more because of its length.
double row_end_seconds(const Move& move, i64 length, i64 line_elements) {
  if (length < line_elements) return move.tail ? part_row_seconds : read_on_seconds;
  return length > line_elements && length < 2 * line_elements ? twice_row_seconds : 0;
}

/// Whether a tile's rows of the output follow each other, so that they are written as one run.
bool rows_join(const Move& move, const TileAxes& axes, i64 tile_o) {
  const i64 o = move.axes[axes.out].extent;
  return move.axes[axes.in].out == o && o <= tile_o;
}

/// Whether a tile writes few rows, whose ends lie within lines. The next tile soon writes what is left of those, as
/// long as they are in a cache: 5000003 x 16 floats took two cores of a Xeon 33 ms past the cache, and 26.5 through it,
/// 300 x 130 x 125 x 10 as 3,1,0,2 24.5 and 17.7; 4097 x 4097, of which a tile writes more rows than that, 7.6 and 11.
bool are_few_ragged(const Move& move, const TileAxes& axes) {
  return move.axes[axes.in].extent * move.element <= line && proven_alignment(move, true, axes.out, line) < line;
}

/// Lines of the tiles' first runs, but for those of tiles down the columns, which are fetched beside those above, and
/// of tiles that lie in one piece, which the processor foresees: 16000 x 64 x 48 bytes took two cores of a Xeon 4.0 ms,
/// and as much again was predicted for waits.
double unfetched_lines(const Move& move, const TileAxes& axes, const Configuration& values) {
  const i64 line_elements = line / move.element, i = move.axes[axes.in].extent, o = move.axes[axes.out].extent;
  const i64 tile_i = std::min(i, values.at("lines_in") * line_elements),
            tile_o = values.at("lines_out") * line_elements;
  if (tile_i == i && move.axes[axes.out].in == i) return 0;
  const i64 run = std::min(ceil_div(tile_i, line_elements), std::max<i64>(1, values.at("run")));
  return move.count() / double(tile_i) * run / ceil_div(o, tile_o);
}

double predicted_seconds(const Move& move, const TileAxes& axes, const Configuration& values,
                         const DeviceModel& device) {
  const i64 lines_out = values.at("lines_out");
  const Loop &i = move.axes[axes.in], &o = move.axes[axes.out];
  const i64 line_elements = line / move.element;
  const double elements = move.count(), others = elements / (double(i.extent) * o.extent);
  const double blocks = others * (ceil_div(i.extent, line_elements) * ceil_div(o.extent, line_elements));
  const bool joined = rows_join(move, axes, lines_out * line_elements), is_short = o.extent < 2 * line_elements;
  const double end = joined && is_short ? joined_row_seconds : joined ? 0 : partial_line_seconds;
  const double partial = o.extent % line_elements == 0 ? 0 : others * i.extent * end;
  const double parts = others * o.extent * row_end_seconds(move, i.extent, line_elements);
  // Of a block that an array fills in part, so many lines are read and written.
  const double filled =
      (std::min(double(i.extent) / line_elements, 1.0) + std::min(double(o.extent) / line_elements, 1.0)) / 2;
  const double line_time = rows_lie_pages_apart(move, axes) ? pages_apart_line_seconds : line_seconds;
  const double lines = blocks * filled * line_elements * line_time * vector_times(device);
  const double loop = device.on_cores(lines + (partial + parts) * (has_masks(device) ? 1 : unmasked_pieces));
  // A tile's rows that do not begin with a line end within one more, which is fetched to be written: 1223 x 2581 pixels
  // of 16 bytes took two cores of an EPYC 9005 3.5 ms, 3563 x 2926 of 4 bytes 3.2, and copies of as much 1.8 and 1.5.
  const bool aligned = joined || proven_alignment(move, true, axes.out, line) >= line;
  const double bytes = elements * move.element;
  const double row_lines = std::clamp(double(o.extent) / line_elements, 1.0, double(lines_out));
  const double fetch = aligned ? 0 : memory_seconds(bytes / row_lines, 2 * bytes, device);
  const bool far = 2 * bytes > device.cache;
  // Of memory's time, which a faster core does not shorten: two cores of an EPYC 7003 took 75 x 96 x 75 x 96 floats as
  // 2,0,3,1 in 23 ms, and by "slab" in 39.
  const double waits = far ? unfetched_lines(move, axes, values) * unfetched_line_seconds / device.units() : 0;
  return std::max(transfer_seconds(2 * bytes, device), loop) + fetch + waits;
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const MoveProblem wide = problem.as(widened(problem.move));
  const Move& move = wide.move;
  const auto axes = tile_axes(move);
  if (!axes) return refuse(no_tile_axes);
  if (!tail_fits_tiles(move, *axes)) return refuse("the channel tail lies across the tiles");
  const i64 i = move.axes[axes->in].extent, o = move.axes[axes->out].extent, line_elements = line / move.element;
  const i64 lines_out = value_or(wish, "lines_out", default_lines_out(move, *axes));
  const i64 rows = move.count() / (i * o) * ceil_div(o, lines_out * line_elements);
  const i64 lines_in = value_or(wish, "lines_in", default_lines_in(rows, ceil_div(i, line_elements), device));
  Configuration values = with_stream(wish, device);
  values["lines_in"] = lines_in;
  values["lines_out"] = lines_out;
  const bool stream = streams(move, values) && !are_few_ragged(move, *axes);
  const auto launches = [=] {
    const auto& tail = wide.move.tail;
    MoveLaunch launch("rearrange/block", wide);
    launch.params.tile_i = lines_in * line_elements;
    launch.walk_tiles(*axes, {launch.params.tile_i, lines_out * line_elements, values.at("order") == 1});
    launch.define_tail(!tail || axes->has(tail->inner) ? -1 : tail->inner);
    launch.define_element()
        .set("LINES_O", lines_out)
        .set("RUN", std::min(values.at("run"), lines_in))
        .set("STREAM", stream)
        .set("FETCHES_FIRST", 2.0 * wide.move.count() * wide.move.element > fetched_bytes);
    return launch.done();
  };
  return {.seconds = predicted_seconds(move, *axes, values, device), .configuration = values, .launches = launches};
}

}  // namespace

MoveCandidate block_move() {
  return {{.name = "block",
           .summary = "transposes by whole cache lines, transposed in registers, on a CPU",
           .tunables =
               {
                   {"lines_in", 0, zero_or_doublings(1, 128), "lines",
                    "tile along the input's rows; 0: a page, less for small elements and where cores would idle"},
                   {"lines_out", 0, zero_or_doublings(1, 16), "lines",
                    "tile along the output's rows; 0: by element size and how far apart they are read"},
                   {"order", 1, {0, 1}, "", "how groups walk: 0 along the input's rows, 1 down its columns"},
                   {"run", 4, zero_or_doublings(2, 32), "lines",
                    "prefetched together of a row of the input, a run ahead; 0: none"},
                   stream_tunable(),
               },
           .runtimes = {Api::opencl, Api::host},
           .runs_on = cpus},
          propose};
}

}  // namespace axisloom::ops
