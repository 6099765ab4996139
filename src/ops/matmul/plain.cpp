// Variant "plain": one item an output, any strides. The last resort, and the reference.
#include "core/integers.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>
#include <cstdlib>

namespace axisloom::ops {
namespace {

constexpr i64 gpu_items = 256;
constexpr i64 group_terms = 64 << 10;  // a CPU group's work: long against its start, short against a core's share

// Seconds of one term in a strided scalar loop of one core: 1.4 ns measured for 64 x 64 x 64, 3.6 for 256 x 256 x 256.
constexpr double cpu_term_seconds = 2.5e-9;
// Share of a GPU's peak: the same kernel reaches 5.4 of an H200's 67 TFLOP/s at 4096.
constexpr double gpu_efficiency = 0.08;
constexpr double terms_in_flight = 4;  // of an item: the loads of so many terms wait together

const std::vector<Tunable>& tunables() {
  static const std::vector<Tunable> list = {
      {"items", 0, {0, 1, 32, 64, 128, 256, 512, 1024}, "work-items", "group size; 0: 256, on a CPU 1"},
  };
  return list;
}

double predicted_seconds(const ProductProblem& problem, const DeviceModel& device) {
  const Product& product = problem.product;
  const double bytes = bytes_touched(problem);
  if (!device.is_cpu())
    return double(product.k.extent) / terms_in_flight * device.latency +
           product_time(compute_seconds(product, arithmetic_operations(problem), gpu_efficiency, device), bytes, 1,
                        device);
  const double outputs = double(product.m.extent) * double(product.n.extent) * double(problem.batch_count());
  const double loop = device.on_cores(outputs * double(product.k.extent + 1) * cpu_term_seconds);
  return std::max(loop, product_time(0, bytes, 1, device));
}

/// m and n become axes of the batch; the one along which C lies together is walked fastest.
ProductProblem flattened(const ProductProblem& problem) {
  ProductProblem flat = problem;
  Product& product = flat.product;
  product.batch.push_back(product.m);
  product.batch.push_back(product.n);
  core::drop_single_steps(product.batch);
  std::stable_sort(product.batch.begin(), product.batch.end(),
                   [](const core::Loop& x, const core::Loop& y) { return std::abs(x.out) > std::abs(y.out); });
  return flat;
}

Launches launch_plain(const ProductProblem& problem, i64 items) {
  const ProductProblem flat = flattened(problem);
  ProductLaunch main(flat, "plain", "plain", {items});
  main.params.per_group = items > 1 ? items : std::max<i64>(1, group_terms / (problem.product.k.extent + 1));
  return {{main.into_result(flat, ceil_div(main.params.work, main.params.per_group))}};
}

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  Configuration values = wish;
  i64& items = values["items"];
  if (items == 0) items = device.is_cpu() ? 1 : gpu_items;
  return {.group = {items},
          .seconds = predicted_seconds(problem, device),
          .configuration = values,
          .launches = [&problem, items] { return launch_plain(problem, items); }};
}

}  // namespace

ProductCandidate plain_product() {
  return {{.name = "plain", .summary = "one item an output, any strides", .tunables = tunables()}, propose};
}

}  // namespace axisloom::ops
