// Which process opened the devices, and which of its threads is starting runtimes: a runtime's threads do not survive a
// fork, so its objects are useless in a child, and runtimes do not survive being started by two threads at once.
#pragma once

#include "core/not_copied.hpp"
#include "device/device.hpp"

#include <mutex>

namespace axisloom::device {

/// From now on a fork makes this library unusable in the child; called when a runtime first shows a device.
void remember_process();
/// True in a child of a process that had called remember_process or was starting a runtime. Destructors ask it, to
/// leave the runtime alone.
bool forked() noexcept;

/// Held by whatever may make a runtime start: listing devices, describing, opening and borrowing them. One thread of
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
