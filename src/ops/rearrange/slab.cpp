// Variant "slab": permutations of many short axes through local memory, coalesced on both sides. For GPUs.
#include "ops/rearrange/slab_shape.hpp"

#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

#include "ops/rearrange/slab.params.h"
static_assert(most_slab_axes == SLAB_AXES);
static_assert(arguments_fit(sizeof(SlabParams), 2));

constexpr std::int64_t long_row = 128;  // bytes that coalesce without a detour

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"slab",
       16384,
       {4096, 8192, 16384, 32768},
       "bytes",
       "largest slab; an eighth more of local memory is set aside for padding"},
      {"items", 256, {64, 128, 256, 512}, "work-items", "group size"},
      {"in_flight",
       0,
       {0, 8, 16, 32, 64},
       "bytes",
       "that an item asks for before it waits for the first; at least one access; 0: 32, or 16 where words are put "
       "together from smaller elements (1566 against 1253 GB/s on an H200)"},
      {"resident",
       1536,
       {0, 768, 1024, 1280, 1536, 2048},
       "work-items",
       "of a compute unit, to which registers are fitted; 0: the compiler's own, which waits for the first load "
       "sooner"},
      {"access", 4, {1, 2, 4}, "bytes", "of an access to smaller elements, where runs begin and end with it"},
  };
  return list;
}

/// Bytes of local memory: the slab with its padding; then an offset for each run of the input, and an offset and a
/// place for each of the output.
std::int64_t slab_bytes(const Configuration& values) {
  return values.at("slab") * 9 / 8;
}
std::int64_t local_bytes(const Configuration& values, int index_bits) {
  return slab_bytes(values) + most_slab_runs * 3 * index_bits / 8;
}

bool keeps_fastest_axis(const core::Move& move) {
  return !move.axes.empty() && move.axes.back().in_stride == 1 && move.axes.back().out_stride == 1;
}

/// A fastest axis that is kept makes larger elements.
core::Move widened(const core::Move& move) {
  if (!keeps_fastest_axis(move)) return move;
  core::Move wide = in_packets(move, packet_bytes(move, 16));
  std::erase_if(wide.axes, [](const core::MoveAxis& axis) { return axis.extent == 1; });
  return wide;
}

/// Small arrays are cut finer, so that each compute unit has a few slabs.
std::optional<Slab> chosen_slab(const core::Move& move, const Configuration& values, const DeviceInfo& device) {
  const std::int64_t share = move.count() * move.element / std::max(1u, 4 * device.compute_units);
  const std::int64_t largest = values.at("slab");
  return slab_of(move, std::clamp<std::int64_t>(share, largest / 8, largest), values.at("access"), values.at("items"),
                 values.at("in_flight"));
}

/// What groups walk, slowest first: axes that slabs are one index of, then slabs along the two that are cut.
std::vector<core::MoveAxis> walk_of(const core::Move& move, const Slab& slab) {
  std::vector<core::MoveAxis> walked;
  for (std::size_t d = 0; d < move.axes.size(); ++d)
    if (slab.block[d] == 1) walked.push_back(move.axes[d]);
  const auto slabs_along = [&](int axis) {
    if (axis < 0) return core::MoveAxis{};
    const core::MoveAxis& cut = move.axes[static_cast<std::size_t>(axis)];
    const std::int64_t block = slab.block[static_cast<std::size_t>(axis)];
    return core::MoveAxis{ceil_div(cut.extent, block), block * cut.in_stride, block * cut.out_stride};
  };
  walked.push_back(slabs_along(slab.cut_in));
  walked.push_back(slabs_along(slab.cut_out == slab.cut_in ? -1 : slab.cut_out));
  return walked;
}

Verdict consider(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (problem.in_place) return Verdict::refuse("not in place");
  if (problem.move.guard) return Verdict::refuse("takes no tail of channels");
  if (keeps_fastest_axis(problem.move) && problem.move.axes.back().extent * problem.move.element >= long_row)
    return Verdict::refuse("rows of " + std::to_string(long_row) + " bytes and more are kept, and move as they are");
  const core::Move move = widened(problem.move);
  if (std::string beyond = beyond_limits(device, values.at("items"), local_bytes(values, problem.index_bits));
      !beyond.empty())
    return Verdict::refuse(std::move(beyond));
  const std::optional<Slab> slab = chosen_slab(move, values, device);
  if (!slab) return Verdict::refuse("no axis is contiguous in the input, or none in the output");
  if (walk_of(move, *slab).size() > MOVE_AXES) return Verdict::refuse("more axes than a walk takes");
  const double bytes = 2 * static_cast<double>(move.count() * move.element) * slab->cost;
  return Verdict::accept(local_memory_seconds(move, bytes, device));
}

/// Divides numbers below 2^16 by an extent from 2 to 2^16, as the upper half of the product.
u32 multiplier_of(std::int64_t extent) {
  constexpr std::uint64_t whole = std::uint64_t{1} << 32;
  const auto divisor = static_cast<std::uint64_t>(extent);
  return static_cast<u32>((whole + divisor - 1) / divisor);
}

/// One kind of the slab's axes, as the kernel takes its digits.
void write_digits(const Slab& slab, const std::vector<int>& axes, u32* extent, u32* multiplier) {
  for (std::size_t d = 0; d < SLAB_AXES; ++d) {
    const std::int64_t block = d < axes.size() ? slab.block[static_cast<std::size_t>(axes[d])] : 1;
    extent[d] = static_cast<u32>(block);
    multiplier[d] = block == 1 ? 0 : multiplier_of(block);
  }
}

void write_runs(const core::Move& move, const Slab& slab, std::int64_t items, SlabParams& params) {
  const auto number = [](std::int64_t value) { return static_cast<u32>(value); };
  write_digits(slab, slab.in_runs, params.in_runs_extent, params.in_runs_multiplier);
  write_digits(slab, slab.out_runs, params.out_runs_extent, params.out_runs_multiplier);
  write_digits(slab, slab.out_run, params.out_run_extent, params.out_run_multiplier);
  for (std::size_t d = 0; d < slab.in_runs.size(); ++d)
    params.in_runs_stride[d] = move.axes[static_cast<std::size_t>(slab.in_runs[d])].in_stride;
  for (std::size_t d = 0; d < slab.out_runs.size(); ++d)
    params.out_runs_stride[d] = move.axes[static_cast<std::size_t>(slab.out_runs[d])].out_stride;
  params.in_runs = number(slab.product(slab.in_runs));
  params.out_runs = number(slab.product(slab.out_runs));
  params.in_width = number(slab_width(slab.product(slab.in_run) / slab.vector, items));
  params.out_width = number(slab_width(slab.product(slab.out_run) / slab.vector, items));
  params.in_width_divider = multiplier_of(params.in_width);
  params.out_width_divider = multiplier_of(params.out_width);
}

void write_places(const Slab& slab, const SlabPadding& padding, SlabParams& params) {
  for (std::size_t d = 0; d < slab.out_runs.size(); ++d)
    params.out_runs_place[d] = static_cast<u32>(slab_place(slab, padding, slab.out_runs[d]));
  for (std::size_t d = 0; d < slab.out_run.size(); ++d)
    params.out_run_place[d] = static_cast<u32>(slab_place(slab, padding, slab.out_run[d]));
  params.pitch = static_cast<u32>(padding.place(slab.product(slab.in_run)));
  params.pad = static_cast<u32>(padding.pad / slab.vector);
  params.turn = padding.turn ? 1 : 0;
  params.pad_divider = multiplier_of(padding.from / slab.vector);
}

/// How runs and their numbers shrink where a slab sticks out of the array.
void write_cuts(const core::Move& move, const Slab& slab, SlabParams& params) {
  const bool shared = slab.cut_in == slab.cut_out;  // the same for both: all runs are there, and both kinds are shorter
  const int i = slab.cut_in, o = shared ? -1 : slab.cut_out;
  const auto block = [&](int axis) { return axis < 0 ? 1 : slab.block[static_cast<std::size_t>(axis)]; };
  const auto extent = [&](int axis) { return axis < 0 ? 1 : move.axes[static_cast<std::size_t>(axis)].extent; };
  const auto per = [&](const std::vector<int>& axes, int axis) {
    return static_cast<u32>(slab.product(axes) / block(axis));
  };
  params.block_i = static_cast<u32>(block(i));
  params.last_i = static_cast<u32>((extent(i) - 1) % block(i) + 1);
  params.block_o = static_cast<u32>(block(o));
  params.last_o = static_cast<u32>((extent(o) - 1) % block(o) + 1);
  params.in_run_per_i = per(slab.in_run, i);
  params.in_runs_per_o = per(slab.in_runs, o);
  params.out_run_per_i = per(slab.out_run, shared ? i : -1);
  params.out_run_per_o = per(slab.out_run, o);
  params.out_runs_per_i = per(slab.out_runs, shared ? -1 : i);
}

/// Walked once a slab, so few ranks; the kernel takes its parameters in a structure of its own.
void write_slab_walk(const core::Move& move, const Slab& slab, int index_bits, SlabParams& params,
                     jit::Defines& defines) {
  const std::vector<core::MoveAxis> walked = walk_of(move, slab);
  MoveParams walk{};
  const int padding = write_walk(walked, 0, Ranks::coarse, index_bits, walk, defines, sizeof(SlabParams));
  const int last = padding + static_cast<int>(walked.size()) - 1;
  defines.set("AXIS_I", last - 1).set("AXIS_O", last);
  std::copy_n(walk.in_stride, MOVE_AXES, params.in_stride);
  std::copy_n(walk.out_stride, MOVE_AXES, params.out_stride);
  std::copy_n(walk.extent, MOVE_AXES, params.extent);
  std::copy_n(walk.multiplier, MOVE_AXES, params.multiplier);
  std::copy_n(walk.shift, MOVE_AXES, params.shift);
}

std::uint64_t slabs_in(const core::Move& move, const Slab& slab) {
  std::int64_t slabs = 1;
  for (std::size_t d = 0; d < move.axes.size(); ++d) slabs *= ceil_div(move.axes[d].extent, slab.block[d]);
  return static_cast<std::uint64_t>(slabs);
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const core::Move move = widened(problem.move);
  const Slab slab = *chosen_slab(move, values, device);
  const SlabPadding padding = slab_padding(slab, move.element, slab_bytes(values) / move.element);
  Launch launch;
  launch.kernel = {"rearrange/slab.kernel", "slab", {}, static_cast<unsigned>(values.at("items")), false};
  jit::Defines& defines = launch.kernel.defines;
  SlabParams params{};
  write_slab_walk(move, slab, problem.index_bits, params, defines);
  write_runs(move, slab, values.at("items"), params);
  write_places(slab, padding, params);
  write_cuts(move, slab, params);
  defines.set("SLAB_BYTES", slab_bytes(values));
  defines.set("IN_FLIGHT", slab_in_flight(slab, move.element, values.at("in_flight")));
  defines.set("MOST_RUNS", most_slab_runs);
  defines.set("VECTOR", slab.vector).set("ELEMENT", type_of_bytes(move.element));
  defines.set("ELEMENT_BYTES", move.element);
  launch.kernel.resident = static_cast<unsigned>(values.at("resident") / values.at("items"));
  launch.geometry.items = launch.kernel.items;
  launch.geometry.groups = slabs_in(move, slab);
  launch.geometry.local_bytes = static_cast<std::size_t>(local_bytes(values, problem.index_bits));
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
  return launch;
}

}  // namespace

MoveCandidate slab_candidate() {
  return {{"slab", "permutations of many short axes through local memory, in runs of several axes, on a GPU",
           tunables(), true, true},
          consider,
          lower};
}

}  // namespace axisloom::ops
