// Compiled programs on disk: one file an entry, shared by all processes of a user.
#pragma once

#include <cstddef>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/folder.hpp"
#include "core/integers.hpp"

namespace axisloom::jit {

struct DiskCacheSettings {
  std::filesystem::path folder;  // empty: no disk cache
  bool named = false;            // by the user, whose business it is who else can write there
  u64 limit = 256ull << 20;      // bytes, all entries together
  std::string why;               // why there is no folder
  std::string warning;           // about a variable that cannot be read

  /// AXISLOOM_CACHE_DIR ("off": none), else the user's cache folder; AXISLOOM_CACHE_BYTES, with K, M or G behind it.
  static DiskCacheSettings from_environment();
};

/// Safe for any number of threads and processes: entries appear whole, by renaming, and are checked when read. Nothing
/// here throws for lack of space or permission; the first such failure is logged. What is not the cache's own, by name
/// and by content (entry_file.hpp), is neither read nor counted, replaced or removed, whatever folder the user names.
class DiskCache {
 public:
  enum class Outcome { missing, damaged, hit };
  struct Lookup {
    Outcome outcome = Outcome::missing;
    std::vector<std::byte> payload;
  };
  struct Entry {
    std::string name;
    u64 bytes = 0;
    i64 used = 0;  // nanoseconds of the system clock
  };

  /// Makes the folder, with its parents, when it does not exist. Logs nothing, so that it may be made under a lock.
  explicit DiskCache(DiskCacheSettings settings);
  /// Logs what was wrong with the settings and the folder.
  void report() const;

  bool usable() const noexcept { return static_cast<bool>(folder_); }
  const std::filesystem::path& folder() const noexcept { return settings_.folder; }
  /// What is wrong with the folder; empty when nothing is.
  std::string why() const;

  /// `key`: 64 hexadecimal digits. A hit counts as a use; a damaged entry of the cache's own is removed.
  Lookup read(const std::string& key);
  /// Removes the entries that were not used for longest until all fit. False when the entry was not stored.
  bool store(const std::string& key, std::span<const std::byte> payload);
  void remove(const std::string& key);
  /// Entries, those unused for longest first.
  std::vector<Entry> entries() const;
  u64 clear();

 private:
  std::vector<Entry> files(bool (*named)(std::string_view)) const;
  bool unlink(const std::string& name) const;
  void complain(const std::string& what);
  void make_room();

  DiskCacheSettings settings_;
  core::Descriptor folder_;
  mutable std::mutex mutex_;
  std::string why_;
};

}  // namespace axisloom::jit
