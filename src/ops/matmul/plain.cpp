// Variant "plain": one item an output, any strides. The last resort, and the baseline.
#include "core/integers.hpp"
#include "core/number.hpp"
#include "model/cost.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>
#include <cstdlib>

namespace axisloom::ops {
namespace {

constexpr i64 gpu_items = 256;
constexpr i64 group_terms = 64 << 10;  // a CPU group's work: long against its start, short against a core's share

// Of a core: an output, and a term in a loop that no vector takes. Two of an EPYC 9005 took 0.5 ns for a term of 8762
// products of 6 x 41 by 41 x 5 floats, of an EPYC 7003 1.3 to 2; where each of a factor's elements lies on a line of
// its own a core of a Xeon took 1.4 ns of 64 x 64 x 64, of an EPYC 9005 1.3 of 2 x 1271 by 1271 x 2543.
constexpr double cpu_output_seconds = 2e-9, cpu_term_seconds = 0.75e-9, cpu_line_seconds = 0.7e-9;
// More of a term whose factors are converted: 2639 products of 9 x 33 by 33 x 16 halves, on two cores of an EPYC 9005.
constexpr double cpu_convert_seconds = 1.15e-9;
// Share of a GPU's peak: the same kernel reaches 5.4 of an H200's 67 TFLOP/s at 4096.
constexpr double gpu_efficiency = 0.08;
// Of an item: the loads of so many terms wait together. 2 x 1271 by 1271 x 2543 floats took an H200 66 us, 7 x 702 by
// 702 x 1698 40; of f16, whose conversions wait too, 1003 x 1153 by 1153 x 25 took 305.
constexpr double terms_in_flight = 7, small_terms_in_flight = 1.5;
// Before: 64 x 64 by 64 x 64 took 5.2 us without the launch.
constexpr double first_waits = 3;
// So many times the arithmetic, where both factors of each term are converted: 20 x 3049 by 3049 x 3452 and 2617 x 13
// by 13 x 2664 of f16 on an H200.
constexpr double converting = 2.4;
// Of an output: divisions for three axes, and the epilogue. On an H200 1.6 to 2.7 million outputs of 6 and 10 terms
// took 5 ps each.
constexpr double output_operations = 165;

double gpu_seconds(const ProductProblem& problem, const DeviceModel& device) {
  const bool converts = core::is_small_float(problem.in);
  const double waits = first_waits + problem.k.extent / (converts ? small_terms_in_flight : terms_in_flight);
  const double operations = arithmetic_operations(problem) * (converts ? converting : 1);
  return waits * device.latency + outputs_seconds(problem, output_operations, device) +
         product_time(compute_seconds(problem, operations, gpu_efficiency, device), bytes_touched(problem), 1, device);
}

/// Of a CPU's.
i64 outputs_of_group(const ProductProblem& problem) {
  return std::max<i64>(1, group_terms / (problem.k.extent + 1));
}

double cpu_seconds(const ProductProblem& problem, const DeviceModel& device) {
  const i64 step = std::max(std::abs(problem.k.in), std::abs(problem.k.other)) * i64(size_of(problem.in));
  double term = cpu_term_seconds + (step > device.sector ? cpu_line_seconds : 0);
  if (core::is_small_float(problem.in)) term += cpu_convert_seconds * model::vector_times(device);
  const double loop = problem.outputs() * (problem.k.extent * term + cpu_output_seconds);
  if (problem.on_host) {  // where a launch costs less than most loops, it counts how many cores share one
    const i64 groups = ceil_div(problem.outputs(), outputs_of_group(problem));
    const double cores = std::min(device.units(), double(groups));
    return product_time(loop * device.core / cores, bytes_touched(problem), 1, device);
  }
  return std::max(device.on_cores(loop), product_time(0, bytes_touched(problem), 1, device));
}

/// m and n become axes of the batch; the one along which C lies together is walked fastest.
Launches launch_plain(const ProductProblem& problem, i64 items) {
  ProductProblem flat = problem;
  flat.batch.insert(flat.batch.end(), {problem.m, problem.n});
  core::drop_single_steps(flat.batch);
  core::order_by_output(flat.batch);
  ProductLaunch main("matmul/plain", flat, {items});
  main.params.per_group = items > 1 ? items : outputs_of_group(problem);
  return {{main.into_result(ceil_div(main.params.work, main.params.per_group))}};
}

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const i64 items = value_or(wish, "items", device.is_cpu() ? 1 : gpu_items);
  return {.group = {items},
          .seconds = device.is_cpu() ? cpu_seconds(problem, device) : gpu_seconds(problem, device),
          .configuration = {{"items", items}},
          .launches = [&problem, items] { return launch_plain(problem, items); }};
}

}  // namespace

ProductCandidate plain_product() {
  return {
      {.name = "plain",
       .summary = "one item an output, any strides",
       .tunables = {{"items", 0, {0, 1, 32, 64, 128, 256, 512, 1024}, "work-items", "group size; 0: 256, on a CPU 1"}}},
      propose};
}

}  // namespace axisloom::ops
