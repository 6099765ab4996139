// Any bytes as an entry of the program cache: a hit is exactly what would be written for its program, damage is
// removed, and what does not begin as an entry is another's file, which stays as it is.
#include <unistd.h>

#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <span>
#include <string>
#include <string_view>

#include "cache_entry.hpp"
#include "jit/disk_cache.hpp"
#include "jit/entry_file.hpp"
#include "jit/jit.hpp"

namespace {

namespace fs = std::filesystem;
using axisloom::jit::DiskCache;

// The layout of an entry once more, so that the fuzzer gets beyond the digest: magic, format, length and key, 8 + 8 + 8
// + 64 bytes; the digest, 64; the program.
constexpr std::string_view magic = "AXLPROG\n";
constexpr std::size_t digest_begin = 88, program_begin = 152;

/// The folder and its one file.
struct Folder {
  Folder() {
    std::string name = (fs::temp_directory_path() / "axisloom-fuzz-XXXXXX").string();
    if (::mkdtemp(name.data()) == nullptr) std::abort();
    path = name;
    static std::string left;
    left = name;
    std::atexit([] { fs::remove_all(left); });
  }
  fs::path path;
};

struct Use {
  Folder folder;
  DiskCache cache{{.folder = folder.path, .named = true}};
  fs::path file = folder.path / axisloom::jit::entry_name(cache_key);
};

void require(bool holds) {
  if (!holds) std::abort();
}

std::string text_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

void put(const fs::path& file, std::string_view bytes) {
  std::ofstream(file, std::ios::binary) << bytes;
  fs::permissions(file, fs::perms::owner_read | fs::perms::owner_write);
}

void read_entry(Use& use, std::string_view bytes) {
  put(use.file, bytes);
  const DiskCache::Lookup found = use.cache.read(cache_key);
  const bool ours = bytes.starts_with(magic.substr(0, bytes.size()));
  switch (found.outcome) {
    case DiskCache::Outcome::hit:
      require(use.cache.store(cache_key, found.payload) && text_in(use.file) == bytes);
      break;
    case DiskCache::Outcome::damaged:
      require(ours && !fs::exists(use.file));
      break;
    case DiskCache::Outcome::missing:
      require(!ours && text_in(use.file) == bytes && use.cache.clear() == 0 && fs::exists(use.file));
      break;
  }
}

/// What is written for a program is read again, whatever its bytes.
void write_and_read(Use& use, std::string_view program) {
  fs::remove(use.file);
  require(use.cache.store(cache_key, std::as_bytes(std::span(program))));
  const DiskCache::Lookup found = use.cache.read(cache_key);
  require(found.outcome == DiskCache::Outcome::hit &&
          std::string_view(reinterpret_cast<const char*>(found.payload.data()), found.payload.size()) == program);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static Use use;
  const std::string_view bytes(reinterpret_cast<const char*>(data), size);
  read_entry(use, bytes);
  if (size < program_begin) return 0;
  const std::string_view program = bytes.substr(program_begin);
  std::string repaired(bytes);
  repaired.replace(digest_begin, program_begin - digest_begin, axisloom::jit::sha256(program));
  read_entry(use, repaired);
  write_and_read(use, program);
  return 0;
}
