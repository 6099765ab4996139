// The second launch of variants that split k.
#include "ops/matmul/combine.hpp"

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
          {0, 1, 2, 4, 8, 16, 32, 64},
          "parts",
          "of k that different groups take; 0: as many as fill the device"};
}

Parts parts_of(const ProductProblem& problem, std::int64_t blocks, std::int64_t step, std::int64_t forced,
               const DeviceInfo& device) {
  const std::int64_t groups = blocks * problem.batch_count(), k = problem.product.k;
  const std::int64_t wanted = std::int64_t{2} * std::max(1u, device.compute_units);
  std::int64_t parts = forced != 0 ? forced : 1;
  while (forced == 0 && parts < 64 && groups * parts * 2 <= wanted && k / (parts * 2) >= 256) parts *= 2;
  const std::int64_t part_k = ceil_div(ceil_div(std::max<std::int64_t>(1, k), parts), step) * step;
  return {std::max<std::int64_t>(1, ceil_div(k, part_k)), part_k};
}

std::int64_t partial_bytes(const ProductProblem& problem, std::int64_t parts) {
  return parts * outputs_of(problem) * accumulator_bytes(problem);
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
