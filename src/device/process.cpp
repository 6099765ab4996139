// Fork detection by a pthread_atfork handler: a flag costs less on every call than asking for the process id.
#include "device/process.hpp"

#include "device/device.hpp"

#include <pthread.h>

#include <atomic>
#include <mutex>

namespace axisloom::device {

namespace {
std::atomic<bool> child_of_user{false};
}  // namespace

void remember_process() {
  static std::once_flag once;
  std::call_once(once, [] { pthread_atfork(nullptr, nullptr, [] { child_of_user = true; }); });
}

bool forked() noexcept {
  return child_of_user.load(std::memory_order_relaxed);
}

void require_same_process() {
  if (!forked()) return;
  throw Error(Errc::after_fork, "this process was forked from one that had already used a device",
              "use devices only in the child or only in the parent, or start the child with spawn or exec "
              "(Python: multiprocessing.set_start_method(\"spawn\"))");
}

}  // namespace axisloom::device
