// The arithmetic reference of devices with memory of their own: by tensor cores where Axisloom multiplies by them
// (tensor_peak.kernel), otherwise by multiplying and adding in registers (peak.kernel).
#include "bench/peers/peers.hpp"

#include "ops/matmul/params.hpp"
#include "ops/nvidia/nvidia.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace axisloom::bench {
namespace {

using i32 = i32;
using f32 = float;
#include "bench/peak.params.h"

constexpr unsigned peak_items = 256;  // of a group: 8 warps, or 2 warpgroups
constexpr double warps = peak_items / 32.0;

/// A kernel that does nothing but arithmetic.
struct DeviceUnit {
  std::string how;
  jit::Specialisation kernel;
  PeakParams params{0, 0.5f, 0.5f};
  unsigned groups_per_unit = 8;  // 2,048 items, as many as a multiprocessor of NVIDIA's holds
  size_t local_bytes = 0;
  unsigned sums;      // that each item keeps at 1
  double operations;  // of a step of a group
};

jit::Specialisation kernel_of(const std::string& name, jit::Defines& constants) {
  constants.set("AXL_PARAMS_SIZE", i64(sizeof(PeakParams)));
  return {fmt::format("bench/{}.kernel", name), name, constants, peak_items, false, true};
}

DeviceUnit registers(std::string_view number) {
  const bool whole = number.front() == 'u';
  return {.how = fmt::format("{} of {} in registers", whole ? "multiply-add" : "FMA", number),
          .kernel = kernel_of("peak", jit::Defines().set("NUMBER", number)),
          .params = whole ? PeakParams{0, 1, 0} : PeakParams{0, 0.5f, 0.5f},
          .sums = PEAK_CHAINS,
          .operations = 2.0 * PEAK_CHAINS * peak_items};
}

jit::Defines tensor_constants(Dtype dtype, bool warpgroup) {
  return jit::Defines().set("WARPGROUP", warpgroup).set("NUMBER_BF16", dtype == Dtype::bf16);
}

DeviceUnit tensor_cores(Dtype dtype, int capability) {
  const bool f64 = dtype == Dtype::f64;
  const int depth = f64 && capability < 90 ? 4 : 16;
  return {.how = fmt::format("mma of {} in registers", name(dtype)),
          .kernel = kernel_of("tensor_peak", tensor_constants(dtype, false).set("NUMBER_F64", f64).set("DEPTH", depth)),
          .sums = 4 * TENSOR_CHAINS,
          .operations = warps * TENSOR_CHAINS * 2.0 * 16 * 8 * depth};
}

DeviceUnit warpgroups(Dtype dtype) {
  constexpr size_t tiles = (128 + 256) * 64 * 2, alignment = 1024;  // bytes
  constexpr i64 bytes = tiles + alignment;
  return {.how = fmt::format("wgmma of {} in local memory", name(dtype)),
          .kernel = kernel_of("tensor_peak", tensor_constants(dtype, true).set("PEAK_LOCAL_BYTES", bytes)),
          .groups_per_unit = 1,
          .local_bytes = bytes,
          .sums = 128,
          .operations = 2.0 * 128 * 256 * 64};
}

/// The fastest. Cards of other capabilities have f64 in tensor cores for compatibility's sake alone.
DeviceUnit unit_of(Dtype dtype, const DeviceInfo& device) {
  const int capability = device.platform == "NVIDIA CUDA" ? ops::compute_capability(device) : 0;
  const bool sixteen = dtype == Dtype::f16 || dtype == Dtype::bf16;
  if (sixteen && capability == 90 && device.api == Api::cuda) return warpgroups(dtype);
  if (sixteen && capability >= 80) return tensor_cores(dtype, capability);
  const bool fast_f64 = capability == 80 || capability == 90 || capability == 100 || capability == 103;
  if ((dtype == Dtype::f64 || dtype == Dtype::c128) && fast_f64) return tensor_cores(Dtype::f64, capability);
  return registers(ops::arithmetic_of(dtype).scalar);
}

class DevicePeak final : public Contestant {
 public:
  DevicePeak(Workload& workload, DeviceUnit unit)
      : Contestant(workload, "peak", unit.how, Role::peak),
        unit_(std::move(unit)),
        groups_(unit_.groups_per_unit * std::max(1u, unsigned(workload.device().info().compute_units))),
        fixed_(workload.device().allocate(items() * sizeof(u32))) {
    unit_.params.steps = i32(std::ceil(workload.operations() / (groups_ * unit_.operations)));
    program_ = jit::obtain(*workload.device().impl(), unit_.kernel, {groups_, 1, sizeof unit_.params});
  }

  Timing run() override {
    const i64 no_offset = 0;
    const device::Arg args[] = {device::Arg::of(*fixed_.impl()), device::Arg::bytes(&no_offset, sizeof no_offset),
                                device::Arg::bytes(&unit_.params, sizeof unit_.params)};
    const device::Geometry geometry{groups_, peak_items, unit_.local_bytes, 1};
    const double start = now();
    const auto event = workload().queue().impl()->launch(*program_, unit_.kernel.kernel, geometry, args, {});
    event->wait();
    const double end = now();
    return {end - start, event->seconds()};
  }
  void spoil(std::byte value) override {
    workload().queue().impl()->fill(*fixed_.impl(), 0, fixed_.bytes(), value, {})->wait();
  }
  Work work() const override { return {0, unit_.params.steps * groups_ * unit_.operations}; }
  double written() const override { return double(fixed_.bytes()); }
  Mistakes judge() override {
    std::vector<u32> fixed(items());
    workload().queue().read(fixed_, 0, std::as_writable_bytes(std::span(fixed))).wait();
    const auto wrong = std::ranges::count_if(fixed, [&](u32 n) { return n != unit_.sums; });
    return {.count = wrong, .of = "work-item"};
  }

 private:
  size_t items() const { return size_t{groups_} * peak_items; }

  DeviceUnit unit_;
  unsigned groups_;
  device::SharedProgram program_;
  Buffer fixed_;
};

}  // namespace

jit::Specialisation peak_kernel(Dtype dtype, const DeviceInfo& device) {
  return unit_of(dtype, device).kernel;
}

UniqueContestant make_device_peak(Workload& workload) {
  return std::make_unique<DevicePeak>(workload, unit_of(workload.in().dtype, workload.device().info()));
}

}  // namespace axisloom::bench
