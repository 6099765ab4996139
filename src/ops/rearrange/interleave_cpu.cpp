// Variant "interleave_cpu": few interleaved lanes taken apart or put together. For CPUs.
#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

constexpr i64 group_bytes = 128 << 10;
constexpr i64 max_pixel = 32;  // bytes of a pixel that vectors sort: as many vectors are in registers
constexpr i64 max_lanes = 4;   // that are taken one by one
// Of a core: bytes in pixels of 16 and 32 took a Xeon 0.018 to 0.026 ns apart, and 0.041 to 0.049 ns together; an EPYC
// 9005 0.010, and 0.015 to 0.019; an EPYC 7003 0.010, and 0.034. The figures lie between: with 0.037 together the 9005
// took "block" for 8 lanes of 32, which is half as fast there.
constexpr double split_seconds = 0.015e-9;   // an element and a step that sorts it out of its pixel
constexpr double join_seconds = 0.03e-9;     // and a step that sorts it into its pixel
constexpr double byte_share = 0.5;           // of these, where elements are bytes, of which vectors hold more
constexpr double element_seconds = 0.22e-9;  // one element by itself
// A run of pixels, which a walk finds: two cores of an EPYC 9005 took 1.9 ms for 233 x 142 patches of 8 x 8 x 3 floats,
// 0.59 for 45 x 71 of 16 x 16 x 4 halves.
constexpr double run_seconds = 10e-9;
// Of both arrays, from which on lines are asked for before they are written: 32 images of 32 x 112 x 112 bytes took two
// cores of an EPYC 9005 0.24 ms as NHWC, and 0.32 without; in a cold cache 0.63, and 0.74.
constexpr i64 fetched_bytes = 3 << 20;

/// log2 of a pitch that vectors sort, else 0.
int sorting_steps(i64 pitch, i64 element) {
  const bool sorted = std::has_single_bit(u64(pitch)) && element <= 8 && pitch * element <= max_pixel;
  return sorted ? std::countr_zero(u64(pitch)) : 0;
}

/// Lanes that a kernel sorts: on the host those of the first block, of which there are elements. Others would be
/// compiled anew for each number of them.
i64 sorted_lanes(const Move& move, const Pixels& pixels, const DeviceModel& device) {
  const i64 lanes = move.axes[pixels.lanes].extent;
  return move.tail && device::is_host(device) ? std::min(lanes, move.tail->count) : lanes;
}

bool takes(const Move& move, const Pixels& pixels) {
  const i64 lanes = move.axes[pixels.lanes].extent;
  return sorting_steps(pixels.pitch, move.element) > 0 || (pixels.pitch == lanes && lanes <= max_lanes && !move.tail);
}

double predicted_seconds(const Move& move, const Pixels& pixels, const DeviceModel& device) {
  const i64 lanes = move.axes[pixels.lanes].extent, along = move.axes[pixels.along].extent;
  const double elements = move.count(), gaps = double(pixels.pitch) / lanes;
  const int all_steps = sorting_steps(pixels.pitch, move.element);
  const double scalar = all_steps > 0 ? double(along % (64 / move.element)) / along : 0;
  // Few lanes of many need few of the later steps.
  const int steps = std::min<int>(all_steps, std::bit_width(u64(sorted_lanes(move, pixels, device) - 1)) + 1);
  const double step_seconds = (pixels.split ? split_seconds : join_seconds) * (move.element == 1 ? byte_share : 1);
  const double sorted = all_steps > 0 ? gaps * steps * step_seconds : element_seconds;
  // Vectors are sorted as fast by a core whose scalar loops are slow.
  const double loop =
      device.on_cores(elements * scalar * element_seconds + elements / double(lanes * along) * run_seconds) +
      elements * (1 - scalar) * sorted / device.units();
  return std::max(transfer_seconds((1 + gaps) * elements * move.element, device), loop);
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Move& move = problem.move;
  const auto pixels = pixel_axes(move, takes);
  if (!pixels) return refuse("no short axis is interleaved on one side");
  if (!tail_fits_pixels(move, *pixels)) return refuse("the channel tail lies across the lanes");
  const i64 few = sorted_lanes(move, *pixels, device);
  // On the host alone, whose kernels take a flag at run time: others would be compiled once more for it.
  const bool fetches = device::is_host(device) && !pixels->split && problem.move.bytes_moved() > fetched_bytes;
  const Configuration values = with_stream(wish, device);
  const auto launches = [=, &problem, units = i64(device.units())] {
    const i64 segment = values.at("segment"), element = problem.move.element,
              lanes = problem.move.axes[pixels->lanes].extent;
    const bool stream = streams(problem.move, values);
    MoveLaunch launch("rearrange/interleave_cpu", problem);
    // Every step shows where there are many short rows: 512 images of 7 x 7 pixels of four floats take two cores of a
    // Xeon 0.024 ms, and 0.041 with two steps too many; 2048 of eight bytes an EPYC 9005 0.094, and 0.105. Pixels that
    // take longer have fewer kernels: of 16 bytes 0.17 ms on the Xeon and of eight floats 0.072 on the EPYC either way.
    constexpr i64 many_lanes = 16, long_pixel = 32;  // lanes, and bytes of a pixel
    const bool slow = pixels->pitch >= many_lanes || pixels->pitch * element >= long_pixel;
    launch.walk_pixels(*pixels, segment, slow ? Ranks::coarse : Ranks::fine);
    launch.params.lanes = lanes;
    launch.define_element()
        .set("SEGMENT", segment)
        .set("PITCH", pixels->pitch)
        .set("SPLIT", pixels->split)
        // Few lanes of many leave out most of the sorting.
        .set("LANES", std::min(i64(std::bit_ceil(u64(few))), pixels->pitch))
        .set("HALVES_STEPS", sorting_steps(pixels->pitch, element))
        .set("STREAM", stream)
        .set("FETCHES", fetches && !stream)
        .set("THIRDS", pixels->split && pixels->pitch == 3 && element <= 8);
    return launch.done(launch.split_into_groups(group_bytes, segment * pixels->pitch * element, units));
  };
  return {.seconds = predicted_seconds(move, *pixels, device), .configuration = values, .launches = launches};
}

}  // namespace

MoveCandidate interleave_cpu_move() {
  return {{.name = "interleave_cpu",
           .summary = "few interleaved lanes (pixels, blocks of channels, complex numbers) on a CPU",
           .tunables =
               {
                   {"segment", 2048, doublings(256, 4096), "pixels",
                    "run of the long axis that stays in the first-level cache"},
                   stream_tunable(),
               },
           .runtimes = {Api::opencl, Api::host},
           .runs_on = cpus},
          propose};
}

}  // namespace axisloom::ops
