// Fork detection by a pthread_atfork handler: a flag costs less on every call than asking for the process id.
#include "device/process.hpp"

#include <pthread.h>

#include <atomic>

namespace axisloom::device {

namespace {

std::atomic<bool> in_use{false};
std::atomic<int> starting{0};  // nesting of the thread that does
std::atomic<bool> child_of_user{false};
std::atomic<unsigned> generation{1};
std::atomic<void (*)()> before_drivers{nullptr};

// A child of a process that is only just starting a driver inherits half of it, and the lock for ever.
void in_child() {
  child_of_user = child_of_user || in_use || starting > 0;
  ++generation;
}

// When the library is loaded, so that no fork can come before it.
[[maybe_unused]] const int watching = pthread_atfork(nullptr, nullptr, in_child);

// Never destroyed: a thread may still be using a device while the process ends.
std::recursive_mutex& starting_mutex() {
  static auto* const mutex = new std::recursive_mutex;
  return *mutex;
}

}  // namespace

void remember_process() {
  in_use = true;
}

bool forked() noexcept {
  return child_of_user.load(std::memory_order_relaxed);
}

unsigned fork_generation() noexcept {
  return generation.load(std::memory_order_relaxed);
}

void require_same_process() {
  if (!forked()) return;
  throw Error(
      Errc::after_fork, "this process was forked from one that had already used a device",
      "use device \"host\", or others only in the child or only in the parent, or start the child with spawn or "
      "exec (Python: multiprocessing.set_start_method(\"spawn\"))");
}

void set_before_drivers(void (*arrange)()) {
  before_drivers = arrange;
}

Starting::Starting() {
  require_same_process();
  lock_ = std::unique_lock(starting_mutex());
  ++starting;
  if (const auto arrange = before_drivers.exchange(nullptr)) arrange();
}

Starting::~Starting() {
  --starting;
}

}  // namespace axisloom::device
