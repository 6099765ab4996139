// Variant "local16": 16 x 16 tiles through local memory: the textbook's tiled product.
#include "core/integers.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"

namespace axisloom::ops {
namespace {

constexpr i64 side = 16;

// Share of the peak: 6.5 of an H200's 67 TFLOP/s at 4096, 1.8 of 453 GFLOP/s on two cores at 256.
constexpr double gpu_efficiency = 0.097, cpu_efficiency = 0.004;

// Of a load's latency, one pair of tiles of a group by itself: the load, two barriers, 16 products (an estimate).
constexpr double step_latencies = 5.0 / 3;

double predicted_seconds(const ProductProblem& problem, i64 groups, const DeviceModel& device) {
  const i64 steps = ceil_div(problem.product.k.extent, side);
  const double terms = double(groups) * double(side * side) * double(steps * side);
  const double compute = compute_seconds(problem.product, arithmetic_of(problem.product.in).operations() * terms,
                                         device.is_cpu() ? cpu_efficiency : gpu_efficiency, device);
  const double latency = device.is_cpu() ? 0 : (block_latencies + double(steps) * step_latencies) * device.latency;
  return latency + product_time(compute, bytes_touched(problem), 1, device);
}

Proposal propose(const ProductProblem& problem, const Configuration&, const DeviceModel& device) {
  const Product& product = problem.product;
  const i64 blocks_m = ceil_div(product.m.extent, side), blocks_n = ceil_div(product.n.extent, side);
  const i64 groups = blocks_m * blocks_n * problem.batch_count();
  const Group group{side * side, 2 * side * side * arithmetic_of(product.in).accumulator_bytes()};
  const auto launches = [=, &problem]() -> Launches {
    ProductLaunch main(problem, "local16", "local16", group);
    main.launch.kernel.file = "lessons/local16.kernel";
    main.params.blocks_m = blocks_m;
    main.params.blocks_n = blocks_n;
    return {{main.into_result(problem, groups)}};
  };
  return {.group = group, .seconds = predicted_seconds(problem, groups, device), .launches = launches};
}

}  // namespace

ProductCandidate local16_product() {
  return {{.name = "local16", .summary = "16 x 16 tiles in local memory", .tunables = {}, .chosen_on = gpus}, propose};
}

}  // namespace axisloom::ops
