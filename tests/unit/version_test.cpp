// The version: the same in the headers, in the library and in the build.
#include <axisloom/version.hpp>

#include <gtest/gtest.h>

namespace axisloom {
namespace {

TEST(Version, IsThatOfTheHeaders) {
  EXPECT_EQ(version(), std::to_string(AXISLOOM_VERSION_MAJOR) + "." + std::to_string(AXISLOOM_VERSION_MINOR) + "." +
                           std::to_string(AXISLOOM_VERSION_PATCH));
}

}  // namespace
}  // namespace axisloom
