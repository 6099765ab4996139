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

constexpr std::string_view entry_ending = "axl", temporary_ending = "tmp";
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

/// Takes so many digits and a dot off a name; false where it does not begin with them.
bool take_digits(std::string_view& name, size_t count) {
  const std::string_view digits = core::take_part(name, '.');
  return digits.size() == count && digits.find_first_not_of("0123456789abcdef") == digits.npos;
}

Digits digits_of(const std::string& text) {
  Digits copy{};
  text.copy(copy.data(), copy.size());
  return copy;
}

Header header_of(const std::string& key, std::span<const std::byte> program) {
  return {entry_magic, cache_format, program.size(), digits_of(key), digits_of(sha256(program))};
}

/// Calls ::read or ::write until all bytes are through.
bool transfer(auto* some, const core::Descriptor& file, auto bytes) {
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
  if (::getrlimit(RLIMIT_FSIZE, &limit) != 0 || bytes <= limit.rlim_cur) return true;
  errno = EFBIG;
  return false;
}

}  // namespace

std::string entry_name(const std::string& key) {
  return concat(key, ".", entry_ending);
}

std::string temporary_name(const std::string& key) {
  u64 bits = 0;
  if (::getrandom(&bits, sizeof bits, 0) != sizeof bits) bits = u64(::getpid());
  std::string random(random_digits, '0');
  for (char& digit : random) {
    digit = "0123456789abcdef"[bits & 15];
    bits >>= 4;
  }
  return concat(key, ".", random, ".", temporary_ending);
}

bool is_entry_name(std::string_view name) {
  return take_digits(name, key_digits) && name == entry_ending;
}

bool is_temporary_name(std::string_view name) {
  return take_digits(name, key_digits) && take_digits(name, random_digits) && name == temporary_ending;
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
