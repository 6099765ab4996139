// For tests of the host's runtime: members of a pool that wait for each other.
#pragma once

#include "device/host/pool.hpp"
#include "opencl_support.hpp"
#include "sanitizers.hpp"

#include <chrono>
#include <thread>

namespace axisloom::test {

/// Waits until that many threads have come; false when they do not come.
class Meeting {
 public:
  explicit Meeting(unsigned expected) : expected_(expected) {}
  bool wait() {
    ++come_;
    return until([&] { return come_ >= expected_; });
  }
  static bool until(const auto& done) {
    constexpr auto limit = std::chrono::seconds(20);
    for (const auto end = std::chrono::steady_clock::now() + limit; !done(); std::this_thread::yield())
      if (std::chrono::steady_clock::now() > end) return false;
    return true;
  }

 private:
  const unsigned expected_;
  std::atomic<unsigned> come_{0};
};

/// Runs something once on each member of a pool, with all of them in it at once; false when they do not all come.
inline bool on_every_member(device::host::Pool& pool, const auto& what) {
  Meeting meeting(pool.threads());
  std::atomic<bool> all{true};
  pool.run(pool.threads(), pool.threads(), [&](u64 begin, u64 end, unsigned member) {
    if (!meeting.wait()) all = false;
    for (u64 i = begin; i < end; ++i) what(i, member);
  });
  return all;
}

/// ThreadSanitizer ends a child that starts threads (unless TSAN_OPTIONS has die_after_fork=0).
#define AXISLOOM_SKIP_WITHOUT_THREADS_IN_CHILDREN() \
  if (axisloom::test::thread_sanitizer) GTEST_SKIP() << "threads of a child are not for ThreadSanitizer"

}  // namespace axisloom::test
