// Variant "plain": an output after the other, any strides. The last resort, and the choice for many small reductions.
// The host takes some outputs together, and few long ones in parts.
#include "core/integers.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr double cpu_output_seconds = 8e-9;  // finding an output's place by division, and its store
// Of a GPU, an element: the part of a load's latency that the next one waits for, and operations on 32-bit integers. On
// an H200 sums of 22516 rows of 172 halves took 24 us, of 440617 of 35 halves 25, of 4055 of 143 doubles 14, of 133508
// of 60 doubles 31.
constexpr double element_latencies = 0.16, element_operations = 35;
constexpr i64 group_elements = 65536;  // a CPU group's work: long against a group's start

/// An element in a loop on a CPU, whose additions wait for each other; rows of 64 floats on two cores of a Xeon. Of
/// doubles and integers on an EPYC 9005 and an EPYC 7003: sums of 138945 x 4 doubles, maxima of 4052620 x 12 bytes.
double cpu_element_seconds(const Recipe& recipe) {
  const bool floats = recipe.value_floats();
  switch (recipe.accumulation) {
    case Accumulation::compensated:
      return recipe.value == Dtype::f64 ? 2.2e-9 : 4e-9;
    case Accumulation::place:
      return floats ? 3e-9 : 1e-9;
    case Accumulation::extreme:
      return floats ? 2e-9 : 0.5e-9;
    default:
      return 1e-9;
  }
}

/// Outputs of a group.
i64 outputs_of(const ReduceProblem& problem, i64 items, const DeviceModel& device) {
  return device.is_cpu() ? std::max<i64>(1, group_elements / std::max<i64>(1, problem.count())) : items;
}

double predicted_seconds(const ReduceProblem& problem, i64 groups, const DeviceModel& device) {
  const Loop& run = problem.reduced.back();
  const double count = problem.count(), memory = read_seconds(problem, run, device);
  if (!device.is_cpu()) {
    const double operations = problem.elements() * element_operations;
    return memory + count * element_latencies * device.latency + operations / (device.i32_rate * device.units());
  }
  const double element = cpu_element_seconds(problem.recipe) + own_line_seconds(problem, run.in, device);
  const double loops = problem.outputs() * (count * element + cpu_output_seconds);
  return std::max(memory, device.launch + shared_seconds(device.on_cores(loops), groups, device));
}

/// Few outputs of many elements are taken in parts, so that the cores share them.
bool in_parts(const ReduceProblem& problem) {
  constexpr i64 few = 64, most_in_order = i64{1} << 24;  // running sums of two levels
  return problem.count() > most_in_order || (problem.outputs() < few && problem.count() >= 2 * group_elements);
}

Proposal on_host(const ReduceProblem& problem, const DeviceModel& device) {
  const Configuration configuration = {{"items", 1}};
  if (in_parts(problem)) {
    const auto [pieces, split] = host_parts(problem, device, problem.outputs());
    return {
        .seconds = predicted_seconds(problem, problem.outputs() * pieces.parts, device),
        .configuration = configuration,
        .launches = [pieces = pieces, split = split, &problem] { return launches_in_pairs(problem, pieces, split); }};
  }
  const i64 per_group = outputs_of(problem, 1, device), groups = ceil_div(problem.outputs(), per_group);
  const auto launches = [=, &problem] {
    ReduceLaunch main("scalar", problem);
    main.all_arguments = true;
    main.params.per_group = per_group;
    main.defines().set("IN_PAIRS", 0);
    return main.with_parts(groups, Split::none, 0);
  };
  return {.seconds = predicted_seconds(problem, groups, device), .configuration = configuration, .launches = launches};
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (problem.portable) return refuse(own_order);
  if (device::is_host(device)) return on_host(problem, device);
  const i64 items = device.is_cpu() ? 1 : wish.at("items");
  if (items == 1 && !device.is_cpu()) return refuse(single_items);
  const i64 per_group = outputs_of(problem, items, device);
  const i64 groups = ceil_div(problem.outputs(), per_group);
  const auto launches = [=, &problem] {
    ReduceLaunch main("plain", problem, {items});
    main.params.per_group = per_group;
    return main.without_parts(groups);
  };
  return {.group = {items},
          .seconds = predicted_seconds(problem, groups, device),
          .configuration = {{"items", items}},
          .launches = launches};
}

}  // namespace

ReduceCandidate plain_reduction() {
  return {{.name = "plain",
           .summary = "one output after the other, any strides",
           .tunables =
               {{"items", 128, {1, 32, 64, 128, 256}, "work-items", "group size on GPUs; a CPU group is one item"}}},
          propose};
}

}  // namespace axisloom::ops
