// Host memory for arrays: aligned for the widest access, and on huge pages when it is large.
#pragma once

#include "core/integers.hpp"

#include <algorithm>

namespace axisloom::core {

/// Bytes to which allocate_host aligns: the widest vector that a kernel accesses, twice over.
inline constexpr size_t host_alignment = 256;

/// The largest power of two that divides an address or an offset, up to `limit`, which is one itself.
constexpr u64 alignment_of(u64 address, u64 limit) {
  return address == 0 ? limit : std::min(limit, address & (~address + 1));
}
inline u64 alignment_of(const void* address, u64 limit) {
  return alignment_of(reinterpret_cast<std::uintptr_t>(address), limit);
}

/// Uninitialised memory, to be given back by std::free; null when there is none. Large blocks ask for huge pages: a
/// transpose touches a new page with every row, and on small pages address translation takes half of its time
/// (docs/design/rearrange.md).
void* allocate_host(size_t bytes) noexcept;

}  // namespace axisloom::core
