// Stands between the C runtime and the program's main: faults begin there, when everything the program links is loaded.
#include "state.hpp"

#include <dlfcn.h>

namespace {

using Main = int (*)(int, char**, char**);
using Start = int (*)(Main, int, char**, void (*)(), void (*)(), void (*)(), void*);

Main real_main = nullptr;

int watched_main(int count, char** arguments, char** environment) {
  using namespace axisloom::faults;
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
  const bool wanted = axisloom::faults::read_orders();
  return start(wanted ? watched_main : main, count, arguments, init, fini, loader, stack);
}
