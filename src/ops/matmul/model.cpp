// Predicted cost of a product.
#include "ops/matmul/model.hpp"

#include "ops/matmul/params.hpp"
#include "tune/configuration.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

// f32 operations per second of one compute unit: 67 TFLOP/s over the 132 of an H200 (its datasheet), and half of what
// two cores with AVX-512 reach together, 453 GFLOP/s measured.
constexpr double gpu_unit_operations = 507e9;
constexpr double cpu_unit_operations = 226e9;

// The rate of other accumulators against f32's: an H200 has f64 at half the rate and 64-bit integers in pieces; a
// vector holds half as many 8-byte numbers, and its 32-bit multiplication takes two passes where f32's takes one.
double relative_rate(std::string_view scalar) {
  if (scalar == "f32") return 1;
  if (scalar == "f64") return 0.5;
  return scalar == "u32" ? 0.33 : 0.1;
}

}  // namespace

double arithmetic_operations(const ProductProblem& problem) {
  const Product& product = problem.product;
  const double each = arithmetic_of(product.in).operations();
  return each * static_cast<double>(product.m) * static_cast<double>(product.n) * static_cast<double>(product.k) *
         static_cast<double>(problem.batch_count());
}

double bytes_touched(const ProductProblem& problem) {
  const Product& product = problem.product;
  double a = static_cast<double>(size_of(product.in)), b = a, c = static_cast<double>(size_of(product.out));
  const auto extend = [](double& bytes, std::int64_t extent, std::int64_t stride) {
    if (stride != 0) bytes *= static_cast<double>(extent);
  };
  extend(a, product.m, product.a.m);
  extend(a, product.k, product.a.k);
  extend(b, product.k, product.b.k);
  extend(b, product.n, product.b.n);
  c *= static_cast<double>(product.m) * static_cast<double>(product.n);
  for (const BatchAxis& axis : product.batch) {
    extend(a, axis.extent, axis.a);
    extend(b, axis.extent, axis.b);
    c *= static_cast<double>(axis.extent);
  }
  return a + b + c * (adds_d(product) ? 2 : 1);
}

double peak_operations(const Product& product, const DeviceInfo& device) {
  const double unit = device.kind == Kind::cpu ? cpu_unit_operations : gpu_unit_operations;
  return unit * std::max(1u, device.compute_units) * relative_rate(arithmetic_of(product.in).scalar);
}

double product_time(const ProductProblem& problem, double operations, double share, double bytes, int launches,
                    const DeviceInfo& device) {
  const tune::Rates rates = tune::rates(device);
  const bool cached = bytes <= static_cast<double>(device.last_level_cache);
  const double memory = bytes / (cached ? rates.cached_bytes_per_second : rates.copy_bytes_per_second);
  const double compute = operations / (share * peak_operations(problem.product, device));
  return launches * rates.launch_seconds + std::max(memory, compute);
}

}  // namespace axisloom::ops
