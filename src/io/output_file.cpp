// Output files that appear complete or not at all: written beside their target, then renamed.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>
#include <random>

#include "io/file.hpp"

namespace axisloom::io {

namespace {

constexpr std::size_t kPending = std::size_t{1} << 18;  // bytes gathered before a write call

/// A hidden name beside the target; random, so that writers of one target do not meet.
std::string temporary_name(const std::filesystem::path& target, std::random_device& random) {
  constexpr std::size_t kKept = 200;  // with the rest below the usual limit of 255 bytes
  const std::string name = target.filename().string().substr(0, kKept);
  return (target.parent_path() / fmt::format(".{}.{:08x}{:08x}.tmp", name, random(), random())).string();
}

}  // namespace

OutputFile::OutputFile(std::string path) : path_(std::move(path)) {
  pending_.reserve(kPending);
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (exists && S_ISDIR(status.st_mode)) fail(path_, "write", "is a folder", "name a file");
  if (exists && !S_ISREG(status.st_mode)) {
    fd_.reset(::open(path_.c_str(), O_WRONLY | O_CLOEXEC));
    if (fd_.get() < 0) fail(path_, "write", system_message(errno));
    return;
  }
  target_ = path_;
  if (exists) {
    if (::access(path_.c_str(), W_OK) != 0) fail(path_, "write", system_message(errno));
    std::error_code ignored;
    const std::filesystem::path followed = std::filesystem::canonical(path_, ignored);
    if (!followed.empty()) target_ = followed.string();
  }
  open_beside(target_);
  if (exists) ::fchmod(fd_.get(), status.st_mode & 0777);  // some file systems refuse; the umask's mode then stays
}

OutputFile::~OutputFile() {
  if (!temporary_.empty()) ::unlink(temporary_.c_str());
}

void OutputFile::open_beside(const std::string& target) {
  if (std::filesystem::path(target).filename().empty()) fail(path_, "write", "names no file");
  std::random_device random;
  constexpr int kAttempts = 16;
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    std::string name = temporary_name(target, random);
    fd_.reset(::open(name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0666));
    if (fd_.get() >= 0) {
      temporary_ = std::move(name);
      return;
    }
    if (errno != EEXIST) break;
  }
  fail(path_, "write", fmt::format("no file can be made in its folder: {}", system_message(errno)),
       "choose a folder that exists and can be written");
}

bool OutputFile::write_through(const std::byte* data, std::size_t size) noexcept {
  while (size > 0) {
    const ssize_t done = ::write(fd_.get(), data, size);
    if (done < 0 && errno == EINTR) continue;
    if (done < 0) {
      error_ = errno;
      return false;
    }
    data += done;
    size -= static_cast<std::size_t>(done);
  }
  return true;
}

bool OutputFile::flush() noexcept {
  const bool done = write_through(pending_.data(), pending_.size());
  pending_.clear();
  return done;
}

bool OutputFile::append(std::span<const std::byte> bytes) noexcept {
  if (error_ != 0) return false;
  if (pending_.size() + bytes.size() > kPending && !flush()) return false;
  if (bytes.size() > kPending) return write_through(bytes.data(), bytes.size());
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  return true;
}

void OutputFile::write(std::span<const std::byte> bytes) {
  if (!append(bytes)) fail_write();
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void OutputFile::commit() {
  if (error_ != 0 || !flush()) fail_write();
  if (::close(fd_.release()) != 0) {
    error_ = errno;
    fail_write();
  }
  if (temporary_.empty()) return;
  if (::rename(temporary_.c_str(), target_.c_str()) != 0) {
    error_ = errno;
    fail_write();
  }
  temporary_.clear();
}

void OutputFile::fail_write() const {
  fail(path_, "write", system_message(error_),
       error_ == ENOSPC || error_ == EDQUOT || error_ == EFBIG ? "make room or write elsewhere" : "");
}

}  // namespace axisloom::io
