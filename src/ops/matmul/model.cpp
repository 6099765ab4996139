// Predicted cost of a product.
#include "ops/matmul/model.hpp"

#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>

namespace axisloom::ops {

double arithmetic_operations(const ProductProblem& problem) {
  const Product& product = problem.product;
  return arithmetic_of(product.in).operations() * double(product.k.extent) * double(problem.outputs());
}

double outputs_seconds(const ProductProblem& problem, double operations, const DeviceModel& device) {
  return double(problem.outputs()) * operations / (device.i32_rate * device.units());
}

double bytes_touched(const ProductProblem& problem) {
  const Product& product = problem.product;
  const core::Loops loops = product.loops();
  const auto bytes = [](Dtype dtype, i64 elements) { return double(size_of(dtype)) * double(elements); };
  return bytes(product.in, core::distinct(loops, &core::Loop::in)) +
         bytes(product.in, core::distinct(loops, &core::Loop::other)) +
         bytes(product.out, problem.outputs()) * (adds_d(product) ? 2 : 1);
}

double unit_peak(const Product& product, const DeviceModel& device) {
  const std::string_view scalar = arithmetic_of(product.in).scalar;
  if (scalar == "f32") return device.f32_rate;
  if (scalar == "f64") return device.f64_rate;
  return scalar == "u32" ? device.i32_rate : device.i64_rate;
}

double compute_seconds(const Product& product, double operations, double efficiency, const DeviceModel& device) {
  return operations / (efficiency * unit_peak(product, device) * device.units());
}

double product_time(double compute, double bytes, int launches, const DeviceModel& device) {
  return launches * device.launch + std::max(memory_seconds(bytes, device), compute);
}

}  // namespace axisloom::ops
