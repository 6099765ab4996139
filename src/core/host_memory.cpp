// Aligned host memory, advised to lie on huge pages.
#include "core/host_memory.hpp"

#include <sys/mman.h>

#include <cstdlib>

namespace axisloom::core {

void* allocate_host(size_t bytes) noexcept {
  constexpr size_t huge_page = size_t{2} << 20;
  const size_t alignment = bytes >= 2 * huge_page ? huge_page : host_alignment;
  const size_t rounded = (bytes + alignment - 1) / alignment * alignment;
  if (rounded < bytes) return nullptr;
  void* const memory = std::aligned_alloc(alignment, rounded);
  // Advice only: a system without huge pages refuses it, and the memory is as good as any other.
  if (memory != nullptr && alignment == huge_page) static_cast<void>(madvise(memory, rounded, MADV_HUGEPAGE));
  return memory;
}

}  // namespace axisloom::core
