// System calls of reading and writing fail on order, also those that the C library makes inside (stdio, directories).
//
// A seccomp filter has the kernel raise SIGSYS for the calls that are watched, when the instruction lies in the C
// library or the loader. The handler looks whose call it is, and answers it: with an error, with half of it, or by
// making it from an instruction of its own, which the filter lets pass. A child that starts another program keeps the
// filter, but has its C library elsewhere, so nothing of it is trapped.
#include "injection.hpp"
#include "state.hpp"

#include <dlfcn.h>
#include <fcntl.h>
#include <link.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <ucontext.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstddef>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <span>

namespace axisloom::faults {
namespace {

struct Watched {
  long number;
  const char* entry;
  bool changes_files;  // whatever its arguments
};
constexpr auto kWatched = std::to_array<Watched>({
    {SYS_open, "open", false},
    {SYS_openat, "open", false},
    {SYS_close, "close", false},
    {SYS_read, "read", false},
    {SYS_pread64, "pread", false},
    {SYS_readv, "readv", false},
    {SYS_write, "write", true},
    {SYS_pwrite64, "pwrite", true},
    {SYS_writev, "writev", true},
    {SYS_fsync, "fsync", true},
    {SYS_fdatasync, "fdatasync", true},
    {SYS_ftruncate, "ftruncate", true},
    {SYS_fallocate, "fallocate", true},
    {SYS_rename, "rename", true},
    {SYS_renameat, "rename", true},
    {SYS_renameat2, "rename", true},
    {SYS_link, "link", true},
    {SYS_linkat, "link", true},
    {SYS_symlink, "symlink", true},
    {SYS_unlink, "unlink", true},
    {SYS_unlinkat, "unlink", true},
    {SYS_mkdir, "mkdir", true},
    {SYS_mkdirat, "mkdir", true},
    {SYS_rmdir, "rmdir", true},
    {SYS_fchmod, "fchmod", true},
    {SYS_fchown, "fchown", true},
    {SYS_utimensat, "utimensat", true},
    {SYS_copy_file_range, "copy_file_range", true},
    {SYS_sendfile, "sendfile", true},
    {SYS_stat, "stat", false},
    {SYS_lstat, "stat", false},
    {SYS_fstat, "stat", false},
    {SYS_newfstatat, "stat", false},
    {SYS_statx, "stat", false},
    {SYS_access, "access", false},
    {SYS_faccessat, "access", false},
    {SYS_faccessat2, "access", false},
    {SYS_readlink, "readlink", false},
    {SYS_getdents64, "getdents", false},
    {SYS_lseek, "lseek", false},
    {SYS_flock, "flock", false},
    {SYS_mmap, "mmap", false},  // of files; the last, since the filter looks at another word for it
});

using Arguments = std::array<long, 6>;

const Watched& watched(long number) {
  return *std::ranges::find(kWatched, number, &Watched::number);
}

bool changes_files(const Watched& call, const Arguments& a) {
  if (call.number != SYS_open && call.number != SYS_openat) return call.changes_files;
  return (a[call.number == SYS_open ? 1 : 2] & (O_WRONLY | O_RDWR | O_CREAT)) != 0;
}

long make(long number, const Arguments& a) {
  return raw_call(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}

/// Half of a transfer, and at least a byte.
long make_half(long number, Arguments a) {
  const auto half = [](std::size_t bytes) { return static_cast<long>(std::max<std::size_t>(1, bytes / 2)); };
  if (number != SYS_readv && number != SYS_writev) {
    a[2] = half(static_cast<std::size_t>(a[2]));
    return make(number, a);
  }
  const auto& first = *reinterpret_cast<const iovec*>(a[1]);
  return raw_call(number == SYS_readv ? SYS_read : SYS_write, a[0], reinterpret_cast<long>(first.iov_base),
                  half(first.iov_len));
}

long fail(long number, const Arguments& a, int code) {
  if (code == kKill) {
    note_killed_before(watched(number).entry);
    raw_call(SYS_kill, raw_call(SYS_getpid), SIGKILL);
  }
  if (code == kShort) return make_half(number, a);
  if (number == SYS_close) make(number, a);  // Linux closes whatever close says
  return -code;
}

long answer(long number, const Arguments& a) {
  if (!armed()) return make(number, a);
  const Watched& call = watched(number);
  const void* const site = our_site(nullptr);
  const bool writing = changes_files(call, a);
  int code = 0;
  if (writing && axisloom_fault_strikes(kAnyWriting, site, &code)) return fail(number, a, code);
  if (site && writing && axisloom_fault_strikes(kWriting, site, &code)) return fail(number, a, code);
  if (site && axisloom_fault_strikes(call.entry, site, &code)) return fail(number, a, code);
  return make(number, a);
}

void on_trap(int, siginfo_t* info, void* context) {
  const int kept = errno;
  auto& r = static_cast<ucontext_t*>(context)->uc_mcontext.gregs;
  r[REG_RAX] = answer(info->si_syscall,
                      {static_cast<long>(r[REG_RDI]), static_cast<long>(r[REG_RSI]), static_cast<long>(r[REG_RDX]),
                       static_cast<long>(r[REG_R10]), static_cast<long>(r[REG_R8]), static_cast<long>(r[REG_R9])});
  errno = kept;
}

// --- the filter
// -------------------------------------------------------------------------------------------------------

struct Code {
  std::uint64_t begin = 0, end = 0;
};

int find_code(dl_phdr_info* info, std::size_t, void* data) {
  const char* const name = std::strrchr(info->dlpi_name, '/');
  const bool loader = name && std::strncmp(name, "/ld-linux", 9) == 0;
  if (!loader && !(name && std::strncmp(name, "/libc.so", 8) == 0)) return 0;
  for (int i = 0; i < info->dlpi_phnum; ++i) {
    const auto& part = info->dlpi_phdr[i];
    if (part.p_type != PT_LOAD || !(part.p_flags & PF_X)) continue;
    const std::uint64_t begin = info->dlpi_addr + part.p_vaddr;
    static_cast<Code*>(data)[loader ? 1 : 0] = {begin, begin + part.p_memsz};
  }
  return 0;
}

constexpr std::uint32_t low(std::uint64_t value) {
  return static_cast<std::uint32_t>(value);
}
constexpr std::uint32_t high(std::uint64_t value) {
  return static_cast<std::uint32_t>(value >> 32);
}

class Filter {
 public:
  void add(std::uint16_t code, std::uint32_t value, std::uint8_t yes = 0, std::uint8_t no = 0) {
    if (used_ < program_.size()) program_[used_++] = {code, yes, no, value};
  }
  void load(std::size_t offset) { add(BPF_LD | BPF_W | BPF_ABS, static_cast<std::uint32_t>(offset)); }
  void give(std::uint32_t verdict) { add(BPF_RET | BPF_K, verdict); }

  /// Goes on `skip` instructions after these when the instruction lies in `code`, else with the next one. A range that
  /// crosses 4 GiB is taken up to there.
  void jump_within(const Code& code, std::uint32_t skip) {
    constexpr std::size_t at = offsetof(seccomp_data, instruction_pointer);
    const std::uint32_t last = high(code.begin) == high(code.end) ? low(code.end) : 0xffffffffU;
    load(at + 4);
    add(BPF_JMP | BPF_JEQ | BPF_K, high(code.begin), 0, 4);
    load(at);
    add(BPF_JMP | BPF_JGE | BPF_K, low(code.begin), 0, 2);
    add(BPF_JMP | BPF_JGE | BPF_K, last, 1, 0);
    add(BPF_JMP | BPF_JA, skip);
  }
  static constexpr std::uint32_t kJumpLength = 6;

  bool install() {
    const sock_fprog program{static_cast<unsigned short>(used_), program_.data()};
    return used_ < program_.size() && prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
           prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
  }

 private:
  std::array<sock_filter, 256> program_{};
  std::size_t used_ = 0;
};

bool wanted(const Watched& call) {
  const bool may_write = call.changes_files || std::strcmp(call.entry, "open") == 0;
  return watches(call.entry) || (may_write && (watches(kWriting) || watches(kAnyWriting)));
}

bool install_filter() {
  std::array<Code, 2> code;
  dl_iterate_phdr(find_code, code.data());
  Filter filter;
  filter.load(offsetof(seccomp_data, arch));
  filter.add(BPF_JMP | BPF_JEQ | BPF_K, AUDIT_ARCH_X86_64, 1, 0);
  filter.give(SECCOMP_RET_ALLOW);
  filter.jump_within(code[0], Filter::kJumpLength + 1);
  filter.jump_within(code[1], 1);
  filter.give(SECCOMP_RET_ALLOW);
  filter.load(offsetof(seccomp_data, nr));
  for (const Watched& call : kWatched) {
    if (!wanted(call)) continue;
    const bool file_only = call.number == SYS_mmap;
    filter.add(BPF_JMP | BPF_JEQ | BPF_K, static_cast<std::uint32_t>(call.number), 0, file_only ? 3 : 1);
    if (file_only) {
      filter.load(offsetof(seccomp_data, args[4]));
      filter.add(BPF_JMP | BPF_JEQ | BPF_K, 0xffffffffU, 1, 0);
    }
    filter.give(SECCOMP_RET_TRAP);
  }
  filter.give(SECCOMP_RET_ALLOW);
  return filter.install();
}

}  // namespace

long raw_call(long number, long a, long b, long c, long d, long e, long f) {
  long result = number;
  register long r10 asm("r10") = d;
  register long r8 asm("r8") = e;
  register long r9 asm("r9") = f;
  asm volatile("syscall" : "+a"(result) : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9) : "rcx", "r11", "memory");
  return result;
}

void watch_system_calls() {
  if (std::ranges::none_of(kWatched, wanted)) return;
  struct sigaction action {};
  action.sa_sigaction = on_trap;
  action.sa_flags = SA_SIGINFO;
  if (sigaction(SIGSYS, &action, nullptr) == 0 && install_filter()) return;
  std::fprintf(stderr, "system calls cannot be watched here: seccomp is refused\n");
  std::_Exit(1);
}

}  // namespace axisloom::faults

// LLVM, inside PoCL, takes every signal, and blocks them all while it closes a file: not this one.
extern "C" __attribute__((visibility("default"))) int sigaction(int signal, const struct sigaction* action,
                                                                struct sigaction* old) {
  static const auto real = reinterpret_cast<decltype(&sigaction)>(dlsym(RTLD_NEXT, "sigaction"));
  if (signal != SIGSYS || !axisloom::faults::armed()) return real(signal, action, old);
  if (old) *old = {};
  return 0;
}

extern "C" __attribute__((visibility("default"))) int pthread_sigmask(int how, const sigset_t* set, sigset_t* old) {
  static const auto real = reinterpret_cast<decltype(&pthread_sigmask)>(dlsym(RTLD_NEXT, "pthread_sigmask"));
  if (!set || how == SIG_UNBLOCK) return real(how, set, old);
  sigset_t without = *set;
  sigdelset(&without, SIGSYS);
  return real(how, &without, old);
}
