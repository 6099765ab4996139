// The work-items of a group that meet at barriers: each runs on a stack of its own, all on one thread, one after the
// other from barrier to barrier.
#pragma once

#include "core/not_copied.hpp"
#include "device/host/stacks.hpp"

namespace axisloom::device::host {

/// Each thread has its own, which keep their stacks for the next group.
class Fibers : core::NotCopied {
 public:
  using Item = void (*)(void* context, u32 number);

  ~Fibers();

  /// Calls item(context, 0 ... items - 1). False, and nothing was run, when there is no memory for their stacks. An
  /// item may end while others wait at a barrier, which then do not wait for it; OpenCL does not allow that.
  bool run(u32 items, Item item, void* context) noexcept;
  /// Called by an item: returns when all items that have not ended have called it.
  static void barrier() noexcept;

 private:
  struct Fiber;

  bool map(u32 items) noexcept;
  void unmap() noexcept;
  Fiber& fiber(u32 number) const noexcept;
  static void begin() noexcept;

  std::byte* memory_ = nullptr;
  u32 mapped_ = 0;  // fibers
  Stack home_;
  Item item_ = nullptr;
  void* context_ = nullptr;
};

}  // namespace axisloom::device::host
