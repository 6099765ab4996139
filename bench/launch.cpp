// Groups, arguments, and the wait.
#include "bench/launch.hpp"

#include <algorithm>

namespace axisloom::bench {

u64 check_groups(i64 points) {
  constexpr i64 largest_grid = 1 << 12;
  return std::clamp<i64>(ceil_div(points, check_items), 1, largest_grid);
}

void launch_check(const Device& device, const Queue& queue, const std::string& file, const std::string& kernel,
                  jit::Defines defines, i64 points, std::span<const Buffer> buffers,
                  std::span<const std::byte> params) {
  defines.set("AXL_PARAMS_SIZE", i64(params.size()));
  const u64 groups = check_groups(points);
  const auto program = jit::obtain(*device.impl(), {"bench/" + file + ".kernel", kernel, defines, check_items, false},
                                   {groups, buffers.size(), params.size()});
  const i64 no_offset = 0;
  std::vector<device::Arg> args;
  for (const Buffer& buffer : buffers) {
    args.push_back(device::Arg::of(*buffer.impl()));
    args.push_back(device::Arg::bytes(&no_offset, sizeof no_offset));
  }
  args.push_back(device::Arg::bytes(params.data(), params.size()));
  queue.impl()->launch(*program, kernel, {groups, check_items, 0, 1}, args, {})->wait();
}

}  // namespace axisloom::bench
