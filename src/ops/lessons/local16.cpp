// Variant "local16": 16 x 16 tiles through local memory: the textbook's tiled product.
#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr i64 side = 16;

// Share of the peak: 8.1 of an H200's 67 TFLOP/s at 4096, 1.8 of 453 GFLOP/s on two cores at 256.
constexpr double gpu_efficiency = 0.12, cpu_efficiency = 0.004;

// Of a load's latency, on an H200. One pair of tiles of a group by itself (the load, two barriers, 16 products): 2 x
// 1271 by 1271 x 2543 floats took 38 us, 7 x 702 by 702 x 1698 22; conversions wait, too: of f16 1003 x 1153 by 1153 x
// 25 took 48, 2569 x 1011 by 1011 x 4 46. And what a group among others begins and ends with beside its products:
// 982 x 10 by 10 x 2792 floats took 25 us, 2617 x 13 by 13 x 2664 of f16 60.
constexpr double step_latencies = 1.1, converting_step_latencies = 1.75, start_latencies = 0.44;

double predicted_seconds(const ProductProblem& problem, i64 groups, const DeviceModel& device) {
  const Product& product = problem;
  const i64 steps = ceil_div(product.k.extent, side);
  const double terms = double(groups) * (side * side) * (steps * side);
  const double operations = arithmetic_of(product.in).operations() * terms, bytes = bytes_touched(problem);
  if (device.is_cpu())
    return product_time(compute_seconds(product, operations, cpu_efficiency, device), bytes, 1, device);
  const double starts = groups / device.units() * start_latencies * device.latency;
  const double all = compute_seconds(product, operations, gpu_efficiency, device) + starts;
  const double step = core::is_small_float(product.in) ? converting_step_latencies : step_latencies;
  const double one = steps * step * device.latency;
  return block_latencies * device.latency + product_time(std::max(all, one), bytes, 1, device);
}

Proposal propose(const ProductProblem& problem, const Configuration&, const DeviceModel& device) {
  const i64 groups = problem.blocks(side, side);
  const Group group{side * side, 2 * side * side * arithmetic_of(problem.in).accumulator_bytes()};
  const auto launches = [=, &problem]() -> Launches {
    ProductLaunch main("lessons/local16", problem, group);
    main.set_blocks(side, side);
    return {{main.into_result(groups)}};
  };
  return {.group = group, .seconds = predicted_seconds(problem, groups, device), .launches = launches};
}

}  // namespace

ProductCandidate local16_product() {
  return {{.name = "local16", .summary = "16 x 16 tiles in local memory", .tunables = {}, .chosen_on = gpus}, propose};
}

}  // namespace axisloom::ops
