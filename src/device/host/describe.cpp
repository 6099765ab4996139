// DeviceInfo of the host.
#include "core/host_memory.hpp"
#include "core/system_file.hpp"
#include "core/text.hpp"
#include "device/host/device.hpp"
#include "device/host/system.hpp"

namespace axisloom::device::host {

namespace {

constexpr const char* cpu_file = "/proc/cpuinfo";

// As many as the variants for GPUs ask for, which run on the host when they are forced.
constexpr size_t most_items = 1024;
// Caches stand in for local memory: by default what a first-level cache holds, on request what a second-level one does.
constexpr size_t local_memory = size_t{64} << 10, local_memory_max = size_t{1} << 20;

/// What PoCL's compiler calls such a processor: profiles of CPUs were measured through PoCL, and are found by it.
std::string pocl_name(Isa isa) {
  switch (isa) {
    case Isa::v4:
    case Isa::v4_vnni:
    case Isa::v4_bf16:
      return "skylake-avx512";
    case Isa::v3:
      return "haswell";
    case Isa::baseline:
    case Isa::neon:
      break;
  }
  return level(Isa::baseline);
}

std::string compiler() {
#ifdef __clang__
  return __VERSION__;  // "Clang 14.0.6", perhaps with a distribution's name before it
#else
  return concat("GCC ", __VERSION__);
#endif
}

}  // namespace

DeviceInfo describe(unsigned threads, Isa isa) {
  DeviceInfo info;
  info.api = Api::host;
  info.kind = Kind::cpu;
  info.name = core::field(cpu_file, "model name");  // which not every architecture has
  if (info.name.empty()) info.name = level(isa);
  info.vendor = core::field(cpu_file, "vendor_id");
  info.platform = "host";
  info.api_version = level(isa);
  info.compiler = compiler();
  info.architecture = pocl_name(isa);
  info.compute_units = threads;
  info.max_group = most_items;
  info.local_memory = local_memory;
  info.local_memory_max = local_memory_max;
  info.global_memory = usable_memory();
  info.max_allocation = info.global_memory;
  info.base_alignment = core::host_alignment;
  info.last_level_cache = last_level_cache();
  info.f16 = isa != Isa::baseline;
  info.byte_dots = isa == Isa::v4_vnni || isa == Isa::v4_bf16;
  info.bf16_dots = isa == Isa::v4_bf16;
  info.unified_memory = info.f64 = info.atomics_64 = info.byte_stores = info.device_scope_order = true;
  return info;
}

}  // namespace axisloom::device::host
