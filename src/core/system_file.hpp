// Small text files in which Linux says something, such as those below /proc and /sys.
#pragma once

#include <string>
#include <string_view>

namespace axisloom::core {

/// Empty where there is no such file.
std::string first_line(const std::string& path);
/// What stands behind "name :" in a file such as /proc/cpuinfo, the first time; empty where it does not stand there.
std::string field(const std::string& path, std::string_view name);

}  // namespace axisloom::core
