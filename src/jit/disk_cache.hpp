// Compiled programs on disk: one file an entry, shared by all processes of a user.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace axisloom::jit {

/// Changes when the layout of an entry or the making of its key changes.
inline constexpr std::uint64_t cache_format = 1;

struct DiskCacheSettings {
  std::filesystem::path folder;        // empty: no disk cache
  bool trusted = false;                // the user named the folder: owner and permissions are the user's business
  std::uint64_t limit = 256ull << 20;  // bytes, all entries together
  std::string why;                     // why there is no folder
  std::string warning;                 // about a variable that cannot be read

  /// AXISLOOM_CACHE_DIR ("off": none), else the user's cache folder; AXISLOOM_CACHE_BYTES, with K, M or G behind it.
  static DiskCacheSettings from_environment();
};

/// Safe for any number of threads and processes: entries appear whole, by renaming, and are checked when read. Nothing
/// here throws for lack of space or permission; the first such failure is logged.
class DiskCache {
 public:
  enum class Outcome { missing, damaged, hit };
  struct Lookup {
    Outcome outcome = Outcome::missing;
    std::vector<std::byte> payload;
  };
  struct Entry {
    std::filesystem::path path;
    std::uint64_t bytes = 0;
    std::int64_t used = 0;  // nanoseconds of the system clock
  };

  /// Makes the folder, with its parents, when it does not exist. Logs nothing, so that it may be made under a lock.
  explicit DiskCache(DiskCacheSettings settings);
  /// Logs what was wrong with the settings and the folder.
  void report() const;

  bool usable() const noexcept { return usable_; }
  const std::filesystem::path& folder() const noexcept { return settings_.folder; }
  /// What is wrong with the folder; empty when nothing is.
  std::string why() const;

  /// `key`: 64 hexadecimal digits. A hit counts as a use; a damaged entry is removed.
  Lookup read(const std::string& key);
  /// Removes the entries that were not used for longest until all fit. False when the entry was not stored.
  bool store(const std::string& key, std::span<const std::byte> payload);
  void remove(const std::string& key);
  /// Entries, those unused for longest first.
  std::vector<Entry> entries() const;
  std::uint64_t clear();

 private:
  std::filesystem::path path_of(const std::string& key) const;
  void complain(const std::string& what);
  void make_room();

  DiskCacheSettings settings_;
  bool usable_ = false;
  mutable std::mutex mutex_;
  std::string why_;
};

}  // namespace axisloom::jit
