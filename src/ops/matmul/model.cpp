// Predicted cost of a product.
#include "ops/matmul/model.hpp"

#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>

namespace axisloom::ops {

double arithmetic_operations(const ProductProblem& problem) {
  return arithmetic_of(problem.in).operations() * double(problem.k.extent) * problem.outputs();
}

double outputs_seconds(const ProductProblem& problem, double operations, const DeviceModel& device) {
  return problem.outputs() * operations / (device.i32_rate * device.units());
}

double bytes_touched(const ProductProblem& problem) {
  const Loops loops = problem.loops();
  const auto read = [&](Operand operand) { return double(size_of(problem.in)) * core::distinct(loops, operand); };
  const double written = double(size_of(problem.out)) * problem.outputs();
  return read(&Loop::in) + read(&Loop::other) + written * (adds_d(problem) ? 2 : 1);
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
