// Predicted cost of a product: arithmetic over the device's peak, bytes over its bandwidth, launches.
#pragma once

#include "ops/matmul/candidate.hpp"

#include <optional>
#include <string>

namespace axisloom::ops {

/// Additions plus multiplications of real numbers.
double arithmetic_operations(const ProductProblem& problem);
/// Bytes of A, B, C and D, each element once.
double bytes_touched(const ProductProblem& problem);
/// Real operations of the accumulators' type per second that a compute unit can reach.
double unit_peak(const Product& product, const DeviceModel& device);
/// Time of `operations` on the whole device at an efficiency, a share of its peak.
inline double compute_seconds(const Product& product, double operations, double efficiency, const DeviceModel& device) {
  return operations / (efficiency * unit_peak(product, device) * device.units());
}
/// Time of `launches` that compute for so long, beside `bytes` at the memory's (or the last cache's) rate.
double product_time(double compute, double bytes, int launches, const DeviceModel& device);

/// Time in which a GPU finishes all elements of C, where each takes so many operations on 32-bit integers: finding its
/// place, conversion, store.
inline double outputs_seconds(const ProductProblem& problem, double operations, const DeviceModel& device) {
  return problem.outputs() * operations / (device.i32_rate * device.units());
}

/// The form with the lowest predicted time of those offered, or why none is possible: what the last one was refused
/// for.
template <class Form>
struct Best {
  std::optional<Form> form = {};
  double seconds = 0;
  std::string refusal = {};

  void offer(const Form& offered, double its_seconds) {
    if (form && its_seconds >= seconds) return;
    form.emplace(offered);
    seconds = its_seconds;
  }
};

/// Of a load's latency: what a block of a GPU's by itself waits for beside its steps along k, its first loads and its
/// last stores. On an H200 6015 products of 9 x 6 by 6 x 11 floats, one step each, and those of 64 x 64 (four) took 7
/// more than their steps.
inline constexpr double block_latencies = 7;

/// What a CPU's kernels sum in registers: rows of C, vectors of each, numbers of a vector.
struct CpuTile {
  i64 rows, vectors, lanes;
};
CpuTile cpu_tile(Dtype dtype, const DeviceModel& device);
/// Of a core of an EPYC 9005 on the host: a tile of C beside its products.
inline constexpr double cpu_tile_seconds = 20e-9;

}  // namespace axisloom::ops
