// Files as readers and writers see them: read by offset, from front to back or mapped, and written without a name until
// complete.
#pragma once

#include <sys/stat.h>
#include <axisloom/error.hpp>

#include <cerrno>
#include <functional>
#include <utility>

#include "core/folder.hpp"
#include "core/integers.hpp"
#include "core/not_copied.hpp"
#include "io/hidden_name.hpp"
#include "io/io.hpp"
#include "io/quoting.hpp"

#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

namespace axisloom::io {

using core::Descriptor, core::system_message;

/// Throws Error(file): "<path>: <field>: <what>".
[[noreturn]] void fail(const std::string& path, std::string_view field, std::string_view what, std::string remedy = {});

/// Product of the extents times the element size, in bytes; nothing when an extent is negative or 63 bits do not hold
/// it. Extents beside a 0 count too, so that strides computed from the shape cannot overflow.
std::optional<i64> checked_bytes(const Dims& shape, Dtype dtype);

/// HostArray::allocate for what a file holds; throws Error(out_of_memory) naming the file where the machine has not so
/// much memory in all: the system would promise it, and end the program when it is written.
HostArray allocate_for(const std::string& path, const View& view);

/// Repeats a system call that a signal has interrupted.
auto uninterrupted(const auto& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) result = call();
  return result;
}

/// Waits until a pipe can be read (POLLIN) or written (POLLOUT).
void wait_for(int fd, short event) noexcept;

/// Writes all of it; 0, or an errno value.
int write_all(int fd, std::span<const std::byte> bytes) noexcept;

/// Opens a file without a name, in TMPDIR or, where that has none, in memory; -1, with errno set.
int open_nameless() noexcept;

/// A regular file, or what a pipe delivers until its end: that is kept in a file without a name, in TMPDIR or, where no
/// such file can be made there, in memory.
class InputFile {
 public:
  explicit InputFile(std::string path);
  /// What an open descriptor still has to give, such as standard input; it is copied, and stays open.
  InputFile(int fd, std::string name);
  /// Bytes of another file as a file of its own; the caller has checked that they are there.
  InputFile(const InputFile& whole, size_t offset, size_t size, std::string name);

  const std::string& path() const { return path_; }
  /// Throws Error(file) about a field of this file.
  [[noreturn]] void fail(std::string_view field, std::string_view what, std::string remedy = {}) const {
    io::fail(path_, field, what, std::move(remedy));
  }
  size_t size() const { return size_; }
  void read_at(size_t offset, std::span<std::byte> out) const;
  /// As read_at, for callbacks called from C: 0, or an errno value. Reads less than asked for only at the file's end.
  int try_read_at(size_t offset, std::span<std::byte> out, size_t& got) const noexcept;
  /// The whole file as text; refuses one of more than `limit` bytes.
  std::string text(size_t limit) const;
  /// The first bytes, at most `count` of them.
  std::string head(size_t count) const;

  /// The array of a dense view (C or Fortran order) whose data begin at byte `offset`; the caller has checked the
  /// length. Memory-mapped when the data have `map_from` bytes or more and are aligned to their elements.
  HostArray load(const View& view, size_t offset, size_t map_from) const;

 private:
  void begin();
  void keep_pipe();
  HostArray map(const View& view, size_t offset, size_t bytes) const;

  std::string path_;
  Descriptor fd_;
  size_t start_ = 0;  // where the file begins for us
  size_t size_ = 0;
};

/// A file read from front to back, a block at a time, so that a reader looks at a header before it asks for more.
class InputStream {
 public:
  explicit InputStream(const InputFile& file) : file_(file) {}

  /// What has not been taken of the present block, or the next one; empty at the end of the file and after an error.
  std::span<const std::byte> block() noexcept;
  void take(size_t bytes) noexcept { used_ += bytes; }
  /// The next bytes, as many as there are.
  size_t read(std::span<std::byte> out) noexcept;
  /// Bytes taken so far.
  size_t position() const noexcept { return begin_ + used_; }
  /// Throws Error(file) when the file could not be read.
  void require_good() const;

 private:
  static constexpr size_t kBlock = size_t{1} << 16;

  const InputFile& file_;
  std::vector<std::byte> block_ = std::vector<std::byte>(kBlock);
  size_t begin_ = 0, held_ = 0, used_ = 0;  // of the block: where in the file, bytes read, bytes taken
  int error_ = 0;
};

/// Where other processes of this user open a file under construction: one without a name through the process that makes
/// it, which is on the same host.
struct FileDoor {
  std::string path;
  bool named = false;  // so that it is found on other hosts too, where the device has another number
  u64 device = 0, inode = 0;
};

/// A file under construction as another process than its maker writes to it.
class SharedFile : core::NotCopied {
 public:
  /// `name`: the file's, for messages. Throws Error(file) where what is behind the door is not that file.
  SharedFile(const FileDoor& door, std::string name);

  /// Its bytes in memory: what is written there is in the file. Throws Error(file). They stay until it goes.
  std::span<std::byte> map(size_t bytes);
  void write_at(size_t offset, std::span<const std::byte> bytes);
  /// Waits until what was written is on the disk.
  void flush();
  ~SharedFile();

 private:
  std::string name_;
  Descriptor fd_;
  std::span<std::byte> mapped_;
};

/// A file under construction. Until `commit` it has no name, so that nothing stays behind however the program ends;
/// where the file system knows no such files it has a hidden name beside its target, which goes with the object or by
/// remove_unfinished(). `commit` puts it in the place of an older file of that name, whose permissions and, where that
/// is allowed, owner and group it has; other hard links to the older file keep the old contents. A symbolic link is
/// followed, also where it leads to nothing yet. A device or a pipe is written directly, when the first bytes are
/// there.
class OutputFile : core::NotCopied {
 public:
  enum class Naming { none, hidden };
  enum class Older { replaced, kept };

  /// Of an older file that is to be kept both this and `commit` throw Error(file).
  explicit OutputFile(std::string path, Naming naming = Naming::none, Older older = Older::replaced);
  /// An open descriptor, such as standard output; it is copied, written directly, and stays open.
  OutputFile(int fd, std::string name);
  ~OutputFile();

  const std::string& path() const { return path_; }
  /// Whether bytes go where they are seen at once, with no way back.
  bool direct() const { return target_.empty(); }
  /// Appends bytes; false after a failure, which `commit` and `write` report. For callbacks called from C.
  bool append(std::span<const std::byte> bytes) noexcept;
  /// Appends bytes; throws Error(file) when they cannot be written.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Makes the file so long, with room for it on its disk; throws Error(file). What is appended begins at the start,
  /// and the rest is for others, who open the file at its door. Not of one that is written directly.
  void reserve(size_t bytes);
  FileDoor door() const;
  /// Waits until the bytes are on the disk and gives the file its name; throws Error(file), leaving an older file of
  /// that name as it was.
  void commit();

 private:
  void open_beside(Naming naming);
  void open_hidden();
  void take_over(const struct stat& old);
  void give_name();
  bool flush() noexcept;
  bool write_through(std::span<const std::byte> bytes) noexcept;
  [[noreturn]] void fail_write(int error) const;
  /// Tries hidden names until `make` takes one; false, with errno set, where it takes none.
  bool take_hidden(const std::function<bool(const char* name)>& make);

  std::string path_;
  std::string target_;  // `path_` with symbolic links followed; empty when writing directly
  HiddenName hidden_;
  bool nameless_ = false;
  Older older_ = Older::replaced;
  Descriptor fd_;
  int error_ = 0;  // errno of the first failure
  std::vector<std::byte> pending_;
};

}  // namespace axisloom::io
