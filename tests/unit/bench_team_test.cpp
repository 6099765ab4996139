// A team that cannot be had whole: those who started leave, and the failure has a type.
#include "bench/team.hpp"

#include <axisloom/error.hpp>

#include "sanitizers.hpp"

#include <gtest/gtest.h>

#include <sys/resource.h>

#include <cstdlib>

namespace axisloom::bench {
namespace {

/// Ends the process with 0 when so many threads, for whose stacks there is no room, end in an Error.
[[noreturn]] void start_too_many() {
  constexpr rlim_t room = rlim_t{1} << 33;  // bytes of address space: less than the stacks take, more than is in use
  constexpr unsigned many = 4096;
  const rlimit stack{rlim_t{8} << 20, RLIM_INFINITY}, space{room, room};
  if (setrlimit(RLIMIT_STACK, &stack) != 0 || setrlimit(RLIMIT_AS, &space) != 0) std::_Exit(2);
  try {
    const Team team(many);
  } catch (const Error& error) {
    std::_Exit(error.code() == Errc::out_of_memory ? 0 : 3);
  }
  std::_Exit(4);
}

TEST(BenchTeam, ThreadsThatCannotStartAreAnError) {
  if (test::address_sanitizer) GTEST_SKIP() << "AddressSanitizer ends a program that has no room for a stack";
  EXPECT_EXIT(start_too_many(), ::testing::ExitedWithCode(0), "");
}

}  // namespace
}  // namespace axisloom::bench
