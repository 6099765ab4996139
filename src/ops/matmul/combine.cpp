// The second launch of variants that split k.
#include "ops/matmul/combine.hpp"

#include "tune/configuration.hpp"

#include <algorithm>

namespace axisloom::ops {

namespace {

std::int64_t accumulator_bytes(const ProductProblem& problem) {
  const Arithmetic arithmetic = arithmetic_of(problem.product.in);
  return arithmetic.scalar_bytes * (arithmetic.is_complex ? 2 : 1);
}

std::int64_t outputs_of(const ProductProblem& problem) {
  return problem.batch_count() * problem.product.m * problem.product.n;
}

}  // namespace

tune::Tunable split_tunable() {
  return {"split",
          0,
          {0, 1, 2, 3, 4, 5, 6, 8, 12, 16, 32, 64, 128, 256},
          "parts",
          "of k that different groups take; 0: as many as fill the device"};
}

Parts split(std::int64_t k, std::int64_t parts, std::int64_t step) {
  const std::int64_t part_k = ceil_div(ceil_div(std::max<std::int64_t>(1, k), parts), step) * step;
  return {std::max<std::int64_t>(1, ceil_div(k, part_k)), part_k};
}

Parts parts_of(const ProductProblem& problem, std::int64_t blocks, std::int64_t step, std::int64_t forced,
               const DeviceInfo& device) {
  const std::int64_t groups = blocks * problem.batch_count(), k = problem.product.k;
  const std::int64_t wanted = std::int64_t{2} * std::max(1u, device.compute_units);
  std::int64_t parts = forced != 0 ? forced : 1;
  while (forced == 0 && parts < 64 && groups * parts * 2 <= wanted && k / (parts * 2) >= 256) parts *= 2;
  return split(k, parts, step);
}

std::int64_t partial_bytes(const ProductProblem& problem, std::int64_t parts) {
  return parts * outputs_of(problem) * accumulator_bytes(problem);
}

double partial_seconds(const ProductProblem& problem, std::int64_t parts, const DeviceInfo& device) {
  // On an H200, f32: 2 to 16 parts of 1024 x 1024, 2049 x 2049; and of 64 x 64, whose items read up to 264 in a row.
  constexpr double share_of_copy = 0.45, each_part = 0.06e-6;
  if (parts == 1) return 0;
  const double traffic = 2.0 * static_cast<double>(partial_bytes(problem, parts));
  return traffic / (share_of_copy * tune::rates(device).copy_bytes_per_second) + each_part * static_cast<double>(parts);
}

Launch combine_launch(const ProductProblem& problem, std::int64_t parts, const DeviceInfo& device) {
  const bool cpu = device.kind == Kind::cpu;
  const std::int64_t items = cpu ? 1 : 256, share = cpu ? 4096 : 256;
  Launch launch;
  launch.kernel = {"matmul/combine.kernel", "combine", {}, static_cast<unsigned>(items), false};
  write_defines(problem, launch.kernel.defines);
  launch.kernel.defines.set("SHARE", share);
  ProductParams params = params_of(problem);
  params.blocks_k = parts;
  params.work = problem.batch_count();
  launch.geometry.items = static_cast<unsigned>(items);
  launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(outputs_of(problem), share));
  launch.params = params_bytes(params);
  launch.buffers = {buffer_workspace(accumulator_bytes(problem))};
  append_results(problem, launch.buffers);
  return launch;
}

}  // namespace axisloom::ops
