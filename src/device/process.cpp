// Fork detection by a pthread_atfork handler: a flag costs less on every call than asking for the process id.
#include "device/process.hpp"

#include <pthread.h>

#include <atomic>

namespace axisloom::device {

namespace {

std::atomic<bool> in_use{false};
std::atomic<int> starting{0};  // nesting of the thread that does
std::atomic<bool> child_of_user{false};

// A child of a process that is only just starting a runtime inherits half of it, and the lock for ever.
void watch_forks() {
  static std::once_flag once;
  std::call_once(
      once, [] { pthread_atfork(nullptr, nullptr, [] { child_of_user = child_of_user || in_use || starting > 0; }); });
}

// Never destroyed: a thread may still be using a device while the process ends.
std::recursive_mutex& starting_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

void remember_process() {
  watch_forks();
  in_use = true;
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

Starting::Starting() {
  require_same_process();
  watch_forks();
  lock_ = std::unique_lock(starting_mutex());
  ++starting;
}

Starting::~Starting() {
  --starting;
}

}  // namespace axisloom::device
