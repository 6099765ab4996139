// Making, opening and checking folders of the user's own.
#include "core/folder.hpp"

#include <dirent.h>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <memory>
#include <new>
#include <system_error>

namespace axisloom::core {
namespace {

/// False, with errno set, when one cannot be made.
bool make_folders(const std::filesystem::path& folder) {
  std::filesystem::path path;
  for (const std::filesystem::path& part : folder) {
    path /= part;
    if (::mkdir(path.c_str(), 0700) == 0 || errno == EEXIST) continue;
    // Parents may well exist where no folder can be made: on a read-only or an automounted file system.
    struct stat status {};
    if (::stat(path.c_str(), &status) != 0 || !S_ISDIR(status.st_mode)) return false;
  }
  return true;
}

struct CloseFolder {
  void operator()(DIR* list) const { ::closedir(list); }
};

std::string intruders_at(const std::filesystem::path& path, bool may_be_sticky) {
  struct stat status {};
  if (::lstat(path.c_str(), &status) != 0) return path.string() + ": " + system_message();
  if (status.st_uid != ::geteuid() && status.st_uid != 0) return path.string() + " belongs to another user";
  const bool open_to_others = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0;
  if (!open_to_others || (may_be_sticky && (status.st_mode & S_ISVTX) != 0)) return {};
  return "others can write to " + path.string() + " (chmod go-w fixes that)";
}

}  // namespace

std::string system_message(int error) {
  return std::generic_category().message(error);
}

Descriptor::~Descriptor() {
  close();
}

bool Descriptor::close() noexcept {
  const int number = std::exchange(number_, -1);
  return number < 0 || ::close(number) == 0;
}

std::string intruders(const std::filesystem::path& folder) {
  std::error_code error;
  const std::filesystem::path real = std::filesystem::canonical(folder, error);
  if (error) return error.message();
  // In a sticky folder others can make files, but not replace this user's: the folder itself must not be one.
  std::string found = intruders_at(real, false);
  for (std::filesystem::path above = real; found.empty() && above != above.root_path();) {
    above = above.parent_path();
    found = intruders_at(above, true);
  }
  return found;
}

OpenedFolder open_folder(const std::filesystem::path& folder, bool guarded) {
  if (!make_folders(folder)) return {{}, "it cannot be created: " + system_message()};
  if (guarded) {
    if (std::string found = intruders(folder); !found.empty()) return {{}, std::move(found)};
  }
  Descriptor descriptor(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!descriptor) return {{}, errno == ENOTDIR ? "it is not a folder" : system_message()};
  if (::faccessat(descriptor.get(), ".", R_OK | W_OK | X_OK, AT_EACCESS) != 0) return {{}, system_message()};
  return {std::move(descriptor), {}};
}

std::vector<std::string> names_in(const Descriptor& folder) {
  std::vector<std::string> names;
  Descriptor again(::openat(folder.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!again) return names;
  const std::unique_ptr<DIR, CloseFolder> list(::fdopendir(again.get()));
  if (!list && errno == ENOMEM) throw std::bad_alloc();
  if (!list) return names;
  again.release();
  while (const dirent* const entry = ::readdir(list.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != "..") names.emplace_back(name);
  }
  std::ranges::sort(names);
  return names;
}

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::string_view begin,
                                              std::string_view end) {
  std::vector<std::filesystem::path> entries;
  const Descriptor opened(::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!opened) return entries;
  for (const std::string& name : names_in(opened))
    if (name.starts_with(begin) && name.ends_with(end)) entries.push_back(folder / name);
  return entries;
}

}  // namespace axisloom::core
