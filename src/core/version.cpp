// The version as text.
#include <axisloom/version.hpp>

#define AXISLOOM_TEXT(number) #number
#define AXISLOOM_JOINED(major, minor, patch) AXISLOOM_TEXT(major) "." AXISLOOM_TEXT(minor) "." AXISLOOM_TEXT(patch)

namespace axisloom {

std::string_view version() noexcept {
  return AXISLOOM_JOINED(AXISLOOM_VERSION_MAJOR, AXISLOOM_VERSION_MINOR, AXISLOOM_VERSION_PATCH);
}

}  // namespace axisloom
