// That the sanitizer which a build has is awake: a net that reports nothing may be asleep.
#include "sanitizers.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <thread>

namespace axisloom::test {
namespace {

/// Two threads add to one number without a lock.
[[noreturn]] void race() {
  int shared = 0;
  const auto add = [&] {
    for (int i = 0; i < 1000; ++i) ++shared;
  };
  std::thread other(add);
  add();
  other.join();
  std::exit(shared < 0 ? 1 : 0);
}

TEST(ThreadSanitizer, SeesAPlantedRace) {
  if (!thread_sanitizer) return;  // without it there is nothing to be seen
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  constexpr int reported = 66;  // what ThreadSanitizer ends with
  EXPECT_EXIT(race(), testing::ExitedWithCode(reported), "data race");
}

}  // namespace
}  // namespace axisloom::test
