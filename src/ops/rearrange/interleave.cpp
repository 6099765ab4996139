// Variant "interleave": 2, 3, 4 or 8 interleaved lanes taken apart or put together through local memory. For GPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>
#include <array>

namespace axisloom::ops {
namespace {

constexpr i64 max_pitch = 8;  // elements from pixel to pixel: as many packets are in an item's registers
constexpr std::array<i64, 4> lane_counts = {2, 3, 4, 8};  // others are rare, and each is compiled anew
constexpr i64 max_element = 4;                            // bytes: items pick elements out of words
constexpr i64 packet = 16;                                // bytes

bool takes(const Move& move, const Pixels& pixels) {
  return core::contains(lane_counts, move.axes[pixels.lanes].extent) && pixels.pitch <= max_pitch;
}

/// Whether pixels and lanes begin with a packet everywhere.
bool in_packets(Move move, const Pixels& pixels) {
  const auto aligned = [&](bool output) { return proven_alignment(move, output, pixels.along, packet) == packet; };
  const bool lanes_are = aligned(pixels.split);
  move.axes[pixels.lanes].extent = 1;
  return lanes_are && aligned(!pixels.split);
}

i64 fitting_items(const Move& move, const Pixels& pixels) {
  const auto taken = [&](i64 items) {
    return in_blocks(move.axes[pixels.along].extent, items * packet / move.element);
  };
  return 4 * taken(64) <= 3 * taken(256) ? 64 : 256;
}

/// As PLACE of the kernel lays packets out: those of an even pitch with a gap after each eighth.
i64 local_bytes(const Pixels& pixels, i64 items) {
  const i64 last = pixels.pitch * items - 1;
  return packet * (pixels.pitch % 2 == 0 ? last + last / 8 + 1 : last + 1);
}

double predicted_seconds(const Move& move, const Pixels& pixels, i64 items, const DeviceModel& device) {
  const i64 lanes = move.axes[pixels.lanes].extent, along = move.axes[pixels.along].extent;
  const i64 segment = items * packet / move.element;
  const double empty = in_blocks(along, segment) / along, gaps = double(pixels.pitch) / lanes;
  // Items without a pixel cost little: f32 rows of 128, 200 and 320 pixels, where 256 find room, move at 0.96 to 0.98
  // of an H200's copy. Compute units without a group cost all of it.
  // Of two lanes they leave too little in flight: 16 x 64 x 128 x 128 floats shuffled by 2 take 47.5 us, copied 38.4.
  const double without_pixel = lanes == 2 ? 0.3 : 0.1;
  const double idle = std::max(1.0, device.units() * (segment * lanes) / move.count());
  const double bytes = idle * bytes_of(move) * (1 + gaps) * (1 + without_pixel * (empty - 1));
  return local_memory_seconds(move, bytes, device);
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  if (move.element > max_element)
    return refuse(concat("elements of more than ", max_element, " bytes gain nothing from it"));
  const auto pixels = pixel_axes(move, takes);
  if (!pixels) return refuse("no axis of 2, 3, 4 or 8 elements is interleaved on one side");
  if (!tail_fits_pixels(move, *pixels)) return refuse("the channel tail lies across the lanes");
  if (!in_packets(move, *pixels))
    return refuse(concat("pixels or lanes do not begin at a multiple of ", packet, " bytes"));
  const i64 items = value_or(wish, "items", fitting_items(move, *pixels));
  const Group group{items, local_bytes(*pixels, items)};
  Configuration values = wish;
  values["items"] = items;
  const auto launches = [=, &problem] {
    MoveLaunch launch("rearrange/interleave", problem, group);
    launch.walk_pixels(*pixels, items * packet / problem.move.element, Ranks::coarse);
    launch.define_element()
        .set("PITCH", pixels->pitch)
        .set("LANES", problem.move.axes[pixels->lanes].extent)
        .set("SPLIT", pixels->split);
    return launch.done();
  };
  return {.group = group,
          .seconds = predicted_seconds(move, *pixels, items, device),
          .configuration = values,
          .launches = launches};
}

}  // namespace

MoveCandidate interleave_move() {
  return {{.name = "interleave",
           .summary = "2, 3, 4 or 8 interleaved lanes (pixels, blocks of channels) through local memory on a GPU",
           .tunables =
               {
                   {"items",
                    0,
                    {0, 64, 128, 256},
                    "work-items",
                    "group size; 0: 256, or 64 where that leaves a quarter less empty. Photos of three bytes a pixel "
                    "on an H200: 4123 GB/s with 256, 4163 with 128, 4159 with 64"},
               }},
          propose};
}

}  // namespace axisloom::ops
