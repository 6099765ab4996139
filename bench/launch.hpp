// Launching the bench's own kernels.
#pragma once

#include "jit/jit.hpp"

namespace axisloom::bench {

/// Groups for so many points, of which each item takes several where there are very many. A CPU's groups have one item.
struct CheckGrid {
  CheckGrid(const Device& device, i64 points);
  u64 groups;
  unsigned items;  // of a group
};

/// Runs a kernel of a file of this folder, named without its ending, over so many points and waits.
void launch_check(const Device& device, const Queue& queue, const std::string& file, const std::string& kernel,
                  jit::Defines defines, i64 points, std::span<const Buffer> buffers, std::span<const std::byte> params);

}  // namespace axisloom::bench
