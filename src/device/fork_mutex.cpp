#include "device/fork_mutex.hpp"

#include "device/process.hpp"

namespace axisloom::device {

bool ForkMutex::lock() noexcept {
  const unsigned here = fork_generation();
  for (;;) {
    unsigned holder = holder_.load(std::memory_order_relaxed);
    if (holder == here)
      holder_.wait(holder, std::memory_order_relaxed);
    else if (holder_.compare_exchange_weak(holder, here, std::memory_order_acquire, std::memory_order_relaxed))
      return holder != 0;
  }
}

void ForkMutex::unlock() noexcept {
  holder_.store(0, std::memory_order_release);
  holder_.notify_one();
}

}  // namespace axisloom::device
