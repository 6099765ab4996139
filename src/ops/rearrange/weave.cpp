// Variant "weave": 2 to 4 interleaved lanes taken apart or put together. For CPUs.
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr std::int64_t share_bytes = 128 << 10;
constexpr std::int64_t max_lanes = 4;        // beyond, the shuffles cost more than lines turned in registers (block)
constexpr double element_seconds = 0.25e-9;  // one element through vector shuffles

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"segment",
       2048,
       {256, 512, 1024, 2048, 4096},
       "pixels",
       "run of the long axis that stays in the first-level cache"},
  };
  return list;
}

struct Weave {
  int lanes = 0;       // axis of 2 to 4 elements
  int along = 0;       // the long axis
  bool split = false;  // lanes lie together in the input (else in the output)
};

std::optional<Weave> weave_axes(const core::Move& move) {
  const int count = static_cast<int>(move.axes.size());
  for (int lanes = 0; lanes < count; ++lanes) {
    const core::MoveAxis& l = move.axes[static_cast<std::size_t>(lanes)];
    if (l.extent < 2 || l.extent > max_lanes) continue;
    for (int along = 0; along < count; ++along) {
      const core::MoveAxis& n = move.axes[static_cast<std::size_t>(along)];
      if (along == lanes) continue;
      if (l.in_stride == 1 && n.in_stride == l.extent && n.out_stride == 1) return Weave{lanes, along, true};
      if (l.out_stride == 1 && n.out_stride == l.extent && n.in_stride == 1) return Weave{lanes, along, false};
    }
  }
  return std::nullopt;
}

Verdict consider(const MoveProblem& problem, const Configuration&, const DeviceInfo& device) {
  if (problem.in_place) return Verdict::refuse("not in place");
  if (device.kind != Kind::cpu) return Verdict::refuse("written for CPUs: one item a group");
  if (problem.move.guard) return Verdict::refuse("blocks of channels with a tail");
  if (!weave_axes(problem.move)) return Verdict::refuse("no axis of 2 to 4 elements lies interleaved on one side");
  const auto elements = static_cast<double>(problem.move.count());
  const double loop = elements * element_seconds / std::max(1u, device.compute_units);
  return Verdict::accept(
      std::max(transfer_seconds(2 * elements * static_cast<double>(problem.move.element), device), loop));
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo&) {
  const core::Move& move = problem.move;
  const Weave weave = *weave_axes(move);
  const core::MoveAxis lanes = move.axes[static_cast<std::size_t>(weave.lanes)];
  const core::MoveAxis along = move.axes[static_cast<std::size_t>(weave.along)];
  const std::int64_t segment = values.at("segment");
  Launch launch;
  launch.kernel = {"rearrange/weave.kernel", "weave", {}, 1, false};
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  std::vector<core::MoveAxis> walked = axes_without(move, weave.lanes, weave.along);
  walked.push_back({ceil_div(along.extent, segment), segment * along.in_stride, segment * along.out_stride});
  write_walk(walked, 0, Ranks::fine, problem.index_bits, params, defines);
  write_guard({}, {}, params, defines);
  params.extent_i = along.extent;
  params.in_stride_o = lanes.in_stride;
  params.out_stride_o = lanes.out_stride;
  share_out(share_bytes, segment * lanes.extent * move.element, params, launch.geometry);
  defines.set("SEGMENT", segment).set("LANES", lanes.extent).set("SPLIT", weave.split ? 1 : 0);
  defines.set("ELEMENT", type_of_bytes(move.element)).set("ELEMENT_BYTES", move.element);
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
  return launch;
}

}  // namespace

MoveCandidate weave_candidate() {
  return {{"weave", "2 to 4 interleaved lanes (pixels, complex numbers) on a CPU", tunables(), true, false},
          consider,
          lower};
}

}  // namespace axisloom::ops
