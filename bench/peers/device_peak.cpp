// The arithmetic yardstick of devices with memory of their own: the kernel of peak.kernel.
#include "bench/peers/peers.hpp"

#include "jit/jit.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace axisloom::bench {
namespace {

using i32 = std::int32_t;
using f32 = float;
#include "bench/peak.params.h"

constexpr unsigned peak_items = 256;     // of a group
constexpr unsigned groups_per_unit = 8;  // 2,048 items, as many as a multiprocessor of NVIDIA's holds

class DevicePeak final : public Contestant {
 public:
  DevicePeak(Workload& workload, const char* number)
      : Contestant(workload, "peak", fmt::format("FMA of {} in registers", number), Role::peak),
        groups_(groups_per_unit * std::max(1u, static_cast<unsigned>(workload.device().info().compute_units))),
        fixed_(workload.device().allocate(items() * sizeof(std::uint32_t))) {
    params_ = {static_cast<i32>(std::ceil(workload.operations() / operations_per_step())), 0.5f};
    jit::Defines defines;
    defines.set("NUMBER", number).set("AXL_PARAMS_SIZE", static_cast<std::int64_t>(sizeof(PeakParams)));
    program_ = jit::obtain(*workload.device().impl(), {"bench/peak.kernel", "peak", defines, peak_items, false, true});
  }

  Timing run() override {
    const std::int64_t no_offset = 0;
    const device::Arg args[] = {device::Arg::of(*fixed_.impl()), device::Arg::bytes(&no_offset, sizeof no_offset),
                                device::Arg::bytes(&params_, sizeof params_)};
    const double start = now();
    const auto event = workload().queue().impl()->launch(*program_, "peak", {groups_, peak_items, 0, 1}, args, {});
    event->wait();
    const double end = now();
    return {end - start, event->seconds()};
  }
  void spoil(std::byte value) override {
    workload().queue().impl()->fill(*fixed_.impl(), 0, fixed_.bytes(), value, {})->wait();
  }
  Work work() const override { return {0, params_.steps * operations_per_step()}; }
  Mistakes judge() override {
    std::vector<std::uint32_t> fixed(items());
    workload().queue().read(fixed_, 0, std::as_writable_bytes(std::span(fixed))).wait();
    const auto wrong = std::count_if(fixed.begin(), fixed.end(), [](std::uint32_t n) { return n != PEAK_CHAINS; });
    return {.count = wrong, .of = "work-item"};
  }

 private:
  std::size_t items() const { return std::size_t{groups_} * peak_items; }
  double operations_per_step() const { return 2.0 * PEAK_CHAINS * static_cast<double>(items()); }

  unsigned groups_;
  PeakParams params_{};
  std::shared_ptr<device::Program> program_;
  Buffer fixed_;
};

}  // namespace

std::unique_ptr<Contestant> make_device_peak(Workload& workload) {
  const bool single_precision = workload.in().dtype == Dtype::f32;
  return std::make_unique<DevicePeak>(workload, single_precision ? "f32" : "f64");
}

}  // namespace axisloom::bench
