// The entries of the disk cache. An entry is a header that names its key, length and digest, and the binary behind it.
#include "jit/disk_cache.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <charconv>
#include <chrono>
#include <cstring>
#include <system_error>

#include "device/device.hpp"
#include "jit/environment.hpp"
#include "jit/jit.hpp"

namespace axisloom::jit {
namespace {

namespace fs = std::filesystem;

constexpr std::string_view entry_suffix = ".axl";
constexpr std::string_view temporary_suffix = ".tmp";
/// A temporary file as old as this was left by a process that died while writing it.
constexpr auto abandoned_after = std::chrono::hours(1);

struct Header {
  std::array<char, 8> magic;
  std::uint64_t format;
  std::uint64_t length;  // of the payload, bytes
  std::array<char, 64> key;
  std::array<char, 64> digest;  // SHA-256 of the payload
};
static_assert(sizeof(Header) == 152 && std::is_trivially_copyable_v<Header>);

constexpr std::array<char, 8> entry_magic = {'A', 'X', 'L', 'P', 'R', 'O', 'G', '\n'};

std::array<char, 64> digits(const std::string& hexadecimal) {
  std::array<char, 64> copy{};
  std::copy_n(hexadecimal.begin(), std::min(copy.size(), hexadecimal.size()), copy.begin());
  return copy;
}

std::string last_error() {
  return std::generic_category().message(errno);
}

class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(const File&) = delete;
  File& operator=(const File&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  explicit operator bool() const noexcept { return descriptor_ >= 0; }
  int descriptor() const noexcept { return descriptor_; }

  bool read(void* to, std::size_t bytes) const {
    auto* at = static_cast<std::byte*>(to);
    while (bytes > 0) {
      const ssize_t got = ::read(descriptor_, at, bytes);
      if (got < 0 && errno == EINTR) continue;
      if (got <= 0) return false;
      at += got;
      bytes -= static_cast<std::size_t>(got);
    }
    return true;
  }

  bool write(const void* from, std::size_t bytes) const {
    const auto* at = static_cast<const std::byte*>(from);
    while (bytes > 0) {
      const ssize_t put = ::write(descriptor_, at, bytes);
      if (put < 0 && errno == EINTR) continue;
      if (put <= 0) return false;
      at += put;
      bytes -= static_cast<std::size_t>(put);
    }
    return true;
  }

 private:
  int descriptor_;
};

/// Bytes in "1000", "64K", "256M" or "1G"; empty for anything else.
std::optional<std::uint64_t> parse_bytes(std::string_view text) {
  unsigned shift = 0;
  if (text.ends_with('K')) shift = 10;
  if (text.ends_with('M')) shift = 20;
  if (text.ends_with('G')) shift = 30;
  if (shift != 0) text.remove_suffix(1);
  std::uint64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value > (UINT64_MAX >> shift)) return std::nullopt;
  return value << shift;
}

/// Makes a folder and its missing parents, for the user alone. False, with errno set, when one cannot be made.
bool make_folders(const fs::path& folder) {
  fs::path path;
  for (const fs::path& part : folder) {
    path /= part;
    if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) continue;
    // Parents may well exist where no folder can be made: on a read-only or an automounted file system.
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  }
  return true;
}

/// Why a folder cannot hold the cache; empty when it can.
std::string fault_of(const fs::path& folder, bool trusted) {
  if (!make_folders(folder)) return "it cannot be made: " + last_error();
  struct stat status {};
  if (::stat(folder.c_str(), &status) != 0) return last_error();
  if (!S_ISDIR(status.st_mode)) return "it is not a folder";
  if (!trusted && status.st_uid != ::geteuid())
    return "it belongs to another user; set AXISLOOM_CACHE_DIR to use it anyway";
  if (!trusted && (status.st_mode & (S_IWGRP | S_IWOTH)) != 0) {
    return "others can write to it; run chmod 700 on it, or set AXISLOOM_CACHE_DIR to use it anyway";
  }
  if (::faccessat(AT_FDCWD, folder.c_str(), R_OK | W_OK | X_OK, AT_EACCESS) != 0) return last_error();
  return {};
}

std::int64_t nanoseconds(const timespec& time) {
  return static_cast<std::int64_t>(time.tv_sec) * 1'000'000'000 + time.tv_nsec;
}

std::int64_t now() {
  timespec time{};
  ::clock_gettime(CLOCK_REALTIME, &time);
  return nanoseconds(time);
}

/// Regular files of a folder with a suffix; those that vanish meanwhile are left out.
std::vector<DiskCache::Entry> files_with(const fs::path& folder, std::string_view suffix) {
  std::vector<DiskCache::Entry> files;
  std::error_code error;
  for (fs::directory_iterator it(folder, error), end; !error && it != end; it.increment(error)) {
    if (!it->path().native().ends_with(suffix)) continue;
    struct stat status {};
    if (::lstat(it->path().c_str(), &status) != 0 || !S_ISREG(status.st_mode)) continue;
    files.push_back({it->path(), static_cast<std::uint64_t>(status.st_size), nanoseconds(status.st_mtim)});
  }
  std::ranges::sort(files, {}, [](const auto& file) { return std::pair(file.used, file.path.native()); });
  return files;
}

}  // namespace

DiskCacheSettings DiskCacheSettings::from_environment() {
  DiskCacheSettings settings;
  if (const char* bytes = std::getenv("AXISLOOM_CACHE_BYTES"); bytes != nullptr && bytes[0] != '\0') {
    if (const auto limit = parse_bytes(bytes)) {
      settings.limit = *limit;
    } else {
      settings.warning =
          "AXISLOOM_CACHE_BYTES is no number of bytes such as 256M, and is ignored: " + std::string(bytes);
    }
  }
  const char* folder = std::getenv("AXISLOOM_CACHE_DIR");
  if (folder != nullptr && folder[0] != '\0') {
    settings.trusted = true;
    if (std::string_view(folder) == "off") {
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
  const std::string fault = fault_of(settings_.folder, settings_.trusted);
  usable_ = fault.empty();
  if (usable_) return;
  why_ = "compiled programs are kept in memory only, since " + settings_.folder.string() + " cannot be used: " + fault;
}

void DiskCache::report() const {
  if (!settings_.warning.empty()) device::log(settings_.warning);
  if (!usable_ && !settings_.folder.empty()) device::log(why());
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

fs::path DiskCache::path_of(const std::string& key) const {
  return settings_.folder / (key + std::string(entry_suffix));
}

DiskCache::Lookup DiskCache::read(const std::string& key) {
  if (!usable_) return {};
  // Not through a link, and without waiting should the name be a pipe.
  const File file(::open(path_of(key).c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK));
  if (!file) return {};

  Lookup found{Outcome::hit, {}};
  Header header{};
  struct stat status {};
  bool sound =
      ::fstat(file.descriptor(), &status) == 0 && S_ISREG(status.st_mode) && file.read(&header, sizeof(header));
  sound = sound && header.magic == entry_magic && header.format == cache_format && header.key == digits(key) &&
          header.length == static_cast<std::uint64_t>(status.st_size) - sizeof(header);
  if (sound) {
    found.payload.resize(header.length);
    sound = file.read(found.payload.data(), found.payload.size()) && header.digest == digits(sha256(found.payload));
  }
  if (!sound) {
    remove(key);
    return {Outcome::damaged, {}};
  }
  ::futimens(file.descriptor(), nullptr);
  return found;
}

bool DiskCache::store(const std::string& key, std::span<const std::byte> payload) {
  const Header header{entry_magic, cache_format, payload.size(), digits(key), digits(sha256(payload))};
  if (!usable_ || sizeof(header) + payload.size() > settings_.limit) return false;

  static std::atomic<std::uint64_t> counter{0};
  const fs::path temporary = settings_.folder / (key.substr(0, 16) + "-" + std::to_string(::getpid()) + "-" +
                                                 std::to_string(counter++) + std::string(temporary_suffix));
  {
    const File file(::open(temporary.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600));
    // No fsync: an entry that a power failure tears is found by its digest.
    if (!file || !file.write(&header, sizeof(header)) || !file.write(payload.data(), payload.size())) {
      complain("a compiled program could not be written to " + settings_.folder.string() + ": " + last_error());
      if (file) ::unlink(temporary.c_str());
      return false;
    }
  }
  if (::rename(temporary.c_str(), path_of(key).c_str()) != 0) {
    complain("a compiled program could not be renamed in " + settings_.folder.string() + ": " + last_error());
    ::unlink(temporary.c_str());
    return false;
  }
  make_room();
  return true;
}

void DiskCache::remove(const std::string& key) {
  ::unlink(path_of(key).c_str());
}

void DiskCache::make_room() {
  const auto oldest_first = entries();
  std::uint64_t total = 0;
  for (const Entry& entry : oldest_first) total += entry.bytes;
  for (const Entry& entry : oldest_first) {
    if (total <= settings_.limit) break;
    ::unlink(entry.path.c_str());
    total -= entry.bytes;
  }
  const std::int64_t abandoned = now() - std::chrono::nanoseconds(abandoned_after).count();
  for (const Entry& temporary : files_with(settings_.folder, temporary_suffix)) {
    if (temporary.used < abandoned) ::unlink(temporary.path.c_str());
  }
}

std::vector<DiskCache::Entry> DiskCache::entries() const {
  if (!usable_) return {};
  return files_with(settings_.folder, entry_suffix);
}

std::uint64_t DiskCache::clear() {
  std::uint64_t removed = 0;
  for (const Entry& entry : entries()) removed += ::unlink(entry.path.c_str()) == 0 ? 1 : 0;
  return removed;
}

}  // namespace axisloom::jit
