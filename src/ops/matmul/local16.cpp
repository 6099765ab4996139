// Variant "local16": 16 x 16 tiles through local memory, as lesson O4 has them.
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"
#include "ops/matmul/variants.hpp"

namespace axisloom::ops {
namespace {

constexpr std::int64_t side = 16;

// Share of the peak: 6.5 of an H200's 67 TFLOP/s at 4096, 1.8 of 453 GFLOP/s on two cores at 256.
constexpr double gpu_share = 0.097, cpu_share = 0.004;

// Seconds of one pair of tiles of a group by itself, an estimate: loads of some 0.35 us, two barriers, 16 products.
constexpr double gpu_step_latency = 0.6e-6;

std::int64_t blocks(const ProductProblem& problem) {
  return ceil_div(problem.product.m, side) * ceil_div(problem.product.n, side) * problem.batch_count();
}

std::int64_t local_bytes(const ProductProblem& problem) {
  const Arithmetic arithmetic = arithmetic_of(problem.product.in);
  return 2 * side * side * arithmetic.scalar_bytes * (arithmetic.is_complex ? 2 : 1);
}

Verdict consider(const ProductProblem& problem, const Configuration&, const DeviceInfo& device) {
  if (std::string beyond = beyond_limits(device, side * side, local_bytes(problem)); !beyond.empty())
    return Verdict::refuse(std::move(beyond));
  const double terms = static_cast<double>(blocks(problem)) * static_cast<double>(side * side) *
                       static_cast<double>(ceil_div(problem.product.k, side) * side);
  const double each = arithmetic_of(problem.product.in).is_complex ? 8 : 2;
  const double share = device.kind == Kind::cpu ? cpu_share : gpu_share;
  const double steps = static_cast<double>(ceil_div(problem.product.k, side));
  const double latency = device.kind == Kind::cpu ? 0 : steps * gpu_step_latency;
  return Verdict::accept(latency + product_time(problem, each * terms, share, bytes_touched(problem), 1, device));
}

ProductLaunches lower(const ProductProblem& problem, const Configuration&, const DeviceInfo&) {
  Launch launch;
  launch.kernel = {"matmul/local16.kernel", "local16", {}, side * side, false, true};
  write_defines(problem, launch.kernel.defines);
  ProductParams params = params_of(problem);
  params.blocks_m = ceil_div(problem.product.m, side);
  params.blocks_n = ceil_div(problem.product.n, side);
  launch.geometry.items = side * side;
  launch.geometry.groups = static_cast<std::uint64_t>(blocks(problem));
  launch.geometry.local_bytes = static_cast<std::size_t>(local_bytes(problem));
  launch.params = params_bytes(params);
  launch.buffers = {buffer_a(problem), buffer_b(problem)};
  append_results(problem, launch.buffers);
  return {{std::move(launch)}, 0};
}

}  // namespace

ProductCandidate local16_candidate() {
  return {{"local16", "16 x 16 tiles in local memory", {}, true, true}, consider, lower};
}

}  // namespace axisloom::ops
