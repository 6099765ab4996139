// A fuzz input as a file that lives in memory, so that readers run whole, from opening to mapping.
#pragma once

#include <sys/mman.h>
#include <unistd.h>

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <string>

namespace axisloom::fuzz {

class InputInMemory {
 public:
  InputInMemory(const std::uint8_t* data, std::size_t size) : fd_(::memfd_create("input", MFD_CLOEXEC)) {
    if (fd_ < 0 || ::write(fd_, data, size) != static_cast<ssize_t>(size)) std::abort();
  }
  ~InputInMemory() { ::close(fd_); }
  InputInMemory(const InputInMemory&) = delete;
  InputInMemory& operator=(const InputInMemory&) = delete;

  std::string path() const { return "/proc/self/fd/" + std::to_string(fd_); }

 private:
  int fd_;
};

}  // namespace axisloom::fuzz
