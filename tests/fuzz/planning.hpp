// Plans of made-up operations for made-up devices, and what must hold of each: it keeps within the device's limits.
#pragma once

#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <string>
#include <vector>

#include "device/device.hpp"
#include "planner/plan_impl.hpp"

#include "numbers.hpp"

namespace axisloom::fuzz {

/// Compiles by doing nothing, and has no memory: what is planned on it is never run.
class PlanningDevice : public device::Device {
 public:
  explicit PlanningDevice(DeviceInfo info) : info_(std::move(info)) {}
  const DeviceInfo& info() const noexcept override { return info_; }
  std::string build_identity() const override { return "planning"; }
  std::shared_ptr<device::Program> build(const device::BuildRequest&) override { return std::make_shared<Nothing>(); }
  std::shared_ptr<device::Program> load(const device::BuildRequest&, std::span<const std::byte>) override { return {}; }
  std::shared_ptr<device::Buffer> allocate(std::size_t) override { return {}; }
  std::shared_ptr<device::Buffer> allocate_staging(std::size_t) override { return {}; }
  std::shared_ptr<device::Buffer> wrap(void*, std::size_t) override { return {}; }
  std::shared_ptr<device::Buffer> borrow_buffer(void*, std::size_t) override { return {}; }
  std::shared_ptr<device::Queue> queue(bool) override { return {}; }
  std::shared_ptr<device::Queue> borrow_queue(void*) override { return {}; }
  device::KernelAttributes attributes(device::Program&, const std::string&) override { return {}; }

 private:
  struct Nothing : device::Program {
    std::vector<std::byte> binary() const override { return {}; }
  };
  DeviceInfo info_;
};

/// A device between a phone and a large card, with anything there may be or not be.
inline DeviceInfo device_from(Numbers& numbers) {
  static constexpr Kind kinds[] = {Kind::cpu, Kind::gpu, Kind::other};
  static constexpr std::size_t groups[] = {256, 512, 1024, 4096};
  DeviceInfo info;
  info.api = numbers.yes() ? Api::cuda : Api::opencl;
  info.kind = numbers.one_of(std::span<const Kind>(kinds));
  info.architecture = info.api == Api::cuda ? "sm_90" : "";
  info.compute_units = 1 + numbers.byte();
  info.max_group = numbers.one_of(std::span<const std::size_t>(groups));
  info.local_memory = (1 + numbers.byte() % 64) * std::size_t{1024};
  info.local_memory_max = info.local_memory * (1 + numbers.byte() % 4);
  info.global_memory = std::size_t{1} << (20 + numbers.byte() % 20);
  info.max_allocation = info.global_memory / (1 + numbers.byte() % 4);
  info.base_alignment = std::size_t{4} << numbers.byte() % 7;
  info.last_level_cache = numbers.byte() * std::size_t{1 << 20};
  info.unified_memory = numbers.yes();
  info.f64 = numbers.yes();
  info.f16 = numbers.yes();
  info.atomics_64 = numbers.yes();
  info.byte_stores = numbers.yes();
  info.device_scope_order = numbers.yes();
  return info;
}

inline void require(bool holds, const char* what) {
  if (holds) return;
  std::fprintf(stderr, "a plan lacks %s\n", what);
  std::abort();
}

/// What every plan promises, whatever it was made for.
inline void check_plan(const Plan& plan, const DeviceInfo& info) {
  constexpr std::size_t most_argument_bytes = 1000;
  const PlanReport& report = plan.report();
  require(std::isfinite(report.expected_seconds) && report.expected_seconds >= 0, "a time that may be");
  require(report.bytes_moved >= 0, "an amount of bytes that may be");
  for (const Launch& launch : plan.impl()->launches) {
    require(launch.geometry.groups > 0, "groups");
    require(launch.geometry.items > 0 && launch.geometry.items <= info.max_group, "groups of a size that may be");
    require(launch.geometry.local_bytes <= std::max(info.local_memory, info.local_memory_max),
            "local memory that fits");
    require(launch.params.size() + 16 * launch.buffers.size() <= most_argument_bytes, "arguments that fit");
    for (const LaunchBuffer& buffer : launch.buffers)
      require(buffer.element > 0 && buffer.view >= tickets_view, "buffers that may be");
  }
}

/// Plans, and looks at what was planned; whatever cannot be must be refused with a typed error.
inline void try_plan(const Operation& op, const std::vector<View>& views, const DeviceInfo& info,
                     const PlanOptions& options) {
  try {
    const Device device(std::make_shared<PlanningDevice>(info));
    check_plan(plan(op, views, device, options), info);
  } catch (const Error&) {
    // Refused: as good as planned.
  }
}

}  // namespace axisloom::fuzz
