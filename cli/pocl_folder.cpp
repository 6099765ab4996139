// Taking, checking and leaving the folder that PoCL is lent.
#include "cli/pocl_folder.hpp"

#include "device/environment.hpp"
#include "device/opencl/pocl.hpp"
#include "jit/jit.hpp"

#include <fmt/format.h>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cstdlib>
#include <fstream>
#include <iterator>

namespace axisloom::cli {
namespace {

namespace fs = std::filesystem;

/// Beyond it the folder is begun anew: PoCL itself never removes anything.
constexpr u64 most_bytes = 512ull << 20;

fs::path programs(const fs::path& place) {
  return place / "kcache";
}

fs::path state(const fs::path& place) {
  return place / "state";
}

std::string text_in(const fs::path& file) {
  std::ifstream in(file, std::ios::binary);
  return {std::istreambuf_iterator<char>(in), {}};
}

/// Adds a line for each file below a folder: all that can be told without reading it. Returns their bytes.
u64 describe_files(const fs::path& folder, std::string& text) {
  u64 bytes = 0;
  for (const fs::path& path : core::entries_of(folder, "", "")) {
    struct stat status {};
    const bool there = ::lstat(path.c_str(), &status) == 0;
    if (there && S_ISDIR(status.st_mode)) {
      bytes += describe_files(path, text);
      continue;
    }
    bytes += status.st_size;
    text += fmt::format("{} {} {} {}.{:09} {}.{:09}\n", path.native(), status.st_ino, status.st_size,
                        status.st_mtim.tv_sec, status.st_mtim.tv_nsec, status.st_ctim.tv_sec, status.st_ctim.tv_nsec);
  }
  return bytes;
}

/// A digest over what can be told of all files; empty when there is too much.
std::string digest_of(const fs::path& folder) {
  std::string text;
  return describe_files(folder, text) <= most_bytes ? jit::sha256(text) : std::string();
}

core::Descriptor open_mark(const fs::path& place, int further_flags) {
  const fs::path mark = place / "made-by-axisloom";
  return core::Descriptor(::open(mark.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW | further_flags, 0600));
}

/// The mark of a folder, opened; none where the folder has contents and no mark, since then others have made it.
core::Descriptor mark_of(const fs::path& place) {
  std::error_code error;
  core::Descriptor mark = open_mark(place, 0);
  if (!mark && fs::is_empty(place, error)) mark = open_mark(place, O_CREAT);
  if (!mark) mark = open_mark(place, 0);  // another process may just have made it
  return mark;
}

/// Where temporary files go; not by the word of a caller with fewer rights.
fs::path temporary_folder() {
  const std::string chosen = device::environment_path("TMPDIR");
  return fs::path(chosen.empty() ? "/tmp" : chosen) / fmt::format("axisloom-{}", ::geteuid());
}

}  // namespace

std::optional<PoclFolder> PoclFolder::take() {
  if (!device::environment("POCL_CACHE_DIR").empty()) return std::nullopt;  // PoCL does not survive an empty one
  ::unsetenv("POCL_CACHE_DIR");
  std::optional<PoclFolder> folder;
  if (const std::string cache = jit::cache_path(); !cache.empty()) folder = below(cache);
  if (!folder && (device::with_rights_of_another() || !device::opencl::pocl_folder_fault().empty()))
    folder = below(temporary_folder());
  if (folder) ::setenv("POCL_CACHE_DIR", programs(folder->place_).c_str(), 1);
  return folder;
}

std::optional<PoclFolder> PoclFolder::below(const fs::path& base) {
  const fs::path place = base / "pocl";
  if (!core::open_folder(place, /*guarded=*/true).descriptor) return std::nullopt;
  core::Descriptor mark = mark_of(place);
  if (!mark) return std::nullopt;
  PoclFolder folder(place, std::move(mark));
  if (::flock(folder.mark_.get(), LOCK_EX | LOCK_NB) == 0) {
    std::error_code ignored;
    if (!folder.as_left()) fs::remove_all(programs(place), ignored);
    fs::remove(state(place), ignored);
  }
  if (::flock(folder.mark_.get(), LOCK_SH) != 0) return std::nullopt;  // a file system without locks
  return folder;
}

bool PoclFolder::as_left() const {
  const std::string noted = text_in(state(place_));
  return !noted.empty() && noted == digest_of(programs(place_));
}

void PoclFolder::keep() const {
  if (::flock(mark_.get(), LOCK_EX | LOCK_NB) != 0) return;
  std::ofstream(state(place_), std::ios::binary) << digest_of(programs(place_));
}

void PoclFolder::clear(const fs::path& cache) {
  const fs::path place = cache / "pocl";
  std::error_code error;
  if (!fs::is_directory(place, error) || !core::intruders(place).empty()) return;
  const core::Descriptor mark = mark_of(place);
  if (!mark || ::flock(mark.get(), LOCK_EX | LOCK_NB) != 0) return;
  fs::remove(state(place), error);
  fs::remove_all(programs(place), error);
}

}  // namespace axisloom::cli
