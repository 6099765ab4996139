// Variant "pixels": 2, 3, 4 or 8 interleaved lanes taken apart or put together through local memory. For GPUs.
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>
#include <array>

namespace axisloom::ops {
namespace {

constexpr std::int64_t max_pitch = 8;  // elements from pixel to pixel: so many packets stand in an item's registers
constexpr std::array<std::int64_t, 4> lane_counts = {2, 3, 4, 8};  // others are rare, and each is compiled anew
constexpr std::int64_t max_element = 4;                            // bytes: items pick elements out of words
constexpr std::int64_t packet = 16;                                // bytes

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items",
       0,
       {0, 64, 128, 256},
       "work-items",
       "group size; 0: 256, or 64 where that leaves a quarter less empty. Photos of three bytes a pixel on an H200: "
       "4123 "
       "GB/s with 256, 4163 with 128, 4159 with 64"},
  };
  return list;
}

struct Pixels {
  int lanes = 0;           // axis of 2, 3, 4 or 8 elements
  int along = 0;           // the axis from pixel to pixel
  std::int64_t pitch = 0;  // elements from pixel to pixel
  bool split = false;      // lanes lie together in the input (else in the output)
};

std::optional<Pixels> pixel_axes(const core::Move& move) {
  const int count = static_cast<int>(move.axes.size());
  for (int lanes = 0; lanes < count; ++lanes) {
    const core::MoveAxis& l = move.axes[static_cast<std::size_t>(lanes)];
    if (std::find(lane_counts.begin(), lane_counts.end(), l.extent) == lane_counts.end()) continue;
    for (int along = 0; along < count; ++along) {
      const core::MoveAxis& n = move.axes[static_cast<std::size_t>(along)];
      if (along == lanes) continue;
      if (l.in_stride == 1 && n.in_stride >= l.extent && n.in_stride <= max_pitch && n.out_stride == 1)
        return Pixels{lanes, along, n.in_stride, true};
      if (l.out_stride == 1 && n.out_stride == l.extent && n.in_stride == 1)
        return Pixels{lanes, along, n.out_stride, false};
    }
  }
  return std::nullopt;
}

/// Blocks of channels keep their tail among the lanes, filled where they are put together and skipped where not.
bool guard_fits(const core::Move& move, const Pixels& pixels) {
  return !move.guard ||
         (move.guard->inner == pixels.lanes && move.guard->outer != pixels.along && move.guard->fill != pixels.split);
}

/// Whether pixels and lanes begin with a packet everywhere.
bool in_packets(core::Move move, const Pixels& pixels) {
  const auto aligned = [&](bool output) {
    return core::proven_alignment(move, output, pixels.along, packet) == packet;
  };
  const bool lanes_are = aligned(pixels.split);
  move.axes[static_cast<std::size_t>(pixels.lanes)].extent = 1;
  return lanes_are && aligned(!pixels.split);
}

std::int64_t items_of(const core::Move& move, const Pixels& pixels, const Configuration& values) {
  if (const std::int64_t items = values.at("items"); items > 0) return items;
  const std::int64_t extent = move.axes[static_cast<std::size_t>(pixels.along)].extent;
  const auto taken = [&](std::int64_t items) {
    const std::int64_t segment = items * packet / move.element;
    return ceil_div(extent, segment) * segment;
  };
  return 4 * taken(64) <= 3 * taken(256) ? 64 : 256;
}

/// As PLACE of the kernel lays packets out: those of an even pitch with a gap after each eighth.
std::int64_t local_bytes(const Pixels& pixels, std::int64_t items) {
  const std::int64_t last = pixels.pitch * items - 1;
  return packet * (pixels.pitch % 2 == 0 ? last + last / 8 + 1 : last + 1);
}

Verdict consider(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  if (problem.in_place) return Verdict::refuse("not in place");
  if (move.element > max_element)
    return Verdict::refuse("elements of more than " + std::to_string(max_element) + " bytes need no picking");
  const std::optional<Pixels> pixels = pixel_axes(move);
  if (!pixels) return Verdict::refuse("no axis of 2, 3, 4 or 8 elements lies interleaved on one side");
  if (!guard_fits(move, *pixels)) return Verdict::refuse("the tail of channels lies across the lanes");
  if (!in_packets(move, *pixels))
    return Verdict::refuse("pixels or lanes do not begin at a multiple of " + std::to_string(packet) + " bytes");
  const core::MoveAxis& along = move.axes[static_cast<std::size_t>(pixels->along)];
  const std::int64_t items = items_of(move, *pixels, values);
  if (std::string beyond = beyond_limits(device, items, local_bytes(*pixels, items)); !beyond.empty())
    return Verdict::refuse(std::move(beyond));
  const std::int64_t segment = items * packet / move.element;
  const double empty =
      static_cast<double>(ceil_div(along.extent, segment) * segment) / static_cast<double>(along.extent);
  const double gaps = static_cast<double>(pixels->pitch) /
                      static_cast<double>(move.axes[static_cast<std::size_t>(pixels->lanes)].extent);
  // Items without a pixel cost half of what the others do, compute units without a group all of it.
  const std::int64_t group = segment * move.axes[static_cast<std::size_t>(pixels->lanes)].extent;
  const double idle =
      std::max(1.0, device.compute_units * static_cast<double>(group) / static_cast<double>(move.count()));
  const double bytes = idle * static_cast<double>(move.count() * move.element) * (1 + gaps) * (1 + empty) / 2;
  return Verdict::accept(local_memory_seconds(move, bytes, device));
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo&) {
  const core::Move& move = problem.move;
  const Pixels pixels = *pixel_axes(move);
  const core::MoveAxis lanes = move.axes[static_cast<std::size_t>(pixels.lanes)];
  const core::MoveAxis along = move.axes[static_cast<std::size_t>(pixels.along)];
  const std::int64_t items = items_of(move, pixels, values), segment = items * packet / move.element;
  Launch launch;
  launch.kernel = {"rearrange/pixels.kernel", "pixels", {}, static_cast<unsigned>(items), false};
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  std::vector<core::MoveAxis> walked = axes_without(move, pixels.lanes, pixels.along);
  walked.push_back({ceil_div(along.extent, segment), segment * along.in_stride, segment * along.out_stride});
  write_walk(walked, move.guard ? 1 : 0, Ranks::coarse, problem.index_bits, params, defines);
  write_guard_params(move, problem.index_bits, params);
  params.extent_i = along.extent;
  params.in_stride_o = lanes.in_stride;
  params.out_stride_o = lanes.out_stride;
  defines.set("PITCH", pixels.pitch).set("LANES", lanes.extent).set("SPLIT", pixels.split ? 1 : 0);
  defines.set("ELEMENT", type_of_bytes(move.element)).set("ELEMENT_BYTES", move.element);
  launch.geometry.items = static_cast<unsigned>(items);
  launch.geometry.groups = static_cast<std::uint64_t>(params.work);
  launch.geometry.local_bytes = static_cast<std::size_t>(local_bytes(pixels, items));
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
  return launch;
}

}  // namespace

MoveCandidate pixels_candidate() {
  return {{"pixels", "2, 3, 4 or 8 interleaved lanes (pixels, blocks of channels) through local memory on a GPU",
           tunables(), true, true},
          consider,
          lower};
}

}  // namespace axisloom::ops
