// Groups, arguments, and the wait.
#include "bench/launch.hpp"

#include <algorithm>

namespace axisloom::bench {

CheckGrid::CheckGrid(const Device& device, i64 points) {
  constexpr i64 gpu_items = 256, largest_grid = 1 << 12;
  groups = std::clamp<i64>(ceil_div(points, gpu_items), 1, largest_grid);
  items = device.info().kind == Kind::cpu ? 1 : gpu_items;
}

void launch_check(const Device& device, const Queue& queue, const std::string& file, const std::string& kernel,
                  jit::Defines defines, i64 points, std::span<const Buffer> buffers,
                  std::span<const std::byte> params) {
  defines.set("AXL_PARAMS_SIZE", i64(params.size()));
  const auto [groups, items] = CheckGrid(device, points);
  const auto program = jit::obtain(*device.impl(), {"bench/" + file + ".kernel", kernel, defines, items, false},
                                   {groups, buffers.size(), params.size()});
  const i64 no_offset = 0;
  std::vector<device::Arg> args;
  for (const Buffer& buffer : buffers) {
    args.push_back(device::Arg::of(*buffer.impl()));
    args.push_back(device::Arg::bytes(&no_offset, sizeof no_offset));
  }
  args.push_back(device::Arg::bytes(params.data(), params.size()));
  queue.impl()->launch(*program, kernel, {groups, items, 0, 1}, args, {})->wait();
}

}  // namespace axisloom::bench
