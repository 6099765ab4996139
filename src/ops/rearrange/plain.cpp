// Variant "plain": one element at a time, any strides. The last resort, and the baseline.
#include "ops/rearrange/plain.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/rearrange/params.hpp"

#include <algorithm>
#include <cstdlib>

namespace axisloom::ops {
namespace {

constexpr i64 group_bytes =
    128 << 10;  // a CPU group's work: long against a group's start, short against a core's share

// Time for one element in a strided CPU loop that the compiler cannot vectorise (one load and one store).
constexpr double cpu_element_seconds = 0.8e-9;
// More of one whose neighbours lie on other lines: 2049 x 2049 elements of 16 bytes transposed by two cores take 6 ms.
constexpr double cpu_line_seconds = 2.1e-9;

// Finding a segment's place by division: 307 200 runs of three bytes, shorter than a vector, take a core of an EPYC
// 9005 (Turin) 3.1 ms, of three doubles 3.0 ms.
constexpr double cpu_segment_seconds = 10e-9;

// A GPU forms places before it moves elements: operations on 32-bit integers for each axis of a walk, a division among
// them, and for an element. On an H200 elements of 1 to 4 bytes took 1.5 to 1.9 ps each on walks of two axes, 2.4 to
// 2.9 of three and four, 3.3 to 3.8 of five and six: walks are compiled for even ranks.
constexpr double axis_operations = 17, element_operations = 17;

double gpu_places_seconds(const Move& move, const DeviceModel& device) {
  const double rank = in_blocks(i64(move.axes.size()), 2);
  const double operations = axis_operations * rank + element_operations;
  return move.count() * operations / (device.i32_rate * device.units());
}

/// Bytes of the input within which elements are near to each other: a few lines, on one page.
constexpr i64 near_bytes = 256;

/// The axes for a CPU, whose runs along the output take a line of the input for each element: those along which
/// elements are near in the input come just before the run, so that lines are used up while they are held. A reversal
/// of twelve axes, 329 million floats, took two busy cores of an EPYC 3.7 s in the output's order and 1.5 s with axes
/// of 64 bytes there; with those of 256 bytes it took 0.4 to 0.9 times as long as with those of 64.
Loops by_lines(Loops axes, i64 element) {
  const auto nearness = [&](const Loop& axis) { return std::abs(axis.in) * element; };
  if (axes.empty() || nearness(axes.back()) < near_bytes) return axes;
  const auto run = axes.end() - 1;
  const auto near = std::stable_partition(
      axes.begin(), run, [&](const Loop& axis) { return axis.in == 0 || nearness(axis) >= near_bytes; });
  std::stable_sort(near, run, [&](const Loop& a, const Loop& b) { return nearness(a) > nearness(b); });
  return axes;
}

enum Order : i64 { output_order, input_order };

/// Predicted seconds of a move, its axes in the order of the walk.
double element_seconds(const Move& move, const DeviceModel& device) {
  if (move.axes.empty()) return transfer_seconds(0, device);
  const double arrays = 2 * bytes_of(move);
  const double written = strided_bytes(move, true, device);
  // A CPU reads lines of memory before it writes them: two cores of an EPYC 7003 took 24576 rows of 17152 bytes in 45
  // ms, and past the cache, by "rows_cpu", in 30.
  const double reread = device.is_cpu() && arrays > device.cache ? written : 0;
  const double bytes = strided_bytes(move, false, device) + written + reread;
  const double seconds = memory_seconds(bytes, arrays, device);
  // Accesses of less than four bytes are bound by their places.
  const double share = access_efficiency(std::max<i64>(4, move.element), device);
  if (!device.is_cpu()) return device.launch + std::max(seconds / share, gpu_places_seconds(move, device));
  const Loop& fastest = move.axes.back();
  const i64 step = std::max(std::abs(fastest.in), std::abs(fastest.out)) * move.element;
  const double each = cpu_element_seconds + (step > device.sector ? cpu_line_seconds : 0);
  // A row of several lines of memory is waited for: 691200 rows of 320 bytes took two cores of an EPYC 9005 94 ms and
  // of an EPYC 7003 121, 281735 of 196 bytes 16 and 28.
  const bool waits = arrays > device.cache && fastest.in == 1 && fastest.extent * move.element > device.sector;
  const double rows = double(move.count()) / fastest.extent;
  const double loops = device.on_cores(move.count() * each + rows * cpu_segment_seconds);
  return std::max(device.launch + seconds, loops + (waits ? rows * device.latency / device.units() : 0));
}

Proposal propose(const MoveProblem& problem, const Configuration& wish, const DeviceModel& device) {
  MoveProblem walked = problem;
  if (wish.at("order") == input_order) {
    if (problem.move.tail) return refuse("a channel tail is walked in the output's order only");
    order_by_input(walked.move.axes);
  }
  return propose_elements(walked, wish, element_seconds(walked.move, device), device);
}

}  // namespace

Proposal propose_elements(const MoveProblem& problem, Configuration values, double seconds, const DeviceModel& device) {
  const size_t axes = problem.move.axes.size();
  if (axes > MOVE_AXES)
    return refuse(concat("walks at most ", MOVE_AXES, " axes that cannot be merged, here there are ", axes));
  i64& items = values["items"];
  if (device.is_cpu()) items = 1;
  if (items == 1 && !device.is_cpu()) return refuse(single_items);
  const auto launches = [=, cpu = device.is_cpu(), units = i64(device.units())] {
    MoveProblem walked = problem;
    if (cpu && !problem.move.tail) walked.move.axes = by_lines(problem.move.axes, problem.move.element);
    MoveLaunch launch("rearrange/plain", walked, {values.at("items")});
    launch.define_element();
    if (cpu) {  // a run of segments an item
      const i64 segment = launch.walk_segments(values.at("segment"));
      return launch.done(launch.split_into_groups(group_bytes, segment * problem.move.element, units));
    }
    const i64 in_flight = values.at("in_flight");  // several elements an item
    const int leading = leading_axes(problem.move), rank = launch.walk(problem.move.axes, leading, Ranks::fine);
    launch.define_tail(leading == 2 ? 1 : rank - 1);
    launch.defines().set("IN_FLIGHT", in_flight);
    return launch.done(ceil_div(launch.params.work, values.at("items") * in_flight));
  };
  return {.group = {items}, .seconds = seconds, .configuration = values, .launches = launches};
}

MoveCandidate plain_move() {
  return {{.name = "plain",
           .summary = "one element at a time, any strides",
           .tunables =
               {
                   {"items",
                    256,
                    {1, 32, 64, 128, 256, 512, 1024},
                    "work-items",
                    "group size on GPUs; a CPU group is one item"},
                   {"in_flight", 4, doublings(1, 8), "elements", "loads that an item issues before its first store"},
                   {"segment", 1024, {64, 256, 1024, 4096}, "elements", "longest run that a CPU item takes at a time"},
                   {"order",
                    output_order,
                    {output_order, input_order},
                    "",
                    "neighbouring items take neighbours 0 of the output, so that stores coalesce; 1 of the input, so "
                    "that loads do"},
               }},
          propose};
}

}  // namespace axisloom::ops
