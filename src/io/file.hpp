// Files as readers and writers see them: read by offset or mapped, and written under a temporary name until complete.
#pragma once

#include <axisloom/error.hpp>
#include <cerrno>
#include <utility>

#include "io/io.hpp"

#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

namespace axisloom::io {

/// Throws Error(file): "<path>: <field>: <what>".
[[noreturn]] void fail(const std::string& path, std::string_view field, std::string_view what, std::string remedy = {});

/// Text taken from a file, made safe for a message: quoted, unprintable bytes escaped, cut after 60 characters.
std::string in_quotes(std::string_view text);

/// The system's words for an errno value.
std::string system_message(int error);

/// Product of the extents times the element size, in bytes; nothing when an extent is negative or 63 bits do not hold
/// it. Extents beside a 0 count too, so that strides computed from the shape cannot overflow.
std::optional<std::int64_t> checked_bytes(const Dims& shape, Dtype dtype);

/// A file descriptor that closes itself.
class Descriptor {
 public:
  explicit Descriptor(int fd = -1) : fd_(fd) {}
  ~Descriptor();
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;

  int get() const { return fd_; }
  void reset(int fd);
  int release();

 private:
  int fd_;
};

/// A regular file, or what a pipe delivers until its end (held in memory).
class InputFile {
 public:
  explicit InputFile(std::string path);

  const std::string& path() const { return path_; }
  std::size_t size() const { return size_; }
  void read_at(std::size_t offset, std::span<std::byte> out) const;
  std::vector<std::byte> contents() const;
  /// The first bytes, at most `count` of them.
  std::string head(std::size_t count) const;

  /// The array of a dense view (C or Fortran order) whose data begin at byte `offset`; the caller has checked the
  /// length. Memory-mapped when the data have `map_from` bytes or more and are aligned to their elements.
  HostArray load(const View& view, std::size_t offset, std::size_t map_from) const;

 private:
  HostArray map(const View& view, std::size_t offset, std::size_t bytes) const;

  std::string path_;
  Descriptor fd_;
  std::size_t size_ = 0;
  bool regular_ = true;
  std::vector<std::byte> piped_;
};

/// A file under construction. Until `commit` it has a temporary name in the folder of its target; without `commit` it
/// vanishes. A target that is a device or a pipe is written directly, and a symbolic link is followed.
class OutputFile {
 public:
  explicit OutputFile(std::string path);
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  const std::string& path() const { return path_; }
  /// Appends bytes; false after a failure, which `commit` and `write` report. For callbacks called from C.
  bool append(std::span<const std::byte> bytes) noexcept;
  /// Appends bytes; throws Error(file) when they cannot be written.
  void write(std::span<const std::byte> bytes);
  void write(std::string_view text);
  /// Closes the file and gives it its name; throws Error(file), leaving an older file of that name as it was.
  void commit();

 private:
  void open_beside(const std::string& target);
  bool flush() noexcept;
  bool write_through(const std::byte* data, std::size_t size) noexcept;
  [[noreturn]] void fail_write() const;

  std::string path_;
  std::string target_;     // `path_` with symbolic links followed
  std::string temporary_;  // empty when writing directly, and once committed
  Descriptor fd_;
  int error_ = 0;  // errno of the first failure
  std::vector<std::byte> pending_;
};

}  // namespace axisloom::io
