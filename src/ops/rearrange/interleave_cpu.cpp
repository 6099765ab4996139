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
// 9005 0.010, and 0.015 to 0.019; an EPYC 7003 0.010, and 0.034. The figures lie between, nearer to the slower ones.
constexpr double split_seconds = 0.015e-9;   // an element and a step that sorts it out of its pixel
constexpr double join_seconds = 0.037e-9;    // and a step that sorts it into its pixel
constexpr double element_seconds = 0.25e-9;  // one element by itself

const std::vector<Tunable>& tunables() {
  static const std::vector<Tunable> list = {
      {"segment",
       2048,
       {256, 512, 1024, 2048, 4096},
       "pixels",
       "run of the long axis that stays in the first-level cache"},
      stream_tunable(),
  };
  return list;
}

struct Interleaved {
  int lanes = 0;       // the axis that lies interleaved
  int along = 0;       // the axis from pixel to pixel
  i64 pitch = 0;       // elements from pixel to pixel
  bool split = false;  // lanes lie together in the input (else in the output)
  int steps = 0;       // log2 of a pitch that vectors sort, else 0

  bool thirds(i64 element) const { return split && pitch == 3 && element <= 8; }
};

std::optional<Interleaved> interleaved_axes(const core::Move& move) {
  const auto taken = [&](int lanes, int along, i64 pitch, bool split) -> std::optional<Interleaved> {
    const i64 extent = move.axes[lanes].extent;
    const auto power = u64(pitch);
    if (std::has_single_bit(power) && move.element <= 8 && pitch * move.element <= max_pixel)
      return Interleaved{lanes, along, pitch, split, std::countr_zero(power)};
    if (pitch == extent && extent <= max_lanes && !move.tail) return Interleaved{lanes, along, pitch, split, 0};
    return std::nullopt;
  };
  const int count = int(move.axes.size());
  for (int lanes = 0; lanes < count; ++lanes) {
    const core::Loop& l = move.axes[lanes];
    if (l.extent < 2) continue;
    for (int along = 0; along < count; ++along) {
      const core::Loop& n = move.axes[along];
      if (along == lanes) continue;
      std::optional<Interleaved> axes;
      if (l.in == 1 && n.in >= l.extent && n.out == 1)
        axes = taken(lanes, along, n.in, true);
      else if (l.out == 1 && n.out == l.extent && n.in == 1)
        axes = taken(lanes, along, n.out, false);
      if (axes) return axes;
    }
  }
  return std::nullopt;
}

/// Blocks of channels keep their tail among the lanes, filled where they are put together and skipped where not.
bool tail_fits(const core::Move& move, const Interleaved& axes) {
  return !move.tail ||
         (move.tail->inner == axes.lanes && move.tail->outer != axes.along && move.tail->fill != axes.split);
}

double predicted_seconds(const core::Move& move, const Interleaved& axes, const DeviceModel& device) {
  const core::Loop &lanes = move.axes[axes.lanes], &along = move.axes[axes.along];
  const double elements = double(move.count()), gaps = double(axes.pitch) / double(lanes.extent);
  const i64 width = 64 / move.element, single = axes.steps > 0 ? along.extent % width : 0;
  const double scalar = double(single) / double(along.extent);
  // Few lanes of many need few of the later steps.
  const int steps = std::min<int>(axes.steps, std::bit_width(u64(lanes.extent - 1)) + 1);
  const double sorted = axes.steps > 0 ? gaps * steps * (axes.split ? split_seconds : join_seconds) : element_seconds;
  // Vectors are sorted as fast by a core whose scalar loops are slow.
  const double loop =
      device.on_cores(elements * scalar * element_seconds) + elements * (1 - scalar) * sorted / device.units();
  return std::max(transfer_seconds((1 + gaps) * elements * double(move.element), device), loop);
}

Launches launch_interleave_cpu(const MoveProblem& problem, const Interleaved& axes, const Configuration& values) {
  const core::Move& move = problem.move;
  const core::Loop &lanes = move.axes[axes.lanes], &along = move.axes[axes.along];
  const i64 segment = values.at("segment");
  MoveLaunch launch("interleave_cpu", move);
  MoveParams& params = launch.params;
  core::Loops walked = core::without(move.axes, axes.lanes, axes.along);
  walked.push_back(core::over_blocks(along, segment));
  // Every step shows where there are many short rows: 512 images of 7 x 7 pixels of four floats take two cores of a
  // Xeon 0.024 ms, and 0.041 with two steps too many; 2048 of eight bytes an EPYC 9005 0.094, and 0.105. Pixels that
  // take longer have fewer kernels: of 16 bytes 0.17 ms on the Xeon and of eight floats 0.072 on the EPYC either way.
  constexpr i64 many_lanes = 16, long_pixel = 32;  // lanes, and bytes of a pixel
  const bool slow = axes.pitch >= many_lanes || axes.pitch * move.element >= long_pixel;
  const Ranks ranks = slow ? Ranks::coarse : Ranks::fine;
  write_walk(walked, move.tail ? 1 : 0, ranks, problem.index_bits, params, launch.defines());
  write_tail_params(move, problem.index_bits, params);
  params.extent_i = along.extent;
  params.lanes = lanes.extent;
  params.in_lane_stride = lanes.in;
  params.out_lane_stride = lanes.out;
  // Few lanes of many leave out most of the sorting, but each number of them would be compiled anew.
  const i64 most = i64(std::bit_ceil(u64(lanes.extent)));
  launch.defines().set("SEGMENT", segment).set("PITCH", axes.pitch).set("SPLIT", axes.split);
  launch.defines().set("LANES", std::min(most, axes.pitch)).set("HALVES_STEPS", axes.steps);
  launch.defines().set("STREAM", streams(move, values)).set("THIRDS", axes.thirds(move.element));
  launch.defines().set("ELEMENT", type_of_bytes(move.element)).set("ELEMENT_BYTES", move.element);
  return launch.done(split_into_groups(group_bytes, segment * axes.pitch * move.element, params));
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const std::optional<Interleaved> axes = interleaved_axes(problem.move);
  if (!axes) return refuse("no short axis is interleaved on one side");
  if (!tail_fits(problem.move, *axes)) return refuse("the channel tail lies across the lanes");
  return {.seconds = predicted_seconds(problem.move, *axes, device), .configuration = wish, .launches = [=, &problem] {
            return launch_interleave_cpu(problem, *axes, wish);
          }};
}

}  // namespace

MoveCandidate interleave_cpu_move() {
  return {{.name = "interleave_cpu",
           .summary = "few interleaved lanes (pixels, blocks of channels, complex numbers) on a CPU",
           .tunables = tunables(),
           .runtimes = {Api::opencl},
           .runs_on = cpus},
          propose};
}

}  // namespace axisloom::ops
