// One file of the disk cache: what it is called, and whether what lies under such a name is the cache's own.
//
// An entry is a header that names its key, length and digest, with the program behind it, under the name KEY.axl; while
// it is written it is called KEY.RANDOM.tmp. KEY and RANDOM are 64 and 16 hexadecimal digits.
//
// The digest finds damage and has no key. What keeps foreign code out is ownership: a file counts only if it belongs to
// this user or root and nobody else can write to it. Whoever could get round that, as root, by the user's own account
// or on a file system that knows no owners, could read a secret key of this user's as well, or replace this library.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/folder.hpp"
#include "core/integers.hpp"

namespace axisloom::jit {

/// Changes when the layout of an entry or the making of its key changes.
inline constexpr u64 cache_format = 2;

std::string entry_name(const std::string& key);
/// A name that no other writer takes.
std::string temporary_name(const std::string& key);
bool is_entry_name(std::string_view name);
bool is_temporary_name(std::string_view name);

/// A file of a folder, opened: not through a link, and without waiting should it be a pipe.
class EntryFile {
 public:
  EntryFile(const core::Descriptor& folder, const std::string& name);
  /// Trusted owner and mode, and the header's first bytes: all of them, or as many as the file has.
  bool ours = false;
  u64 bytes = 0;
  i64 changed = 0;  // nanoseconds of the system clock
  /// The program, when the file is whole and of this key.
  std::optional<std::vector<std::byte>> program(const std::string& key) const;
  /// Makes this the entry used last.
  void touch() const noexcept;

 private:
  core::Descriptor descriptor_;
};

/// The bytes of an entry.
u64 entry_bytes(std::span<const std::byte> program) noexcept;
/// Makes a file of a folder that was not there. False, with errno set, when it is not whole; it is then gone again.
bool write_entry(const core::Descriptor& folder, const std::string& name, const std::string& key,
                 std::span<const std::byte> program);

}  // namespace axisloom::jit
