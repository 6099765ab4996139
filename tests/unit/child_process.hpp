// Tests of what happens in another process: one test alone in a fresh one, or a few lines in a forked one.
#pragma once

#include <fcntl.h>
#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <spawn.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

extern char** environ;

namespace axisloom::test {

/// The wait status of a process.
inline int status_of(pid_t child) {
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
  return status;
}

/// Starts this program for one test, with the variables of now and its output dropped.
inline pid_t start_test_alone(const std::string& name) {
  posix_spawn_file_actions_t quiet;
  EXPECT_EQ(posix_spawn_file_actions_init(&quiet), 0);
  EXPECT_EQ(posix_spawn_file_actions_addopen(&quiet, STDOUT_FILENO, "/dev/null", O_WRONLY, 0), 0);
  std::string program = std::filesystem::read_symlink("/proc/self/exe").string();
  std::string filter = "--gtest_filter=" + name;
  char* arguments[] = {program.data(), filter.data(), nullptr};
  std::vector<char*> variables;  // without those that deal tests to several processes
  for (char** variable = environ; *variable != nullptr; ++variable)
    if (!std::string_view(*variable).starts_with("GTEST_")) variables.push_back(*variable);
  variables.push_back(nullptr);
  pid_t child = -1;
  EXPECT_EQ(posix_spawn(&child, program.c_str(), &quiet, nullptr, arguments, variables.data()), 0);
  posix_spawn_file_actions_destroy(&quiet);
  return child;
}

/// Runs one test in a fresh process; 0 when it passed.
inline int run_test_alone(const std::string& name) {
  return status_of(start_test_alone(name));
}

/// Calls a function in a forked process, which then ends without another word; what it returns is the exit code.
template <typename Body>
int exit_code_of(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  const int status = status_of(child);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

/// From now on every call of this number fails in this process, which can never take it back. False when the system
/// does not allow that.
inline bool fail_calls(int number, int code) {
  const auto refusal = static_cast<__u32>(SECCOMP_RET_ERRNO | (code & SECCOMP_RET_DATA));
  sock_filter steps[] = {
      {BPF_LD | BPF_W | BPF_ABS, 0, 0, offsetof(seccomp_data, nr)},
      {BPF_JMP | BPF_JEQ | BPF_K, 0, 1, static_cast<__u32>(number)},
      {BPF_RET | BPF_K, 0, 0, refusal},
      {BPF_RET | BPF_K, 0, 0, SECCOMP_RET_ALLOW},
  };
  const sock_fprog program{static_cast<unsigned short>(std::size(steps)), steps};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 && ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace axisloom::test
