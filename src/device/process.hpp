// Which process used a driver, and which of its threads is starting one: a driver's threads do not survive a fork, so
// its objects are useless in a child, and drivers do not survive being started by two threads at once.
#pragma once

#include "core/not_copied.hpp"
#include "device/device.hpp"

#include <mutex>

namespace axisloom::device {

/// From now on a fork makes drivers unusable in the child; called when one first shows a device.
void remember_process();
/// True in a child of a process that had called remember_process or was starting a driver. Destructors ask it, to
/// leave the driver alone.
bool forked() noexcept;
/// 1, and one more in each child: whoever has threads sees by it that they did not come along.
unsigned fork_generation() noexcept;

/// Calls this once, before any driver is looked for.
void set_before_drivers(void (*arrange)());

/// Held by whatever may make a driver start: listing devices, describing, opening and borrowing them. One thread of
/// the process at a time has one; the thread that has it may make more. Throws Error(after_fork).
class Starting : core::NotCopied {
 public:
  Starting();
  ~Starting();

 private:
  HeldLines lines_;  // first, so that they go out when the lock is free again
  std::unique_lock<std::recursive_mutex> lock_;
};

}  // namespace axisloom::device
