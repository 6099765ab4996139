// Variant "block": transposes in registers, whole cache lines in and out. For CPUs.
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr std::int64_t line = 64;                // bytes of a cache line
constexpr double line_seconds = 4e-9;            // a line turned in registers and L1
constexpr double partial_line_seconds = 1.5e-9;  // more of one written in pieces: 32 x 64 x 3136 halves in blocks of 8
constexpr double part_row_seconds = 8e-9;    // more of a row read in pieces: 32 x 12544 pixels of 16 bytes, of 32 bytes
constexpr std::int64_t page = 4096;          // bytes of each row that a tile reads: rows of two tiles share no page
constexpr std::int64_t groups_per_unit = 8;  // at least, where the array is large enough: idle cores cost more

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"lines_in",
       0,
       {0, 1, 2, 4, 8, 16, 32, 64, 128},
       "lines",
       "tile along the input's rows; 0: a page, less for small elements and where cores would idle"},
      {"lines_out", 0, {0, 1, 2, 4, 8, 16}, "lines", "tile along the output's rows; 0: by element size"},
      {"order", 1, {0, 1}, "", "how groups walk: 0 along the input's rows, 1 down its columns"},
      {"run", 4, {0, 2, 4, 8, 16, 32}, "lines", "prefetched together of a row of the input, a run ahead; 0: none"},
      stream_tunable(),
  };
  return list;
}

// A tile is written in runs of two lines at least, and reads no more than 32 rows at a time where it can: so many the
// hardware prefetches. Measured on two cores of a Xeon (Emerald Rapids), tiles of 64 lines along i, runs of 4 or 8,
// share of a copy by both: f32 8192 x 8192 2 lines 0.89, 4 lines 0.87, 8 lines 0.76; u8 16384 x 16384 1 line 0.54, 2
// lines 0.61, 4 lines 0.58.
std::int64_t default_lines_out(std::int64_t element) {
  return element >= 8 ? 4 : 2;
}

// Lines of a tile along i, where there are `rows` rows of tiles, each `lines` lines long. The same machine, shares down
// the columns and along the rows, runs of 4: f32 8192 x 8192 8 lines 0.61 and 0.83, 32 lines 0.80 and 0.84, 128 lines
// 0.86 and 0.83, 64 lines down the columns 0.90; u8 16384 x 16384, runs of 8: 32 lines 0.62 and 0.51, 64 lines 0.62 and
// 0.58, 128 lines 0.53 and 0.56, 16 lines down the columns 0.55. Runs of 0, 4 and 8 lines: u8 0.39, 0.62, 0.58; u16
// 8192 x 8192 0.91, 1.26, 1.21; f32 0.84, 0.90, 0.87; c128 4096 x 4096 0.88, 0.93, 0.92.
std::int64_t default_lines_in(std::int64_t rows, std::int64_t lines, const DeviceInfo& device) {
  const std::int64_t wanted = groups_per_unit * std::max(1u, device.compute_units);
  std::int64_t tile = page / line;
  while (tile > 4 && rows * ceil_div(lines, tile) < wanted) tile /= 2;
  return tile;
}

Verdict consider(const MoveProblem& problem, const Configuration&, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  if (problem.in_place) return Verdict::refuse("not in place");
  if (device.kind != Kind::cpu) return Verdict::refuse("written for CPUs: one item a group, explicit 16-wide vectors");
  const std::optional<TileAxes> axes = tile_axes(move);
  if (!axes) return Verdict::refuse("no two different axes are contiguous, one in the input and one in the output");
  if (!guard_fits_tiles(move, *axes)) return Verdict::refuse("the tail of channels lies across the tiles");
  const core::MoveAxis& i = move.axes[static_cast<std::size_t>(axes->in)];
  const core::MoveAxis& o = move.axes[static_cast<std::size_t>(axes->out)];
  const std::int64_t side = line / move.element;
  const auto elements = static_cast<double>(move.count());
  const double others = elements / (static_cast<double>(i.extent) * static_cast<double>(o.extent));
  const double blocks = others * static_cast<double>(ceil_div(i.extent, side) * ceil_div(o.extent, side));
  const double partial = o.extent % side == 0 ? 0 : others * static_cast<double>(i.extent) * partial_line_seconds;
  const double parts = i.extent % side == 0 ? 0 : others * static_cast<double>(o.extent) * part_row_seconds;
  const double loop =
      (blocks * static_cast<double>(side) * line_seconds + partial + parts) / std::max(1u, device.compute_units);
  return Verdict::accept(std::max(transfer_seconds(2 * elements * static_cast<double>(move.element), device), loop));
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  const TileAxes axes = *tile_axes(move);
  const std::int64_t side = line / move.element;
  const core::MoveAxis& i = move.axes[static_cast<std::size_t>(axes.in)];
  const core::MoveAxis& o = move.axes[static_cast<std::size_t>(axes.out)];
  const std::int64_t lines_out = values.at("lines_out") == 0 ? default_lines_out(move.element) : values.at("lines_out");
  const std::int64_t rows = move.count() / (i.extent * o.extent) * ceil_div(o.extent, lines_out * side);
  const std::int64_t lines_in =
      values.at("lines_in") == 0 ? default_lines_in(rows, ceil_div(i.extent, side), device) : values.at("lines_in");
  Launch launch;
  launch.kernel = {"rearrange/block.kernel", "block", {}, 1, false};
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  write_tile_walk(move, axes, {lines_in * side, lines_out * side, values.at("order") == 1}, problem.index_bits, params,
                  defines);
  write_guard(
      move.guard, [&](int guarded) { return axes.has(guarded) ? -1 : guarded; }, params, defines);
  params.tile_i = lines_in * side;
  defines.set("LINES_O", lines_out).set("RUN", std::min(values.at("run"), lines_in));
  defines.set("ELEMENT", type_of_bytes(move.element)).set("ELEMENT_BYTES", move.element);
  defines.set("STREAM", streams(move, values) ? 1 : 0);
  launch.geometry.groups = static_cast<std::uint64_t>(params.work);
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
  return launch;
}

}  // namespace

MoveCandidate block_candidate() {
  return {{"block", "transposes by whole cache lines, turned in registers, on a CPU", tunables(), true, false},
          consider,
          lower};
}

}  // namespace axisloom::ops
