// Rehearsals: how large they are, and how their arguments look.
#include "jit/rehearsal.hpp"

#include <vector>

#include "core/integers.hpp"
#include "device/opencl/pocl.hpp"

namespace axisloom::jit {
namespace {

/// PoCL compiles a kernel once for grids of fewer work-items than this along an axis, and once for all others.
constexpr u64 pocl_wide_grid = 65535;

}  // namespace

bool rehearses(const DeviceInfo& device, unsigned items) {
  return device.api == Api::opencl && device.platform == device::opencl::pocl_platform && items == 1;
}

u64 rehearsal_groups(u64 groups) {
  return groups >= pocl_wide_grid ? pocl_wide_grid : 1;
}

// Buffers are null, which OpenCL allows: the kernel returns before it looks at an argument.
void rehearse(device::Device& device, device::Program& program, const Specialisation& what, const LaunchForm& form) {
  const void* const no_buffer = nullptr;
  const i64 nothing = 0;  // an offset, or a length where accesses are checked
  const std::vector<std::byte> params(form.params_bytes);
  std::vector<device::Arg> args;
  for (size_t i = 0; i < form.buffers; ++i) {
    args.push_back(device::Arg::value(no_buffer));
    args.push_back(device::Arg::value(nothing));
    if (what.checked) args.push_back(device::Arg::value(nothing));
  }
  if (what.checked) args.push_back(device::Arg::value(no_buffer));  // the log
  args.push_back(device::Arg::bytes(params.data(), params.size()));
  const device::Geometry geometry{.groups = rehearsal_groups(form.groups), .items = what.items, .rehearsal = true};
  device.queue(false)->launch(program, what.kernel, geometry, args, {})->wait();
}

}  // namespace axisloom::jit
