// The version of Axisloom: here and nowhere else. CMakeLists.txt reads these three lines.
#pragma once

#include <string_view>

/// Version of these headers, for preprocessors.
#define AXISLOOM_VERSION_MAJOR 0
#define AXISLOOM_VERSION_MINOR 1
#define AXISLOOM_VERSION_PATCH 0

namespace axisloom {

/// Version of the library that runs, "MAJOR.MINOR.PATCH". Where it is shared, it may be newer than these headers.
std::string_view version() noexcept;

}  // namespace axisloom
