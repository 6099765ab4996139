// What lies in a folder.
#pragma once

#include <filesystem>
#include <string_view>
#include <vector>

namespace axisloom::device {

/// Paths of the entries whose name begins and ends like that, sorted; none when the folder cannot be read.
/// std::filesystem's own iterator ends the process when there is no memory left for a name.
std::vector<std::filesystem::path> entries_of(const std::filesystem::path& folder, std::string_view begin,
                                              std::string_view end);

}  // namespace axisloom::device
