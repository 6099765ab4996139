// Stands between the C runtime and the program's main: faults begin there, when everything the program links is loaded.
#include "state.hpp"

#include <dlfcn.h>

#include <cstdlib>
#include <cstring>

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

/// Set for the programs that this one starts, such as the linker that PoCL calls: they are left alone.
constexpr const char* kWithin = "AXISLOOM_FAULT_WITHIN";

Main real_main = nullptr;

int watched_main(int count, char** arguments, char** environment) {
  using namespace axisloom::faults;
  setenv(kWithin, "", 1);
  note_objects();
  watch_system_calls();
  arm(true);
  return real_main(count, arguments, environment);
}

// The last to run: what the program does while it ends has been seen.
__attribute__((destructor)) void finish() {
  axisloom::faults::arm(false);
  axisloom::faults::write_calls();
}

}  // namespace

extern "C" __attribute__((visibility("default"))) int __libc_start_main(Main main, int count, char** arguments,
                                                                        void (*init)(), void (*fini)(),
                                                                        void (*loader)(), void* stack) {
  real_main = main;
  const auto start = reinterpret_cast<Start>(dlsym(RTLD_NEXT, "__libc_start_main"));
  const bool wanted = !std::getenv(kWithin) && axisloom::faults::read_orders();
  return start(wanted ? watched_main : main, count, arguments, init, fini, loader, stack);
}

// A compiler of the machine's own looks for a driver too, and does not expect one that is played: with
// AXISLOOM_FAULT_ONLY_NVRTC, no NVRTC opens but the one of that name.
extern "C" __attribute__((visibility("default"))) void* dlopen(const char* path, int flags) {
  static const auto real = reinterpret_cast<void* (*)(const char*, int)>(dlsym(RTLD_NEXT, "dlopen"));
  static const char* const only = std::getenv("AXISLOOM_FAULT_ONLY_NVRTC");
  const bool hidden = only && path && std::strstr(path, "libnvrtc") && std::strcmp(path, only) != 0;
  return real(hidden ? "/hidden" : path, flags);
}
