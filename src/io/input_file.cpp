// Opening, reading and memory-mapping of input files, and what readers share.
#include <fcntl.h>
#include <poll.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdlib>

#include "core/host_memory.hpp"
#include "io/file.hpp"

namespace axisloom::io {

void fail(const std::string& path, std::string_view field, std::string_view what, std::string remedy) {
  throw Error(Errc::file, fmt::format("{}: {}: {}", printable(path), field, what), std::move(remedy));
}

std::optional<i64> checked_bytes(const Dims& shape, Dtype dtype) {
  auto product = i64(size_of(dtype));
  bool empty = false;
  for (const i64 extent : shape) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
    if (extent > 0 && __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return empty ? 0 : product;
}

void wait_for(int fd, short event) noexcept {
  pollfd ready{fd, event, 0};
  static_cast<void>(::poll(&ready, 1, -1));
}

// In TMPDIR there may be more room than memory has.
int open_nameless() noexcept {
  const char* const named = std::getenv("TMPDIR");
  const char* const folder = named != nullptr && named[0] != '\0' ? named : "/tmp";
  constexpr int kFlags = O_TMPFILE | O_RDWR | O_EXCL | O_CLOEXEC;  // O_EXCL: nobody can give it a name
  const int fd = uninterrupted([&] { return ::open(folder, kFlags, 0600); });
  return fd >= 0 ? fd : ::memfd_create("axisloom-input", MFD_CLOEXEC);
}

namespace {

/// The next bytes of a pipe, at most as many as there is room for; 0 at its end, less with errno set.
ssize_t read_some(int fd, std::span<std::byte> room) {
  while (true) {
    const ssize_t got = uninterrupted([&] { return ::read(fd, room.data(), room.size()); });
    if (got >= 0 || errno != EAGAIN) return got;
    wait_for(fd, POLLIN);  // a pipe that its owner set not to wait
  }
}

}  // namespace

InputFile::InputFile(std::string path)
    : path_(std::move(path)),
      fd_(uninterrupted([&] { return ::open(path_.c_str(), O_RDONLY | O_NOCTTY | O_CLOEXEC); })) {
  begin();
}

InputFile::InputFile(int fd, std::string name) : path_(std::move(name)), fd_(::fcntl(fd, F_DUPFD_CLOEXEC, 0)) {
  const off_t here = ::lseek(fd, 0, SEEK_CUR);
  if (here > 0) start_ = size_t(here);
  if (!fd_) errno = EBADF;
  begin();
}

InputFile::InputFile(const InputFile& whole, size_t offset, size_t size, std::string name)
    : path_(std::move(name)),
      fd_(::fcntl(whole.fd_.get(), F_DUPFD_CLOEXEC, 0)),
      start_(whole.start_ + offset),
      size_(size) {
  if (!fd_) fail("open", system_message());
}

void InputFile::begin() {
  struct stat status {};
  if (!fd_ || ::fstat(fd_.get(), &status) != 0) fail("open", system_message());
  if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) return keep_pipe();
  if (!S_ISREG(status.st_mode))
    fail("open", S_ISDIR(status.st_mode) ? "is a folder" : "is a device, not a file or a pipe");
  const auto end = size_t(status.st_size);
  size_ = end - std::min(start_, end);
}

void InputFile::keep_pipe() {
  Descriptor kept(open_nameless());
  if (!kept) fail("read", fmt::format("cannot be kept: {}", system_message()));
  std::vector<std::byte> piece(size_t{1} << 18);
  start_ = 0;
  while (const ssize_t got = read_some(fd_.get(), piece)) {
    if (got < 0) fail("read", system_message());
    size_ += size_t(got);
    if (const int error = write_all(kept.get(), std::span(piece).first(size_t(got))))
      fail("read", fmt::format("{} bytes of it cannot be kept: {}", size_, system_message(error)),
           "free some space in TMPDIR, or set it to a folder with more");
  }
  fd_ = std::move(kept);
}

int InputFile::try_read_at(size_t offset, std::span<std::byte> out, size_t& got) const noexcept {
  out = out.first(std::min(out.size(), size_ - std::min(offset, size_)));  // what follows belongs to a larger file
  for (got = 0; got < out.size();) {
    const auto at = off_t(start_ + offset + got);
    const ssize_t some = uninterrupted([&] { return ::pread(fd_.get(), out.data() + got, out.size() - got, at); });
    if (some < 0) return errno;
    if (some == 0) return 0;
    got += size_t(some);
  }
  return 0;
}

void InputFile::read_at(size_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset)
    fail("length", fmt::format("{} bytes needed from byte {}, but the file has {}", out.size(), offset, size_));
  size_t got = 0;
  if (const int error = try_read_at(offset, out, got)) fail("read", system_message(error));
  if (got < out.size()) fail("length", "the file became shorter while it was read");
}

std::string InputFile::text(size_t limit) const {
  if (size_ > limit)
    fail("length", fmt::format("{} bytes are more than such a document has ({} at most)", size_, limit));
  return head(size_);
}

std::string InputFile::head(size_t count) const {
  std::string text(std::min(count, size_), '\0');
  read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

HostArray InputFile::load(const View& view, size_t offset, size_t map_from) const {
  const size_t bytes = size_t(view.count()) * size_of(view.dtype);
  if (bytes > 0 && bytes >= map_from && (start_ + offset) % size_of(view.dtype) == 0) {
    HostArray mapped = map(view, offset, bytes);
    if (mapped.memory) return mapped;
  }
  HostArray array = allocate_for(path_, view);
  read_at(offset, array.span());
  return array;
}

HostArray InputFile::map(const View& view, size_t offset, size_t bytes) const {
  // Writable, because OpenCL's zero-copy wrapping wants memory it may write; private, so that the file never changes;
  // without reservation, because pages nobody writes need no swap, and files may be larger than memory.
  const size_t begin = start_ + offset, length = begin + bytes;
  void* start = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd_.get(), 0);
  if (start == MAP_FAILED) return {};
  const std::shared_ptr<std::byte> mapping(static_cast<std::byte*>(start),
                                           [length](std::byte* address) { ::munmap(address, length); });
  HostArray array;
  array.view = view;
  array.view.align = i64(core::alignment_of(begin, 4096));
  array.memory = std::shared_ptr<std::byte>(mapping, mapping.get() + begin);
  array.bytes = bytes;
  array.mapped = true;
  return array;
}

std::span<const std::byte> InputStream::block() noexcept {
  if (used_ == held_ && error_ == 0) {
    begin_ += held_;
    used_ = held_ = 0;
    if (begin_ < file_.size()) error_ = file_.try_read_at(begin_, block_, held_);
  }
  return std::span(block_).subspan(used_, held_ - used_);
}

size_t InputStream::read(std::span<std::byte> out) noexcept {
  const size_t wanted = out.size();
  while (!out.empty()) {
    size_t count = 0;
    if (used_ == held_ && out.size() >= kBlock) {  // past the block
      if (error_ == 0) error_ = file_.try_read_at(position(), out, count);
      begin_ = position() + count;
      held_ = used_ = 0;
    } else {
      const std::span<const std::byte> some = block();
      count = std::min(some.size(), out.size());
      std::ranges::copy(some.first(count), out.begin());
      take(count);
    }
    if (count == 0) break;
    out = out.subspan(count);
  }
  return wanted - out.size();
}

void InputStream::require_good() const {
  if (error_ != 0) file_.fail("read", system_message(error_));
}

}  // namespace axisloom::io
