// Variables that say which libraries and devices are used: believed, but not in a program with more rights than its
// user.
#include "device/environment.hpp"

#include "counting_device.hpp"
#include "jit/disk_cache.hpp"
#include "jit/environment.hpp"
#include "own_process.hpp"

#include <sys/auxv.h>

namespace axisloom::device {
namespace {

namespace fs = std::filesystem;

TEST(Environment, IsReadAsItIs) {
  const test::Variable some("AXISLOOM_TEST_VALUE", "a value"), folder("AXISLOOM_TEST_FOLDER", "/a/folder"),
      relative("AXISLOOM_TEST_RELATIVE", "a/folder"), none("AXISLOOM_TEST_NONE", std::nullopt);
  EXPECT_EQ(environment("AXISLOOM_TEST_VALUE"), "a value");
  EXPECT_EQ(environment("AXISLOOM_TEST_NONE"), "");
  EXPECT_EQ(environment_path("AXISLOOM_TEST_FOLDER"), "/a/folder");
  EXPECT_EQ(environment_path("AXISLOOM_TEST_RELATIVE"), "");
  EXPECT_EQ(environment_path("AXISLOOM_TEST_NONE"), "");
}

TEST(Environment, DISABLED_OfAProgramWithMoreRights) {
  EXPECT_NE(getauxval(AT_SECURE), 0u);
  EXPECT_NE(std::getenv("AXISLOOM_TEST_FOLDER"), nullptr);
  EXPECT_EQ(environment("AXISLOOM_TEST_FOLDER"), "");
  EXPECT_EQ(environment_path("AXISLOOM_TEST_FOLDER"), "");
  EXPECT_EQ(jit::user_folder("AXISLOOM_TEST_FOLDER", "below/home"), std::nullopt) << "nor is HOME believed";
  const jit::DiskCacheSettings settings = jit::DiskCacheSettings::from_environment();
  EXPECT_EQ(settings.folder, "");
  EXPECT_FALSE(settings.named);
  EXPECT_EQ(settings.limit, jit::DiskCacheSettings().limit);
  test::end_alone();
}

// A copy of this program that anybody runs as its owner.
TEST(Environment, IsIgnoredByAProgramThatRunsAsItsOwner) {
  constexpr const char* as_nobody = "/usr/bin/setpriv";
  if (::geteuid() != 0 || !fs::exists(as_nobody)) GTEST_SKIP() << "needs root and setpriv to become another user";
  const test::TemporaryFolder folder;
  fs::permissions(folder.path(), fs::perms(0755));
  const std::string copy = folder / "copy";
  fs::copy_file("/proc/self/exe", copy);
  fs::permissions(copy, fs::perms(04755));
  EXPECT_EQ(
      test::run_alone("Environment.DISABLED_OfAProgramWithMoreRights",
                      {"AXISLOOM_TEST_FOLDER=/a/folder", "AXISLOOM_CACHE_DIR=/a/folder", "AXISLOOM_CACHE_BYTES=1K"},
                      {as_nobody, "--reuid=65534", "--regid=65534", "--clear-groups", copy}),
      "");
}

}  // namespace
}  // namespace axisloom::device
