// A program with planted faults, by which the net is tried: each must be caught, and the sound one must not.
//
// usage: axisloom_faults_victim FAULT OUTPUT      writes OUTPUT as the program does: beside it, then renamed
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <new>
#include <string>
#include <string_view>

namespace {

const std::string text = "the new result\n";

[[noreturn]] void fail() {
  constexpr std::string_view line = "axisloom: no\n";
  if (write(STDERR_FILENO, line.data(), line.size()) < 0) std::_Exit(4);
  std::_Exit(4);
}

/// Writes all of it. `checked`: an error is an error; `patient`: what is interrupted goes on.
bool write_all(int file, bool checked, bool patient) {
  for (std::size_t done = 0; done < text.size();) {
    const ssize_t some = write(file, text.data() + done, text.size() - done);
    if (some < 0 && errno == EINTR && patient) continue;
    if (some < 0) return !checked;
    done += static_cast<std::size_t>(some);
    if (!patient) break;
  }
  return true;
}

int run(std::string_view fault, const std::string& output) {
  const std::string temporary = output + ".part";
  const std::string& begun = fault == "overwrites" ? output : temporary;
  const int file = open(begun.c_str(), O_WRONLY | O_CREAT | O_TRUNC, 0666);
  if (file < 0) fail();
  const bool written = write_all(file, fault != "ignores-write", fault != "impatient");
  if (!written && fault == "hangs") pause();
  if (!written && fault != "leaves-temporary") unlink(temporary.c_str());
  if (!written && fault == "exit-1") return 1;
  if (!written && fault == "silent") return 4;
  if (!written) fail();
  close(file);
  if (begun != output && rename(temporary.c_str(), output.c_str()) != 0 && fault != "ignores-rename") {
    unlink(temporary.c_str());
    fail();
  }
  return 0;
}

}  // namespace

int main(int count, char** arguments) {
  if (count != 3) return 2;
  const std::string_view fault = arguments[1];
  try {
    return run(fault, arguments[2]);
  } catch (const std::bad_alloc&) {
    if (fault == "aborts") std::abort();
    fail();
  }
}
