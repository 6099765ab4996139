// A few lines in a forked process, whose system calls may fail; own_process.hpp is for a test in a fresh one.
#pragma once

#include <gtest/gtest.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstddef>

namespace axisloom::test {

/// Calls a function in a forked process, which then ends without another word; what it returns is the exit code.
template <typename Body>
int exit_code_of(Body&& body) {
  const pid_t child = ::fork();
  if (child == 0) ::_exit(body());
  int status = -1;
  EXPECT_EQ(::waitpid(child, &status, 0), child);
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
