// Variant "plain": one element at a time, any strides. The last resort, and the yardstick.
#include "ops/rearrange/plain.hpp"
#include "ops/rearrange/cost.hpp"
#include "ops/rearrange/params.hpp"
#include "ops/rearrange/variants.hpp"

#include <algorithm>
#include <cstdlib>

namespace axisloom::ops {
namespace {

constexpr std::int64_t share_bytes =
    128 << 10;  // a CPU group's work: long against a group's start, short against a core's share

// Time for one element in a strided CPU loop that the compiler cannot vectorise (one load and one store).
constexpr double cpu_element_seconds = 0.8e-9;
// More of one whose neighbours lie on other lines: 2049 x 2049 elements of 16 bytes transposed by two cores take 6 ms.
constexpr double cpu_line_seconds = 2.1e-9;

// What the items of a compute unit have in reach between two visits of one segment.
constexpr double gpu_cache_bytes = 16 << 10;
constexpr double cpu_cache_bytes = 256 << 10;

// Share of a GPU's bandwidth that items with four elements in flight reach: three channels from first to last move 797
// GB/s as i8 and 1574 as f16 on an H200.
double gpu_efficiency(std::int64_t element) {
  return element == 1 ? 0.25 : element == 2 ? 0.43 : access_efficiency(element);
}

enum Order : std::int64_t { output_order = 0, input_order = 1 };

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items", 256, {32, 64, 128, 256, 512, 1024}, "work-items", "group size on GPUs; a CPU group is one item"},
      {"in_flight", 4, {1, 2, 4, 8}, "elements", "loads that an item issues before its first store"},
      {"segment", 1024, {64, 256, 1024, 4096}, "elements", "longest run that a CPU item takes at a time"},
      {"order",
       output_order,
       {output_order, input_order},
       "",
       "neighbouring items take neighbours 0 of the output, so that stores coalesce; 1 of the input, so that loads do"},
  };
  return list;
}

/// The move with its axes in the order in which it is walked, the fastest last.
core::Move walked(core::Move move, const Configuration& values) {
  if (values.at("order") == output_order) return move;
  // An axis along which one element is repeated is walked slowest: its neighbours have nothing to coalesce.
  std::stable_sort(move.axes.begin(), move.axes.end(), [](const core::MoveAxis& a, const core::MoveAxis& b) {
    if (a.in_stride == 0 || b.in_stride == 0) return a.in_stride == 0 && b.in_stride != 0;
    return std::abs(a.in_stride) > std::abs(b.in_stride);
  });
  return move;
}

Verdict consider(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (problem.in_place) return Verdict::refuse("reads elements that it has already overwritten in place");
  if (problem.move.guard && values.at("order") == input_order)
    return Verdict::refuse("a tail of channels is walked in the output's order only");
  return Verdict::accept(element_seconds(walked(problem.move, values), device));
}

// One item per element, several elements per item: the GPU's side of the kernel.
Launch lower_flat(const core::Move& move, const MoveProblem& problem, const Configuration& values) {
  Launch launch;
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  const int leading = leading_axes(move);
  const int padding = write_walk(move.axes, leading, Ranks::fine, problem.index_bits, params, defines);
  const auto place = [=](int guarded) { return guarded < leading ? guarded : guarded + padding; };
  write_guard(move.guard, place, params, defines);
  const std::int64_t items = values.at("items"), in_flight = values.at("in_flight");
  defines.set("IN_FLIGHT", in_flight);
  launch.geometry.items = static_cast<unsigned>(items);
  launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(params.work, items * in_flight));
  launch.params = params_bytes(params);
  return launch;
}

// One item per run of segments: the CPU's side.
Launch lower_segments(const core::Move& move, const MoveProblem& problem, const Configuration& values) {
  Launch launch;
  jit::Defines& defines = launch.kernel.defines;
  MoveParams params{};
  const SegmentWalk walk = write_segment_walk(move, values.at("segment"), problem.index_bits, params, defines);
  share_out(share_bytes, walk.segment * move.element, params, launch.geometry);
  launch.params = params_bytes(params);
  return launch;
}

Launch lower(const MoveProblem& problem, const Configuration& values, const DeviceInfo& device) {
  return lower_elements(walked(problem.move, values), problem, values, device);
}

}  // namespace

double element_seconds(const core::Move& move, const DeviceInfo& device) {
  const auto elements = static_cast<double>(move.count());
  if (move.axes.empty()) return transfer_seconds(0, device);
  const bool gpu = device.kind == Kind::gpu;
  const std::int64_t segment = gpu ? gpu_segment : cpu_segment;
  const double cache = gpu ? gpu_cache_bytes : cpu_cache_bytes;
  const double far = gpu ? static_cast<double>(device.last_level_cache) / 4 : 0;
  const double bytes = strided_bytes(move, false, segment, cache, far) + strided_bytes(move, true, segment, cache, far);
  const double seconds = transfer_seconds(bytes, device);
  if (gpu) return seconds / gpu_efficiency(move.element);
  const core::MoveAxis& fastest = move.axes.back();
  const std::int64_t step = std::max(std::abs(fastest.in_stride), std::abs(fastest.out_stride)) * move.element;
  const double each = cpu_element_seconds + (step > segment ? cpu_line_seconds : 0);
  return std::max(seconds, elements * each / std::max(1u, device.compute_units));
}

Launch lower_elements(const core::Move& move, const MoveProblem& problem, const Configuration& values,
                      const DeviceInfo& device) {
  Launch launch = device.kind == Kind::cpu ? lower_segments(move, problem, values) : lower_flat(move, problem, values);
  launch.kernel.file = "rearrange/plain.kernel";
  launch.kernel.kernel = "plain";
  launch.kernel.items = launch.geometry.items;
  launch.kernel.defines.set("ELEMENT", type_of_bytes(move.element));
  launch.kernel.defines.set("ZERO", move.element == 16 ? "make_u32x4(0, 0, 0, 0)" : "0");
  launch.buffers = {{0, move.in_offset, move.element}, {1, move.out_offset, move.element}};
  return launch;
}

MoveCandidate plain_candidate() {
  return {{"plain", "one element at a time, any strides", tunables(), true, true}, consider, lower};
}

}  // namespace axisloom::ops
