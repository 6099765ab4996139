// The counters of the cache of programs tell that a compilation has begun, and that its program was stored.
#include "cli/compiling.hpp"

#include "cli/messages.hpp"

#include "jit/jit.hpp"

#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <mutex>

namespace axisloom::cli {
namespace {

constexpr std::chrono::milliseconds interval{50}, long_compilation{300};

/// Programs of which nobody knows yet that they are done. Where none are stored that is each that was begun.
u64 under_way() {
  const jit::CacheStats now = jit::cache_stats();
  return now.compiles - now.stored;
}

void watch(const std::stop_token& stop, u64 before) {
  std::mutex mutex;
  std::condition_variable_any sleep;
  std::unique_lock lock(mutex);
  for (std::chrono::milliseconds busy{0};
       busy<long_compilation; busy = under_way()> before ? busy + interval : busy * 0) {
    sleep.wait_for(lock, stop, interval, [] { return false; });
    if (stop.stop_requested()) return;
  }
  show_progress("compiling kernels for this device ...");
}

}  // namespace

CompilingNotice::CompilingNotice(bool wanted) {
  if (wanted && isatty(STDERR_FILENO) == 1) watcher_ = std::jthread(watch, under_way());
}

CompilingNotice::~CompilingNotice() {
  if (!watcher_.joinable()) return;
  watcher_.request_stop();
  watcher_.join();
  show_progress("");
}

}  // namespace axisloom::cli
