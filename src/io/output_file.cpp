// Output files that appear complete or not at all: written without a name, and put into their place when all is there.
#include <fcntl.h>
#include <poll.h>
#include <sys/stat.h>
#include <unistd.h>

#include <filesystem>

#include "io/file.hpp"

namespace axisloom::io {

namespace {

constexpr size_t kPending = size_t{1} << 18;  // bytes gathered before a write call
constexpr int kAttempts = 16;                 // at a hidden name that nobody else has

/// Where a file without a name is found, so that it can be given one.
std::string door_of(int fd) {
  return fmt::format("/proc/self/fd/{}", fd);
}

/// Where a chain of symbolic links ends, which need not exist.
std::string followed(const std::string& path) {
  constexpr int kMostLinks = 40;  // as the kernel has it
  std::filesystem::path target = path;
  std::error_code error;
  for (int links = 0; std::filesystem::is_symlink(target, error); ++links) {
    if (links == kMostLinks) fail(path, "write", system_message(ELOOP));
    const std::filesystem::path next = std::filesystem::read_symlink(target, error);
    if (error) fail(path, "write", error.message());
    target = target.parent_path() / next;
  }
  return target.string();
}

bool same_file(const struct stat& a, const std::string& path) {
  struct stat b {};
  return ::stat(path.c_str(), &b) == 0 && a.st_dev == b.st_dev && a.st_ino == b.st_ino;
}

/// Whether a file system's refusal to wait for its disk means no more than that it has none.
bool means_no_disk(int error) {
  return error == EINVAL || error == ENOTSUP || error == EROFS || error == ENOSYS;
}

/// Opens the folder that holds a file.
Descriptor folder_of(const std::string& target, int flags) {
  const std::string folder = target.substr(0, target.rfind('/') + 1) + ".";
  return Descriptor(uninterrupted([&] { return ::open(folder.c_str(), flags | O_CLOEXEC, 0666); }));
}

}  // namespace

int write_all(int fd, std::span<const std::byte> bytes) noexcept {
  while (!bytes.empty()) {
    const ssize_t done = uninterrupted([&] { return ::write(fd, bytes.data(), bytes.size()); });
    if (done > 0)
      bytes = bytes.subspan(size_t(done));
    else if (done < 0 && errno == EAGAIN)  // a pipe that its owner set not to wait
      wait_for(fd, POLLOUT);
    else
      return done < 0 ? errno : EIO;
  }
  return 0;
}

OutputFile::OutputFile(std::string path, Naming naming, Older older) : path_(std::move(path)), older_(older) {
  pending_.reserve(kPending);
  struct stat status {};
  const bool exists = ::stat(path_.c_str(), &status) == 0;
  if (!exists && errno != ENOENT) fail(path_, "write", system_message());
  if (exists && S_ISDIR(status.st_mode)) fail(path_, "write", "is a folder", "name a file");
  if (exists && S_ISREG(status.st_mode) && older == Older::kept) fail_write(EEXIST);
  if (exists && ::access(path_.c_str(), W_OK) != 0) fail(path_, "write", system_message());
  if (exists && !S_ISREG(status.st_mode)) return;
  target_ = followed(path_);
  if (exists && !same_file(status, target_)) {  // a descriptor's file that has lost its name
    target_.clear();
    return;
  }
  open_beside(naming);
  if (exists) take_over(status);
}

OutputFile::OutputFile(int fd, std::string name) : path_(std::move(name)), fd_(::fcntl(fd, F_DUPFD_CLOEXEC, 0)) {
  pending_.reserve(kPending);
  if (!fd_) fail_write(errno);
}

OutputFile::~OutputFile() = default;

void OutputFile::open_beside(Naming naming) {
  if (std::filesystem::path(target_).filename().empty()) fail(path_, "write", "names no file");
  if (naming == Naming::none) {
    fd_ = folder_of(target_, O_TMPFILE | O_WRONLY);
    nameless_ = fd_ && ::access(door_of(fd_.get()).c_str(), F_OK) == 0;
    if (nameless_) return;
  }
  open_hidden();
}

bool OutputFile::take_hidden(const std::function<bool(const char* name)>& make) {
  for (int attempt = 0; attempt < kAttempts; ++attempt) {
    hidden_.choose(target_);
    if (make(hidden_.get())) return true;
    hidden_.forget();  // which leaves errno alone
    if (errno != EEXIST) break;
  }
  return false;
}

void OutputFile::open_hidden() {
  const bool made = take_hidden([&](const char* name) {
    constexpr int kFlags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC;
    fd_ = Descriptor(uninterrupted([&] { return ::open(name, kFlags, 0666); }));
    return bool(fd_);
  });
  if (!made)
    fail(path_, "write", fmt::format("no file can be created in its folder: {}", system_message()),
         "choose a folder that exists and is writable");
}

// What is refused stays as the system made it: some file systems know no owners, and few users may give files away.
void OutputFile::take_over(const struct stat& old) {
  mode_t mode = old.st_mode & 0777;
  const bool owned = ::fchown(fd_.get(), old.st_uid, old.st_gid) == 0;
  const bool grouped = owned || ::fchown(fd_.get(), uid_t(-1), old.st_gid) == 0;
  if (!grouped) mode = (mode & ~mode_t{070}) | (mode & 07) << 3;  // what one group may, another need not
  static_cast<void>(::fchmod(fd_.get(), mode));
}

void OutputFile::reserve(size_t bytes) {
  if (direct()) fail(path_, "write", "is a device or a pipe, which several processes cannot write", "name a file");
  if (const int error = bytes > 0 ? ::posix_fallocate(fd_.get(), 0, off_t(bytes)) : 0) fail_write(error);
}

FileDoor OutputFile::door() const {
  struct stat status {};
  if (::fstat(fd_.get(), &status) != 0) fail_write(errno);
  std::string path = nameless_ ? fmt::format("/proc/{}/fd/{}", ::getpid(), fd_.get())
                               : std::filesystem::absolute(hidden_.get()).string();
  return {.path = std::move(path), .named = !nameless_, .device = u64(status.st_dev), .inode = u64(status.st_ino)};
}

bool OutputFile::write_through(std::span<const std::byte> bytes) noexcept {
  if (!fd_) {  // a pipe waits here for its reader, as late as can be
    fd_ = Descriptor(uninterrupted([&] { return ::open(path_.c_str(), O_WRONLY | O_TRUNC | O_NOCTTY | O_CLOEXEC); }));
    if (!fd_) error_ = errno;
  }
  if (error_ == 0) error_ = write_all(fd_.get(), bytes);
  return error_ == 0;
}

bool OutputFile::flush() noexcept {
  const bool done = write_through(pending_);
  pending_.clear();
  return done;
}

bool OutputFile::append(std::span<const std::byte> bytes) noexcept {
  if (error_ != 0) return false;
  if (pending_.size() + bytes.size() > kPending && !flush()) return false;
  if (bytes.size() > kPending) return write_through(bytes);
  pending_.insert(pending_.end(), bytes.begin(), bytes.end());
  return true;
}

void OutputFile::write(std::span<const std::byte> bytes) {
  if (!append(bytes)) fail_write(error_);
}

void OutputFile::write(std::string_view text) {
  write(std::as_bytes(std::span(text)));
}

void OutputFile::commit() {
  if (error_ != 0 || !flush()) fail_write(error_);
  if (direct()) {
    if (!fd_.close() && errno != EINTR) fail_write(errno);
    return;
  }
  if (uninterrupted([&] { return ::fsync(fd_.get()); }) != 0 && !means_no_disk(errno)) fail_write(errno);
  const Descriptor folder =
      folder_of(target_, O_RDONLY | O_DIRECTORY);  // what needs memory comes first: with its name the file is finished
  give_name();
  // Lets the new name survive a loss of power. Where that fails the old file would come back whole.
  if (folder) static_cast<void>(uninterrupted([&] { return ::fsync(folder.get()); }));
  fd_.close();
}

// A link to a file without a name never replaces another file, so it is made beside, under a name that is held by the
// table of hidden names until the next call has moved it.
void OutputFile::give_name() {
  if (nameless_) {
    const std::string door = door_of(fd_.get());
    const auto linked = [&](const char* name) {
      return ::linkat(AT_FDCWD, door.c_str(), AT_FDCWD, name, AT_SYMLINK_FOLLOW) == 0;
    };
    if (linked(target_.c_str())) return;
    if (errno != EEXIST || older_ == Older::kept || !take_hidden(linked)) fail_write(errno);
    nameless_ = false;
  }
  if (older_ == Older::kept) {  // a link takes no other file's place, where a new name would
    if (::link(hidden_.get(), target_.c_str()) != 0) fail_write(errno);
    return hidden_.remove();
  }
  if (::rename(hidden_.get(), target_.c_str()) != 0) fail_write(errno);
  hidden_.forget();
}

void OutputFile::fail_write(int error) const {
  const bool full = error == ENOSPC || error == EDQUOT || error == EFBIG;
  fail(path_, "write", system_message(error),
       full              ? "free some space or write elsewhere"
       : error == EEXIST ? "leave --no-clobber out, or name another file"
                         : "");
}

}  // namespace axisloom::io
