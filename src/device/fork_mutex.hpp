// A mutex that a fork cannot leave locked.
#pragma once

#include "core/not_copied.hpp"

#include <atomic>

namespace axisloom::device {

/// Held across a whole run. A thread that holds it does not come along into the child of a fork, so the child finds it
/// free.
class ForkMutex : core::NotCopied {
 public:
  /// Whether the last holder was lost in a fork, and what it guards may be in any state.
  [[nodiscard]] bool lock() noexcept;
  void unlock() noexcept;

 private:
  std::atomic<unsigned> holder_{0};  // fork_generation() of the process that holds it; 0: nobody
};

}  // namespace axisloom::device
