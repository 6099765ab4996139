// The user's log callback: it may use the library and throw what it likes, and nobody who logs notices.
#include "device/process.hpp"
#include "ops_support.hpp"
#include "own_process.hpp"

#include <thread>

namespace axisloom::ops_test {
namespace {

constexpr unsigned patience = 60;  // seconds until a process that hangs is ended by SIGALRM

/// A folder for compiled programs that cannot be made, which the first plan logs.
class NoFolder {
 public:
  NoFolder() { jit::forget_programs(); }
  ~NoFolder() {
    set_log({});
    folder_.reset();
    jit::forget_programs();
  }
  NoFolder(const NoFolder&) = delete;
  NoFolder& operator=(const NoFolder&) = delete;

 private:
  std::optional<test::Variable> folder_{std::in_place, "AXISLOOM_CACHE_DIR", "/dev/null/none"};
};

Plan plan_a_copy(const Device& device) {
  const View view = View::contiguous(Dtype::f32, {8});
  return plan(copy(), std::span(&view, 1), device);
}

TEST(LogCallback, DISABLED_PlansWhatIsBeingPlanned) {
  alarm(patience);
  const NoFolder logged;
  const Device device(std::make_shared<PretendedDevice>(cpu_info()));
  std::string candidate;
  set_log([&](std::string_view) { candidate = plan_a_copy(device).report().candidate; });
  EXPECT_NE(plan_a_copy(device).report().candidate, "");
  EXPECT_NE(candidate, "") << "nothing was logged";
  test::end_alone();
}

TEST(LogCallback, DISABLED_ThrowsNoException) {
  const NoFolder logged;
  const Device device(std::make_shared<PretendedDevice>(cpu_info()));
  bool called = false;
  set_log([&](std::string_view) {
    called = true;
    throw 7;  // NOLINT: nothing that is an exception
  });
  EXPECT_NE(plan_a_copy(device).report().candidate, "");
  EXPECT_TRUE(called);
  test::end_alone();
}

TEST(LogCallback, DISABLED_LogsWhenItGoes) {
  alarm(patience);
  struct Loud {
    ~Loud() { device::log("gone"); }
  };
  std::string last;
  set_log([loud = std::make_shared<Loud>()](std::string_view) {});
  set_log([&](std::string_view line) { last = line; });
  EXPECT_EQ(last, "gone");
  set_log({});
  test::end_alone();
}

TEST(LogCallback, DISABLED_WaitsForThreadsThatStartRuntimes) {
  alarm(patience);
  bool called = false;
  set_log([&](std::string_view) {
    called = true;
    std::thread([] { devices(); }).join();
  });
  {
    const device::Starting alone;
    device::log("said while another thread could not start a runtime");
    EXPECT_FALSE(called);
  }
  EXPECT_TRUE(called);
  set_log({});
  test::end_alone();
}

TEST(LogCallback, MayUseTheLibraryAndThrowAnything) {
  for (const char* what :
       {"PlansWhatIsBeingPlanned", "ThrowsNoException", "LogsWhenItGoes", "WaitsForThreadsThatStartRuntimes"})
    EXPECT_EQ(test::run_alone(std::string("LogCallback.DISABLED_") + what), "") << what;
}

TEST(LogCallback, DoesNotHearOfItself) {
  std::vector<std::string> lines;
  set_log([&](std::string_view line) {
    lines.emplace_back(line);
    device::log("an answer to " + std::string(line));
  });
  device::log("one");
  {
    const device::HeldLines outer;
    device::log("two");
    const device::HeldLines inner;
    device::log("three");
    EXPECT_EQ(lines, (std::vector<std::string>{"one"}));
  }
  set_log({});
  EXPECT_EQ(lines, (std::vector<std::string>{"one", "two", "three"}));
}

}  // namespace
}  // namespace axisloom::ops_test
