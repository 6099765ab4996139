// The folder of entries: where it is, what is in it, and how it stays below its limit.
#include "jit/disk_cache.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>

#include "core/text.hpp"
#include "device/device.hpp"
#include "device/environment.hpp"
#include "jit/entry_file.hpp"
#include "jit/environment.hpp"

namespace axisloom::jit {
namespace {

namespace fs = std::filesystem;

/// A temporary file as old as this was left by a process that died while writing it.
constexpr std::chrono::hours abandoned_after(1);

/// Bytes in "1000", "64K", "256M" or "1G"; empty for anything else.
std::optional<u64> parse_bytes(std::string_view text) {
  unsigned shift = 0;
  if (text.ends_with('K')) shift = 10;
  if (text.ends_with('M')) shift = 20;
  if (text.ends_with('G')) shift = 30;
  if (shift != 0) text.remove_suffix(1);
  const auto value = core::whole_number<u64>(text);
  if (!value || *value > (UINT64_MAX >> shift)) return std::nullopt;
  return *value << shift;
}

}  // namespace

DiskCacheSettings DiskCacheSettings::from_environment() {
  DiskCacheSettings settings;
  if (device::with_rights_of_another()) {
    settings.why = "the program has rights that its caller lacks, and the caller chooses the folders";
    return settings;
  }
  if (const std::string bytes = device::environment("AXISLOOM_CACHE_BYTES"); !bytes.empty()) {
    if (const auto limit = parse_bytes(bytes))
      settings.limit = *limit;
    else
      settings.warning = "AXISLOOM_CACHE_BYTES is not a number of bytes such as 256M, and is ignored: " + bytes;
  }
  if (const std::string folder = device::environment("AXISLOOM_CACHE_DIR"); !folder.empty()) {
    settings.named = true;
    if (folder == "off") {
      settings.why = "AXISLOOM_CACHE_DIR is off";
    } else {
      std::error_code error;
      settings.folder = fs::absolute(folder, error);
    }
  } else if (const auto user = user_folder("XDG_CACHE_HOME", ".cache")) {
    settings.folder = *user;
  } else {
    settings.why = "none of AXISLOOM_CACHE_DIR, XDG_CACHE_HOME and HOME is set";
  }
  return settings;
}

DiskCache::DiskCache(DiskCacheSettings settings) : settings_(std::move(settings)), why_(settings_.why) {
  if (settings_.folder.empty()) return;
  core::OpenedFolder opened = core::open_folder(settings_.folder, !settings_.named);
  folder_ = std::move(opened.descriptor);
  if (folder_) return;
  why_ = "compiled programs are kept in memory only, since " + settings_.folder.string() +
         " cannot be used: " + opened.fault +
         "; to keep them set AXISLOOM_CACHE_DIR to a folder that can be written to";
}

void DiskCache::report() const {
  if (!settings_.warning.empty()) device::log(settings_.warning);
  if (!usable() && !settings_.folder.empty()) device::log(why());
}

std::string DiskCache::why() const {
  const std::lock_guard lock(mutex_);
  return why_;
}

void DiskCache::complain(const std::string& what) {
  {
    const std::lock_guard lock(mutex_);
    if (!why_.empty()) return;
    why_ = what;
  }
  device::log(what);
}

DiskCache::Lookup DiskCache::read(const std::string& key) {
  if (!usable()) return {};
  const EntryFile file(folder_, entry_name(key));
  if (!file.ours) return {};
  if (auto program = file.program(key)) {
    file.touch();
    return {Outcome::hit, *std::move(program)};
  }
  unlink(entry_name(key));
  return {Outcome::damaged, {}};
}

bool DiskCache::store(const std::string& key, std::span<const std::byte> payload) {
  if (!usable() || entry_bytes(payload) > settings_.limit) return false;
  const std::string name = entry_name(key), temporary = temporary_name(key);
  const bool exists = ::faccessat(folder_.get(), name.c_str(), F_OK, AT_SYMLINK_NOFOLLOW) == 0;
  if (exists && !EntryFile(folder_, name).ours) {
    complain("a compiled program could not be stored: " + (settings_.folder / name).string() +
             " is not Axisloom's, or others can write to it, and is left alone");
    return false;
  }
  if (!write_entry(folder_, temporary, key, payload)) {
    complain("a compiled program could not be written to " + settings_.folder.string() + ": " + core::system_message());
    return false;
  }
  if (::renameat(folder_.get(), temporary.c_str(), folder_.get(), name.c_str()) != 0) {
    complain("a compiled program could not be renamed in " + settings_.folder.string() + ": " + core::system_message());
    unlink(temporary);
    return false;
  }
  make_room();
  return true;
}

bool DiskCache::unlink(const std::string& name) const {
  return ::unlinkat(folder_.get(), name.c_str(), 0) == 0;
}

void DiskCache::remove(const std::string& key) {
  if (usable() && EntryFile(folder_, entry_name(key)).ours) unlink(entry_name(key));
}

void DiskCache::make_room() {
  const auto oldest_first = entries();
  u64 total = 0;
  for (const Entry& entry : oldest_first) total += entry.bytes;
  for (const Entry& entry : oldest_first) {
    if (total <= settings_.limit) break;
    unlink(entry.name);
    total -= entry.bytes;
  }
  const std::chrono::nanoseconds abandoned = std::chrono::system_clock::now().time_since_epoch() - abandoned_after;
  for (const Entry& temporary : files(is_temporary_name))
    if (temporary.used < abandoned.count()) unlink(temporary.name);
}

/// The cache's own files of one form of name, those unused for longest first; what vanishes meanwhile is left out.
std::vector<DiskCache::Entry> DiskCache::files(bool (*named)(std::string_view)) const {
  std::vector<Entry> files;
  for (std::string& name : core::names_in(folder_)) {
    if (!named(name)) continue;
    const EntryFile file(folder_, name);
    if (file.ours) files.push_back({std::move(name), file.bytes, file.changed});
  }
  std::ranges::sort(files, {}, [](const Entry& file) { return std::pair(file.used, file.name); });
  return files;
}

std::vector<DiskCache::Entry> DiskCache::entries() const {
  return files(is_entry_name);
}

u64 DiskCache::clear() {
  u64 removed = 0;
  for (const Entry& entry : entries()) removed += unlink(entry.name);
  return removed;
}

}  // namespace axisloom::jit
