// Variant "strip": the fastest axis is kept; rows are copied line by line. For CPUs.
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr std::int64_t share_bytes = 256 << 10;  // a group's work: long against its start, short against a core's share
constexpr double row_seconds = 6e-9;             // finding a row's place by division, and its first and last bytes

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"segment", 16384, {4096, 16384, 65536}, "bytes", "longest run that an item takes at a time"},
      stream_tunable(),
  };
  return list;
}

// The move counted in bytes: elements of 1 byte along a longer fastest axis.
core::Move in_bytes(const core::Move& move) {
  core::Move bytes = move;
  for (core::MoveAxis& axis : bytes.axes) {
    axis.in_stride *= move.element;
    axis.out_stride *= move.element;
  }
  bytes.axes.back() = {move.axes.back().extent * move.element, 1, 1};
  bytes.in_offset *= move.element;
  bytes.out_offset *= move.element;
  if (bytes.guard && bytes.guard->inner == static_cast<int>(bytes.axes.size()) - 1) bytes.guard->count *= move.element;
  bytes.element = 1;
  return bytes;
}

Verdict consider(const MoveProblem& problem, const Configuration&, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  if (problem.in_place) return Verdict::refuse("not in place");
  if (device.kind != Kind::cpu) return Verdict::refuse("written for CPUs: one item a group");
  if (move.axes.empty() || move.axes.back().in_stride != 1 || move.axes.back().out_stride != 1)
    return Verdict::refuse("the fastest axis of the output is not contiguous in the input");
  const auto run = static_cast<double>(move.axes.back().extent);
  const auto elements = static_cast<double>(move.count());
  const double bytes = 2 * segment_bytes(elements, run, 1, move.element, cpu_segment);
  const double rows = elements / run * row_seconds / std::max(1u, device.compute_units);
  return Verdict::accept(std::max(transfer_seconds(bytes, device), rows));
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo&) {
  const core::Move move = in_bytes(problem.move);
  const int index_bits = core::fits_32_bits(move) ? problem.index_bits : 64;
  Launch launch;
  launch.kernel = {"rearrange/strip.kernel", "strip", {}, 1, false};
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  const SegmentWalk walk = write_segment_walk(move, values.at("segment"), index_bits, params, defines);
  share_out(share_bytes, walk.segment, params, launch.geometry);
  defines.set("STREAM", streams(problem.move, values) ? 1 : 0);
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, 1}, {1, move.out_offset, 1}};
  return launch;
}

}  // namespace

MoveCandidate strip_candidate() {
  return {{"strip", "whole rows by cache lines on a CPU, where the fastest axis is kept", tunables(), true, false},
          consider,
          lower};
}

}  // namespace axisloom::ops
