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

double product_time(double compute, double bytes, int launches, const DeviceModel& device) {
  return launches * device.launch + std::max(memory_seconds(bytes, device), compute);
}

// Of 32 registers of 64 bytes 24 are sums, which leaves room for B's vectors and a broadcast; of 16 of 32 bytes 12 are.
CpuTile cpu_tile(Dtype dtype, const DeviceModel& device) {
  const Arithmetic arithmetic = arithmetic_of(dtype);
  const bool narrow = device.api == Api::host && !device.api_version.starts_with("x86-64-v4");
  const i64 lanes = (narrow ? 32 : 64) / arithmetic.scalar_bytes;
  if (narrow) return {6, arithmetic.is_complex ? 1 : 2, lanes};
  return {8, arithmetic.is_complex ? 1 : 3, lanes};
}

}  // namespace axisloom::ops
