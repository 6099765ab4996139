// Listing a folder by readdir.
#include "device/folder.hpp"

#include <dirent.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <new>

namespace axisloom::device {

std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::string_view begin,
                                              std::string_view end) {
  const auto close = [](DIR* open) { ::closedir(open); };
  const std::unique_ptr<DIR, decltype(close)> open(::opendir(folder.c_str()), close);
  if (!open && errno == ENOMEM) throw std::bad_alloc();
  std::vector<std::filesystem::path> entries;
  if (!open) return entries;
  while (const dirent* const entry = ::readdir(open.get())) {
    const std::string_view name = entry->d_name;
    if (name != "." && name != ".." && name.starts_with(begin) && name.ends_with(end)) entries.push_back(folder / name);
  }
  std::ranges::sort(entries, {}, &std::filesystem::path::native);
  return entries;
}

}  // namespace axisloom::device
