// Runs one test of this program in a process of its own, for what happens only once in a process or may end it.
#pragma once

#include <gtest/gtest.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::test {

/// Exit status of a test that ran in its own process and passed; a program that ran no test ends in 0.
inline constexpr int passed_alone = 42;

/// The end of a test that `run_alone` starts: its destructors and those of the process run, and their faults show.
[[noreturn]] inline void end_alone() {
  std::exit(testing::Test::HasFailure() ? 1 : passed_alone);
}

/// Runs a test whose name begins with DISABLED_ in a fresh process of this program, with `more` in its environment
/// ("NAME=value"), and says how that ended: empty when it passed. `command`: a program before this one, and another
/// copy of this one, where it is not to be started as it is.
inline std::string run_alone(const std::string& test, const std::vector<std::string>& more = {},
                             std::vector<std::string> command = {"/proc/self/exe"}) {
  for (const std::string& word :
       {"--gtest_filter=" + test, std::string("--gtest_also_run_disabled_tests"), std::string("--gtest_brief=1")})
    command.push_back(word);
  // LLVM gives the thread that starts it a stack for signals, which AddressSanitizer takes for its own when that thread
  // ends.
  const char* const sanitizer = std::getenv("ASAN_OPTIONS");
  std::vector<std::string> environment = more;
  environment.push_back("ASAN_OPTIONS=" + std::string(sanitizer ? sanitizer : "") + ":use_sigaltstack=0");
  for (char** at = environ; *at; ++at) {
    if (!std::string_view(*at).starts_with("GTEST_"))
      environment.emplace_back(*at);  // it would deal the test to shards
  }
  const auto pointers = [](std::vector<std::string>& texts) {
    std::vector<char*> list;
    for (std::string& text : texts) list.push_back(text.data());
    list.push_back(nullptr);
    return list;
  };
  pid_t child = 0;
  int status = 0;
  if (posix_spawn(&child, command[0].c_str(), nullptr, nullptr, pointers(command).data(),
                  pointers(environment).data()) != 0 ||
      waitpid(child, &status, 0) != child)
    return "it could not be started";
  if (WIFSIGNALED(status)) return "ended by signal " + std::to_string(WTERMSIG(status));
  return WEXITSTATUS(status) == passed_alone ? "" : "exit status " + std::to_string(WEXITSTATUS(status));
}

}  // namespace axisloom::test
