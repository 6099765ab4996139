// Reading and writing the files of the disk cache.
#include "jit/entry_file.hpp"

#include <fcntl.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>

#include "core/integers.hpp"
#include "core/text.hpp"
#include "jit/jit.hpp"

namespace axisloom::jit {
namespace {

constexpr std::string_view entry_suffix = ".axl";
constexpr std::string_view temporary_suffix = ".tmp";
constexpr size_t key_digits = 64;
constexpr size_t random_digits = 16;

using Digits = std::array<char, key_digits>;

struct Header {
  std::array<char, 8> magic;
  u64 format;
  u64 length;  // of the program, bytes
  Digits key;
  Digits digest;  // SHA-256 of the program
  bool operator==(const Header&) const = default;
};
static_assert(sizeof(Header) == 152 && std::is_trivially_copyable_v<Header>);

constexpr std::array<char, 8> entry_magic = {'A', 'X', 'L', 'P', 'R', 'O', 'G', '\n'};

bool are_digits(std::string_view text, size_t count) {
  return text.size() == count && text.find_first_not_of("0123456789abcdef") == text.npos;
}

Digits digits_of(const std::string& text) {
  Digits copy{};
  std::copy_n(text.begin(), std::min(copy.size(), text.size()), copy.begin());
  return copy;
}

Header header_of(const std::string& key, std::span<const std::byte> program) {
  return {entry_magic, cache_format, program.size(), digits_of(key), digits_of(sha256(program))};
}

/// Calls ::read or ::write until all bytes are through.
template <typename Pointer, typename Byte>
bool transfer(ssize_t (*some)(int, Pointer, size_t), const core::Descriptor& file, std::span<Byte> bytes) {
  while (!bytes.empty()) {
    const ssize_t done = some(file.get(), bytes.data(), bytes.size());
    if (done < 0 && errno == EINTR) continue;
    if (done <= 0) return false;
    bytes = bytes.subspan(size_t(done));
  }
  return true;
}

/// To write beyond the limit would end the process by SIGXFSZ, unless it is prepared for that.
bool within_file_size_limit(u64 bytes) {
  rlimit limit{};
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY || bytes <= limit.rlim_cur) return true;
  errno = EFBIG;
  return false;
}

}  // namespace

std::string entry_name(const std::string& key) {
  return concat(key, entry_suffix);
}

std::string temporary_name(const std::string& key) {
  u64 bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits) bits = u64(::getpid());
  std::string random(random_digits, '0');
  for (char& digit : random) {
    digit = "0123456789abcdef"[bits & 15];
    bits >>= 4;
  }
  return concat(key, ".", random, temporary_suffix);
}

bool is_entry_name(std::string_view name) {
  return name.ends_with(entry_suffix) && are_digits(name.substr(0, name.size() - entry_suffix.size()), key_digits);
}

bool is_temporary_name(std::string_view name) {
  if (!name.ends_with(temporary_suffix)) return false;
  name.remove_suffix(temporary_suffix.size());
  return name.size() == key_digits + 1 + random_digits && name[key_digits] == '.' &&
         are_digits(name.substr(0, key_digits), key_digits) && are_digits(name.substr(key_digits + 1), random_digits);
}

EntryFile::EntryFile(const core::Descriptor& folder, const std::string& name)
    : descriptor_(::openat(folder.get(), name.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK | O_NOCTTY)) {
  struct stat status {};
  if (!descriptor_ || ::fstat(descriptor_.get(), &status) != 0 || !S_ISREG(status.st_mode)) return;
  bytes = u64(status.st_size);
  changed = i64(status.st_mtim.tv_sec) * 1'000'000'000 + status.st_mtim.tv_nsec;
  const bool trusted = (status.st_uid == ::geteuid() || status.st_uid == 0) && (status.st_mode & 022) == 0;
  std::array<char, entry_magic.size()> start{};
  const size_t there = std::min<u64>(start.size(), bytes);
  ours = trusted && transfer(::read, descriptor_, std::span(start).first(there)) &&
         std::memcmp(start.data(), entry_magic.data(), there) == 0;
}

std::optional<std::vector<std::byte>> EntryFile::program(const std::string& key) const {
  Header header{};
  if (!ours || bytes < sizeof header || ::lseek(descriptor_.get(), 0, SEEK_SET) != 0 ||
      !transfer(::read, descriptor_, std::as_writable_bytes(std::span(&header, 1))) ||
      header.length != bytes - sizeof header)
    return std::nullopt;
  std::vector<std::byte> program(header.length);
  if (!transfer(::read, descriptor_, std::span(program)) || header != header_of(key, program)) return std::nullopt;
  return program;
}

void EntryFile::touch() const noexcept {
  ::futimens(descriptor_.get(), nullptr);
}

u64 entry_bytes(std::span<const std::byte> program) noexcept {
  return sizeof(Header) + program.size();
}

bool write_entry(const core::Descriptor& folder, const std::string& name, const std::string& key,
                 std::span<const std::byte> program) {
  const Header header = header_of(key, program);
  if (!within_file_size_limit(entry_bytes(program))) return false;
  core::Descriptor file(
      ::openat(folder.get(), name.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC | O_NOFOLLOW, 0600));
  if (!file) return false;
  // No fsync: an entry that a power failure tears is found by its digest.
  if (transfer(::write, file, std::as_bytes(std::span(&header, 1))) && transfer(::write, file, program) && file.close())
    return true;
  const int reason = errno;
  ::unlinkat(folder.get(), name.c_str(), 0);
  errno = reason;
  return false;
}

}  // namespace axisloom::jit
