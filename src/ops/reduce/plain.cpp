// Variant "plain": an output after the other, any strides. The last resort, and the choice for many small reductions.
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"
#include "ops/reduce/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr double cpu_output_seconds = 8e-9;     // finding an output's place by division, and its store
constexpr double gpu_element_seconds = 5e-9;    // a load that waits for the one before, shared by nobody
constexpr std::int64_t group_elements = 65536;  // a CPU group's work: long against a group's start

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items", 128, {32, 64, 128, 256}, "work-items", "group size on GPUs; a CPU group is one item"}};
  return list;
}

/// An element in a loop on a CPU, whose additions wait for each other; rows of 64 floats on two cores.
double cpu_element_seconds(Accumulation accumulation) {
  switch (accumulation) {
    case Accumulation::compensated:
      return 4e-9;
    case Accumulation::place:
      return 3e-9;
    case Accumulation::extreme:
      return 2e-9;
    default:
      return 1e-9;
  }
}

Verdict consider(const ReduceProblem& problem, const Configuration&, const DeviceInfo& device) {
  if (problem.portable) return Verdict::refuse("its order of additions is not the portable one");
  const Reduction& reduction = problem.reduction;
  const ReduceAxis& run = reduction.reduced.back();
  const auto outputs = static_cast<double>(reduction.outputs()), count = static_cast<double>(reduction.count());
  const double memory = read_seconds(problem, run.extent, run.in, device);
  if (device.kind != Kind::cpu) return Verdict::accept(memory + count * gpu_element_seconds);
  const double element = cpu_element_seconds(reduction.recipe.accumulation);
  const double loops = outputs * (count * element + cpu_output_seconds);
  const std::int64_t groups = ceil_div(
      reduction.outputs(), std::max<std::int64_t>(1, group_elements / std::max<std::int64_t>(1, reduction.count())));
  return Verdict::accept(std::max(memory, shared_seconds(loops / std::max(1u, device.compute_units), groups, device)));
}

ReduceLaunches lower(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  ReduceLaunch main = reduce_launch(problem, "plain", problem.reduction.kept.size());
  const bool cpu = device.kind == Kind::cpu;
  const std::int64_t items = cpu ? 1 : values.at("items");
  main.params.per_group =
      cpu ? std::max<std::int64_t>(1, group_elements / std::max<std::int64_t>(1, main.params.count)) : items;
  main.launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(main.params.outputs, main.params.per_group));
  return with_parts(std::move(main), problem, Split::none, static_cast<unsigned>(items), 0);
}

}  // namespace

ReduceCandidate plain_reduction() {
  return {{"plain", "one output after the other, any strides", tunables(), true, true}, consider, lower};
}

}  // namespace axisloom::ops
