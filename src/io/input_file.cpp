// Opening, reading and memory-mapping of input files, and the messages that readers share.
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <bit>
#include <cctype>
#include <cstring>
#include <system_error>

#include "io/file.hpp"

namespace axisloom::io {

void fail(const std::string& path, std::string_view field, std::string_view what, std::string remedy) {
  throw Error(Errc::file, fmt::format("{}: {}: {}", path, field, what), std::move(remedy));
}

std::string in_quotes(std::string_view text) {
  constexpr std::size_t kLongest = 60;
  std::string out = "'";
  for (const char c : text.substr(0, kLongest)) {
    if (std::isprint(static_cast<unsigned char>(c)) && c != '\\') {
      out += c;
    } else {
      out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
    }
  }
  return out + (text.size() > kLongest ? "...'" : "'");
}

std::string system_message(int error) {
  return std::generic_category().message(error);
}

std::optional<std::int64_t> checked_bytes(const Dims& shape, Dtype dtype) {
  auto product = static_cast<std::int64_t>(size_of(dtype));
  bool empty = false;
  for (const std::int64_t extent : shape) {
    if (extent < 0) return std::nullopt;
    empty = empty || extent == 0;
    if (extent > 0 && __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
  }
  return empty ? 0 : product;
}

Descriptor::~Descriptor() {
  reset(-1);
}

void Descriptor::reset(int fd) {
  if (fd_ >= 0) ::close(fd_);
  fd_ = fd;
}

int Descriptor::release() {
  return std::exchange(fd_, -1);
}

namespace {

/// Reads up to `size` bytes at the position of a pipe; the number read, 0 at its end, or -1 with errno set.
ssize_t read_some(int fd, std::byte* data, std::size_t size) {
  ssize_t got = 0;
  do {
    got = ::read(fd, data, size);
  } while (got < 0 && errno == EINTR);
  return got;
}

std::vector<std::byte> drain(int fd, const std::string& path) {
  constexpr std::size_t kPiece = std::size_t{1} << 20;
  std::vector<std::byte> bytes;
  for (std::size_t used = 0;;) {
    bytes.resize(used + kPiece);
    const ssize_t got = read_some(fd, bytes.data() + used, kPiece);
    if (got < 0) fail(path, "read", system_message(errno));
    used += static_cast<std::size_t>(got);
    if (got == 0) {
      bytes.resize(used);
      return bytes;
    }
  }
}

}  // namespace

InputFile::InputFile(std::string path) : path_(std::move(path)), fd_(::open(path_.c_str(), O_RDONLY | O_CLOEXEC)) {
  if (fd_.get() < 0) fail(path_, "open", system_message(errno));
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail(path_, "open", system_message(errno));
  if (S_ISREG(status.st_mode)) {
    size_ = static_cast<std::size_t>(status.st_size);
  } else if (S_ISFIFO(status.st_mode) || S_ISSOCK(status.st_mode)) {
    regular_ = false;
    piped_ = drain(fd_.get(), path_);
    size_ = piped_.size();
  } else {
    fail(path_, "open", S_ISDIR(status.st_mode) ? "is a folder" : "is a device, not a file or a pipe");
  }
}

void InputFile::read_at(std::size_t offset, std::span<std::byte> out) const {
  if (offset > size_ || out.size() > size_ - offset) {
    fail(path_, "length", fmt::format("{} bytes needed from byte {}, but the file has {}", out.size(), offset, size_));
  }
  if (!regular_) {
    std::copy_n(piped_.data() + offset, out.size(), out.data());
    return;
  }
  for (std::size_t done = 0; done < out.size();) {
    const ssize_t got = ::pread(fd_.get(), out.data() + done, out.size() - done, static_cast<off_t>(offset + done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) fail(path_, "read", system_message(errno));
    if (got == 0) fail(path_, "length", "the file became shorter while it was read");
    done += static_cast<std::size_t>(got);
  }
}

std::vector<std::byte> InputFile::contents() const {
  if (!regular_) return piped_;
  std::vector<std::byte> bytes(size_);
  read_at(0, bytes);
  return bytes;
}

std::string InputFile::head(std::size_t count) const {
  std::string text(std::min(count, size_), '\0');
  read_at(0, std::as_writable_bytes(std::span(text)));
  return text;
}

HostArray InputFile::load(const View& view, std::size_t offset, std::size_t map_from) const {
  const std::size_t bytes = static_cast<std::size_t>(view.count()) * size_of(view.dtype);
  if (regular_ && bytes > 0 && bytes >= map_from && offset % size_of(view.dtype) == 0) {
    HostArray mapped = map(view, offset, bytes);
    if (mapped.memory) return mapped;
  }
  HostArray array = HostArray::allocate(view);
  read_at(offset, array.span());
  return array;
}

HostArray InputFile::map(const View& view, std::size_t offset, std::size_t bytes) const {
  // Writable, because OpenCL's zero-copy wrapping wants memory it may write; private, so that the file never changes;
  // without reservation, because pages nobody writes need no swap, and files may be larger than memory.
  const std::size_t length = offset + bytes;
  void* start = ::mmap(nullptr, length, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_NORESERVE, fd_.get(), 0);
  if (start == MAP_FAILED) return {};
  const std::shared_ptr<std::byte> mapping(static_cast<std::byte*>(start),
                                           [length](std::byte* address) { ::munmap(address, length); });
  HostArray array;
  array.view = view;
  array.view.align = offset == 0 ? 4096 : std::int64_t{1} << std::min(std::countr_zero(offset), 12);
  array.memory = std::shared_ptr<std::byte>(mapping, mapping.get() + offset);
  array.bytes = bytes;
  return array;
}

}  // namespace axisloom::io
