// Variant "plain": one item an output, any strides. The last resort, and the yardstick.
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"
#include "ops/matmul/variants.hpp"

#include <algorithm>
#include <cstdlib>

namespace axisloom::ops {
namespace {

constexpr std::int64_t group_terms =
    64 << 10;  // a CPU group's work: long against its start, short against a core's share

// Seconds of one term in a strided scalar loop of one core: 1.4 ns measured for 64 x 64 x 64, 3.6 for 256 x 256 x 256.
constexpr double cpu_term_seconds = 2.5e-9;
// Share of a GPU's peak: the same kernel reaches 5.4 of an H200's 67 TFLOP/s at 4096.
constexpr double gpu_share = 0.08;
// Seconds of one term of an item by itself, an estimate: a load takes some 0.35 us, and four terms are in flight.
constexpr double gpu_term_latency = 90e-9;

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items", 0, {0, 1, 32, 64, 128, 256, 512, 1024}, "work-items", "group size; 0: 256, on a CPU 1"},
  };
  return list;
}

std::int64_t items_of(const Configuration& values, const DeviceInfo& device) {
  if (values.at("items") != 0) return values.at("items");
  return device.kind == Kind::cpu ? 1 : 256;
}

Verdict consider(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (std::string beyond = beyond_limits(device, items_of(values, device), 0); !beyond.empty())
    return Verdict::refuse(std::move(beyond));
  const double operations = arithmetic_operations(problem), bytes = bytes_touched(problem);
  if (device.kind != Kind::cpu) {
    const double latency = static_cast<double>(problem.product.k) * gpu_term_latency;
    return Verdict::accept(latency + product_time(problem, operations, gpu_share, bytes, 1, device));
  }
  const double outputs = static_cast<double>(problem.product.m) * static_cast<double>(problem.product.n) *
                         static_cast<double>(problem.batch_count());
  const double terms = outputs * static_cast<double>(problem.product.k + 1);
  const double loop = terms * cpu_term_seconds / std::max(1u, device.compute_units);
  return Verdict::accept(std::max(loop, product_time(problem, 0, 1, bytes, 1, device)));
}

/// m and n become axes of the batch; the one along which C lies together is walked fastest.
ProductProblem flattened(const ProductProblem& problem) {
  ProductProblem flat = problem;
  Product& product = flat.product;
  const ProductOperand d = product.d.value_or(ProductOperand{});
  product.batch.push_back({product.m, product.a.m, 0, product.c.m, d.m});
  product.batch.push_back({product.n, 0, product.b.n, product.c.n, d.n});
  std::erase_if(product.batch, [](const BatchAxis& axis) { return axis.extent == 1; });
  std::stable_sort(product.batch.begin(), product.batch.end(),
                   [](const BatchAxis& x, const BatchAxis& y) { return std::abs(x.c) > std::abs(y.c); });
  return flat;
}

ProductLaunches lower(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const ProductProblem flat = flattened(problem);
  const std::int64_t items = items_of(values, device);
  Launch launch;
  launch.kernel = {"matmul/plain.kernel", "plain", {}, static_cast<unsigned>(items), false, true};
  write_defines(flat, launch.kernel.defines);
  ProductParams params = params_of(flat);
  params.work = flat.batch_count();
  params.share = items > 1 ? items : std::max<std::int64_t>(1, group_terms / (problem.product.k + 1));
  launch.geometry.items = static_cast<unsigned>(items);
  launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(params.work, params.share));
  launch.params = params_bytes(params);
  launch.buffers = {buffer_a(flat), buffer_b(flat)};
  append_results(flat, launch.buffers);
  return {{std::move(launch)}, 0};
}

}  // namespace

ProductCandidate plain_product_candidate() {
  return {{"plain", "one item an output, any strides", tunables(), true, true}, consider, lower};
}

}  // namespace axisloom::ops
