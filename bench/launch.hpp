// Launching the bench's own kernels.
#pragma once

#include "jit/jit.hpp"

namespace axisloom::bench {

/// So many groups of these items for so many points; an item then takes several where there are very many.
inline constexpr unsigned check_items = 256;
u64 check_groups(i64 points);

/// Runs a kernel of a file of this folder, named without its ending, over so many points and waits.
void launch_check(const Device& device, const Queue& queue, const std::string& file, const std::string& kernel,
                  jit::Defines defines, i64 points, std::span<const Buffer> buffers, std::span<const std::byte> params);

}  // namespace axisloom::bench
