// Files under construction that several processes write, each its part.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "io/file.hpp"

namespace axisloom::io {

SharedFile::SharedFile(const FileDoor& door, std::string name)
    : name_(std::move(name)), fd_(uninterrupted([&] { return ::open(door.path.c_str(), O_RDWR | O_CLOEXEC); })) {
  struct stat status {};
  if (!fd_ || ::fstat(fd_.get(), &status) != 0)
    fail(name_, "write", fmt::format("the unfinished file cannot be opened: {}", system_message()),
         "name a file in a folder that all ranks see");
  const bool same = u64(status.st_ino) == door.inode && (door.named || u64(status.st_dev) == door.device);
  if (!same) fail(name_, "write", "the folder is another one here", "name a file in a folder that all ranks see");
}

SharedFile::~SharedFile() {
  if (!mapped_.empty()) ::munmap(mapped_.data(), mapped_.size());
}

std::span<std::byte> SharedFile::map(size_t bytes) {
  if (bytes == 0 || !mapped_.empty()) return mapped_;
  void* const start = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, fd_.get(), 0);
  if (start == MAP_FAILED) fail(name_, "write", fmt::format("it cannot be mapped: {}", system_message()));
  return mapped_ = {static_cast<std::byte*>(start), bytes};
}

void SharedFile::write_at(size_t offset, std::span<const std::byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = uninterrupted([&] { return ::pwrite(fd_.get(), bytes.data(), bytes.size(), off_t(offset)); });
    if (done <= 0) fail(name_, "write", system_message(done < 0 ? errno : EIO));
    offset += size_t(done);
    bytes = bytes.subspan(size_t(done));
  }
}

void SharedFile::flush() {
  if (uninterrupted([&] { return ::fsync(fd_.get()); }) != 0 && errno != EINVAL && errno != EROFS)
    fail(name_, "write", system_message());
}

}  // namespace axisloom::io
