// How k is split, and the second launch of variants that split it.
#include "ops/matmul/combine.hpp"

#include "core/integers.hpp"

#include <algorithm>

namespace axisloom::ops {

namespace {

i64 combine_items(const DeviceModel& device) {
  return device.is_cpu() ? 1 : 256;
}

/// Adds `parts` partial products from the workspace, [part][point][m][n] of the accumulators' type, into C.
Launch combine_launch(const ProductProblem& problem, i64 parts, const DeviceModel& device) {
  constexpr i64 cpu_outputs = 4096;  // of a group: long against its start
  const i64 items = combine_items(device), outputs = device.is_cpu() ? cpu_outputs : items;
  ProductLaunch main("matmul/combine", problem, {items}, Stage::of_sums);
  main.launch.kernel.contract = false;
  main.launch.buffers = {workspace_of(arithmetic_of(problem.in).accumulator_bytes())};
  main.defines().set("PER_GROUP", outputs).set("WHOLE_ROWS", device.is_cpu() && has_whole_rows(problem));
  main.params.parts_k = parts;
  return main.into_result(ceil_div(problem.outputs(), outputs));
}

}  // namespace

Tunable split_tunable() {
  return {"split",
          0,
          {0, 1, 2, 3, 4, 6, 8, 12, 16, 32, 64, 256},
          "parts",
          "of k that different groups take; 0: as many as fill the device",
          true};
}

Parts split(i64 k, i64 parts, i64 step) {
  const i64 part_k = ceil_div(ceil_div(std::max<i64>(1, k), parts), step) * step;
  return {std::max<i64>(1, ceil_div(k, part_k)), part_k};
}

Parts parts_of(const ProductProblem& problem, i64 groups, i64 step, i64 forced, const DeviceModel& device) {
  constexpr i64 most_parts = 64, least_k = 256, groups_per_unit = 2;  // parts, k's of one, groups; estimates
  const i64 k = problem.k.extent;
  const i64 wanted = groups_per_unit * i64(device.units());
  i64 parts = forced != 0 ? forced : 1;
  while (forced == 0 && parts < most_parts && groups * parts * 2 <= wanted && k / (parts * 2) >= least_k) parts *= 2;
  return split(k, parts, step);
}

Group largest_group(Group main, const Parts& parts, const DeviceModel& device) {
  if (parts.count > 1) main.items = std::max(main.items, combine_items(device));
  return main;
}

i64 partial_bytes(const ProductProblem& problem, i64 parts) {
  return parts * problem.outputs() * arithmetic_of(problem.in).accumulator_bytes();
}

double partial_seconds(const ProductProblem& problem, i64 parts, const DeviceModel& device) {
  // On an H200, f32: 2 to 16 parts of 1024 x 1024, 2049 x 2049; and of 64 x 64, whose items read up to 264 in a row.
  constexpr double share_of_copy = 0.45, each_part = 0.06e-6;
  if (parts == 1) return 0;
  const double traffic = 2.0 * partial_bytes(problem, parts);
  return traffic / (share_of_copy * device.copy_rate) + each_part * parts;
}

Launches in_parts(ProductLaunch main, const Parts& parts, i64 groups, const DeviceModel& device) {
  const i64 all_groups = groups * parts.count;
  main.params.parts_k = parts.count;
  main.params.part_k = parts.k_per_group;
  main.defines().set("SPLIT", parts.count > 1);
  if (parts.count == 1) return {{main.into_result(all_groups)}};
  const ProductProblem& problem = main.problem;
  const LaunchBuffer sums = workspace_of(arithmetic_of(problem.in).accumulator_bytes());
  return {{main.into(sums, all_groups), combine_launch(problem, parts.count, device)},
          size_t(partial_bytes(problem, parts.count))};
}

Launches in_blocks(ProductLaunch main, i64 m, i64 n, const Parts& parts, const DeviceModel& device) {
  main.defines().set("BLOCK_M", m).set("BLOCK_N", n);
  main.define_orientation();
  main.set_blocks(m, n);
  const i64 groups = main.problem.blocks(m, n);
  return in_parts(std::move(main), parts, groups, device);
}

}  // namespace axisloom::ops
