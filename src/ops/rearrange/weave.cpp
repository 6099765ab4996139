// Variant "weave": few interleaved lanes taken apart or put together. For CPUs.
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

constexpr std::int64_t share_bytes = 128 << 10;
constexpr std::int64_t max_pixel = 32;  // bytes of a pixel that vectors sort: so many of them stand in registers
constexpr std::int64_t max_lanes = 4;   // that are taken one by one
// Of a core: bytes in pixels of 16 and 32 on a Xeon took 0.018 to 0.026 ns, and 0.041 to 0.049 ns.
constexpr double split_seconds = 0.02e-9;    // an element of a pixel's, and a step that sorts it apart
constexpr double join_seconds = 0.045e-9;    // and together
constexpr double element_seconds = 0.25e-9;  // one element by itself

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"segment",
       2048,
       {256, 512, 1024, 2048, 4096},
       "pixels",
       "run of the long axis that stays in the first-level cache"},
      stream_tunable(),
  };
  return list;
}

struct Weave {
  int lanes = 0;           // the axis that lies interleaved
  int along = 0;           // the axis from pixel to pixel
  std::int64_t pitch = 0;  // elements from pixel to pixel
  bool split = false;      // lanes lie together in the input (else in the output)
  int steps = 0;           // log2 of a pitch that vectors sort, else 0

  bool thirds(std::int64_t element) const { return split && pitch == 3 && element <= 8; }
};

std::optional<Weave> weave_axes(const core::Move& move) {
  const auto taken = [&](int lanes, int along, std::int64_t pitch, bool split) -> std::optional<Weave> {
    const std::int64_t extent = move.axes[static_cast<std::size_t>(lanes)].extent;
    const auto power = static_cast<std::uint64_t>(pitch);
    if (std::has_single_bit(power) && move.element <= 8 && pitch * move.element <= max_pixel)
      return Weave{lanes, along, pitch, split, std::countr_zero(power)};
    if (pitch == extent && extent <= max_lanes && !move.guard) return Weave{lanes, along, pitch, split, 0};
    return std::nullopt;
  };
  const int count = static_cast<int>(move.axes.size());
  for (int lanes = 0; lanes < count; ++lanes) {
    const core::MoveAxis& l = move.axes[static_cast<std::size_t>(lanes)];
    if (l.extent < 2) continue;
    for (int along = 0; along < count; ++along) {
      const core::MoveAxis& n = move.axes[static_cast<std::size_t>(along)];
      if (along == lanes) continue;
      std::optional<Weave> weave;
      if (l.in_stride == 1 && n.in_stride >= l.extent && n.out_stride == 1)
        weave = taken(lanes, along, n.in_stride, true);
      else if (l.out_stride == 1 && n.out_stride == l.extent && n.in_stride == 1)
        weave = taken(lanes, along, n.out_stride, false);
      if (weave) return weave;
    }
  }
  return std::nullopt;
}

/// Blocks of channels keep their tail among the lanes, filled where they are put together and skipped where not.
bool guard_fits(const core::Move& move, const Weave& weave) {
  return !move.guard ||
         (move.guard->inner == weave.lanes && move.guard->outer != weave.along && move.guard->fill != weave.split);
}

Verdict consider(const MoveProblem& problem, const Configuration&, const DeviceInfo& device) {
  const core::Move& move = problem.move;
  if (problem.in_place) return Verdict::refuse("not in place");
  if (device.kind != Kind::cpu) return Verdict::refuse("written for CPUs: one item a group");
  const std::optional<Weave> weave = weave_axes(move);
  if (!weave) return Verdict::refuse("no axis of few elements lies interleaved on one side");
  if (!guard_fits(move, *weave)) return Verdict::refuse("the tail of channels lies across the lanes");
  const core::MoveAxis& lanes = move.axes[static_cast<std::size_t>(weave->lanes)];
  const core::MoveAxis& along = move.axes[static_cast<std::size_t>(weave->along)];
  const auto elements = static_cast<double>(move.count());
  const double gaps = static_cast<double>(weave->pitch) / static_cast<double>(lanes.extent);
  const std::int64_t width = 64 / move.element, single = weave->steps > 0 ? along.extent % width : 0;
  const double alone = static_cast<double>(single) / static_cast<double>(along.extent);
  // Few lanes of many need few of the later steps.
  const int steps = std::min<int>(weave->steps, std::bit_width(static_cast<std::uint64_t>(lanes.extent - 1)) + 1);
  const double sorted =
      weave->steps > 0 ? gaps * steps * (weave->split ? split_seconds : join_seconds) : element_seconds;
  const double loop = elements * (alone * element_seconds + (1 - alone) * sorted) / std::max(1u, device.compute_units);
  return Verdict::accept(
      std::max(transfer_seconds((1 + gaps) * elements * static_cast<double>(move.element), device), loop));
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
  write_walk(walked, move.guard ? 1 : 0, Ranks::fine, problem.index_bits, params, defines);
  write_guard_params(move, problem.index_bits, params);
  params.extent_i = along.extent;
  params.extent_o = lanes.extent;
  params.in_stride_o = lanes.in_stride;
  params.out_stride_o = lanes.out_stride;
  share_out(share_bytes, segment * weave.pitch * move.element, params, launch.geometry);
  // Few lanes of many leave out most of the sorting, but each number of them would be compiled anew.
  const auto most = static_cast<std::int64_t>(std::bit_ceil(static_cast<std::uint64_t>(lanes.extent)));
  defines.set("SEGMENT", segment).set("PITCH", weave.pitch).set("SPLIT", weave.split ? 1 : 0);
  defines.set("LANES", std::min(most, weave.pitch)).set("HALVES_STEPS", weave.steps);
  defines.set("STREAM", streams(move, values) ? 1 : 0).set("THIRDS", weave.thirds(move.element) ? 1 : 0);
  defines.set("ELEMENT", type_of_bytes(move.element)).set("ELEMENT_BYTES", move.element);
  launch.params = params_bytes(params);
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
  return launch;
}

}  // namespace

MoveCandidate weave_candidate() {
  return {{"weave", "few interleaved lanes (pixels, blocks of channels, complex numbers) on a CPU", tunables(), true,
           false},
          consider,
          lower};
}

}  // namespace axisloom::ops
