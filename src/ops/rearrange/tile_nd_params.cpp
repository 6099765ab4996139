// Writes tiles into the parameters of their kernels.
#include "ops/rearrange/tile_nd_params.hpp"

#include "core/integers.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

/// Divides numbers below 2^16 by an extent from 2 to 2^16, as the upper half of the product.
u32 multiplier_of(i64 extent) {
  return u32(ceil_div(i64{1} << 32, extent));
}

/// One kind of the tile's axes, as the kernel takes its digits.
void write_digits(const TileNd& tile, const std::vector<int>& axes, u32* extent, u32* multiplier) {
  std::fill_n(extent, TILE_ND_AXES, 1);
  for (size_t d = 0; d < axes.size(); ++d) {
    extent[d] = u32(tile.block[axes[d]]);
    multiplier[d] = multiplier_of(extent[d]);
  }
}

void write_runs(const Move& move, const TileNd& tile, i64 items, TileNdParams& params) {
  write_digits(tile, tile.in.runs, params.in_runs_extent, params.in_runs_multiplier);
  write_digits(tile, tile.out.runs, params.out_runs_extent, params.out_runs_multiplier);
  write_digits(tile, tile.out.run, params.out_run_extent, params.out_run_multiplier);
  std::ranges::transform(tile.in.runs, params.in_runs_stride, [&](int axis) { return move.axes[axis].in; });
  std::ranges::transform(tile.out.runs, params.out_runs_stride, [&](int axis) { return move.axes[axis].out; });
  params.in_runs = u32(tile.in.count);
  params.out_runs = u32(tile.out.count);
  params.in_width = u32(tile_nd_width(tile.in.run_length / tile.vector, items));
  params.out_width = u32(tile_nd_width(tile.out.run_length / tile.vector, items));
  params.in_width_divider = multiplier_of(params.in_width);
  params.out_width_divider = multiplier_of(params.out_width);
}

void write_places(const TileNd& tile, const TileNdPadding& padding, TileNdParams& params) {
  const auto place = [&](int axis) { return u32(tile_nd_place(tile, padding, axis)); };
  std::ranges::transform(tile.out.runs, params.out_runs_place, place);
  std::ranges::transform(tile.out.run, params.out_run_place, place);
  params.pitch = u32(padding.place(tile.in.run_length));
  params.pad = u32(padding.pad / tile.vector);
  params.rotate = padding.rotate ? 1 : 0;
  params.pad_divider = multiplier_of(padding.from / tile.vector);
}

/// How runs and their numbers shrink where a tile sticks out of the array.
template <class Params>
void write_cuts(const Move& move, const TileNd& tile, Params& params) {
  const bool shared = tile.in.cut == tile.out.cut;  // the same for both: all runs are there, and both kinds are shorter
  const int i = tile.in.cut, o = shared ? -1 : tile.out.cut;
  const auto block = [&](int axis) { return axis < 0 ? 1 : tile.block[axis]; };
  const auto extent = [&](int axis) { return axis < 0 ? 1 : move.axes[axis].extent; };
  const auto per = [&](i64 elements, int axis) { return u32(elements / block(axis)); };
  params.block_i = u32(block(i));
  params.last_i = u32((extent(i) - 1) % block(i) + 1);
  params.block_o = u32(block(o));
  params.last_o = u32((extent(o) - 1) % block(o) + 1);
  params.in_run_per_i = per(tile.in.run_length, i);
  params.in_runs_per_o = per(tile.in.count, o);
  params.out_run_per_i = per(tile.out.run_length, shared ? i : -1);
  params.out_run_per_o = per(tile.out.run_length, o);
  params.out_runs_per_i = per(tile.out.count, shared ? -1 : i);
}

/// What an index of each axis adds beyond all indices of the faster ones.
template <class T>
void write_jumps(const TileNd& tile, const std::vector<int>& axes, const auto& step, T* jump) {
  for (size_t d = 0; d < axes.size(); ++d)
    jump[d] = T(step(axes[d]) - (d == 0 ? 0 : tile.block[axes[d - 1]] * step(axes[d - 1])));
}

void write_dividers(const TileNd& tile, const std::vector<int>& axes, u32* multiplier) {
  for (size_t d = 1; d < axes.size(); ++d) multiplier[d] = multiplier_of(tile.block[axes[d - 1]]);
}

}  // namespace

Loops tile_nd_walk(const Move& move, const TileNd& tile) {
  Loops walked;
  for (size_t d = 0; d < move.axes.size(); ++d)
    if (tile.block[d] == 1) walked.push_back(move.axes[d]);
  for (const int axis : {tile.in.cut, tile.out.cut == tile.in.cut ? -1 : tile.out.cut})
    walked.push_back(axis < 0 ? Loop{} : over_blocks(move.axes[axis], tile.block[axis]));
  return walked;
}

TileNdParams tile_nd_params(const Move& move, const TileNd& tile, const TileNdPadding& padding, i64 items) {
  TileNdParams params{};
  write_runs(move, tile, items, params);
  write_places(tile, padding, params);
  write_cuts(move, tile, params);
  return params;
}

TileFlatParams tile_flat_params(const Move& move, const TileFlat& flat) {
  const TileNd& tile = flat.tile;
  TileFlatParams params{};
  const auto in = [&](int axis) { return move.axes[axis].in; };
  const auto out = [&](int axis) { return move.axes[axis].out; };
  const auto local = [&](int axis) { return flat.step[axis]; };
  write_jumps(tile, tile.in.runs, in, params.in_runs_jump);
  write_jumps(tile, tile.in.runs, local, params.in_runs_local);
  write_jumps(tile, tile.out.runs, out, params.out_runs_jump);
  write_jumps(tile, tile.out.runs, local, params.out_runs_local);
  write_jumps(tile, tile.out.run, local, params.out_run_jump);
  write_dividers(tile, tile.in.runs, params.in_runs_multiplier);
  write_dividers(tile, tile.out.runs, params.out_runs_multiplier);
  write_dividers(tile, tile.out.run, params.out_run_multiplier);
  params.in_runs_axes = u32(tile.in.runs.size());
  params.out_runs_axes = u32(tile.out.runs.size());
  const auto bounds = core::in_bounds(move);
  params.in_begin = bounds.low - move.in_offset;
  params.in_end = bounds.high - move.in_offset;
  const auto write_packets = [](i64 count, u32& packets, u32& divider) {
    packets = u32(count);
    if (count > 1) divider = multiplier_of(count);
  };
  write_packets(flat.in_packets, params.in_packets, params.in_packets_divider);
  write_packets(flat.out_packets, params.out_packets, params.out_packets_divider);
  params.out_runs = u32(tile.out.count);
  params.turn_shift = u32(flat.turn_shift);
  params.rotate_shift = u32(flat.rotate_shift);
  params.out_run_extent = u32(tile.block[tile.out.run.front()]);
  write_cuts(move, tile, params);
  return params;
}

}  // namespace axisloom::ops
