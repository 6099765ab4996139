// What is arranged for drivers before the first is opened, and undone in the end.
#include "cli/drivers.hpp"

#include "cli/messages.hpp"
#include "cli/pocl_folder.hpp"

#include "device/opencl/pocl.hpp"

#include <unistd.h>

#include <atomic>
#include <cstdlib>
#include <optional>

namespace axisloom::cli {
namespace {

std::atomic<bool> leaving{false};

std::optional<PoclFolder>& own_folder() {
  static std::optional<PoclFolder> folder;
  return folder;
}

// LLVM, with which PoCL compiles, exits with 1 where it cannot write a file: the program's code for a wrong result.
void on_exit() {
  if (leaving) return;
  const std::string fault = device::opencl::pocl_folder_fault();
  say(fault.empty()
          ? error_text("a driver ended the program; its own message is above", "see also: axisloom doctor")
          : error_text(fmt::format("a driver ended the program; PoCL keeps what it compiles in {}, which cannot be "
                                   "used: {}",
                                   device::opencl::pocl_folder(), fault),
                       device::opencl::pocl_folder_remedy));
  ::_exit(exit_code(Errc::device));
}

}  // namespace

void arrange_drivers() {
  static const bool arranged = [] {
    std::atexit(on_exit);
    own_folder() = PoclFolder::take();
    return true;
  }();
  (void)arranged;
}

void distrust_drivers() {
  own_folder().reset();
}

void leave_drivers() noexcept try {
  leaving = true;
  if (own_folder()) own_folder()->keep();
} catch (...) {
  // Out of memory: the next process then begins with an empty folder.
}

}  // namespace axisloom::cli
