// Allocations that fail, one after the other, in all that a caller does: std::bad_alloc or Error(out_of_memory), and
// never the end of the process; nothing leaks, nothing hangs, and afterwards everything works.
#include "failing_allocations.hpp"

#include "limited_device.hpp"
#include "model/store.hpp"
#include "opencl_interposer.hpp"
#include "own_process.hpp"
#include "planner/configuration.hpp"
#include "planner/plan_cache.hpp"

AXISLOOM_FAILING_ALLOCATIONS

namespace axisloom::ops_test {
namespace {

using test::allocation_faults;

/// So many allocations of a use fail, drawn evenly from all; every one with AXISLOOM_EVERY_ALLOCATION set.
constexpr std::int64_t injections = 100;

std::int64_t step_through(std::int64_t allocations) {
  return std::getenv("AXISLOOM_EVERY_ALLOCATION") ? 1 : std::max<std::int64_t>(1, allocations / injections);
}

enum class Outcome { done, no_memory, other };

template <class Use>
Outcome outcome_of(Use&& use, std::int64_t nth, bool lasting) {
  const test::FailingAllocation failing(nth, lasting);
  try {
    use();
  } catch (const std::bad_alloc&) {
    return Outcome::no_memory;
  } catch (const Error& error) {
    return error.code() == Errc::out_of_memory ? Outcome::no_memory : Outcome::other;
  }
  return Outcome::done;
}

/// Allocations of a use that was made before, after which as much is held as before.
template <class Use>
std::int64_t allocations_of(Use&& use) {
  use();
  use();
  const std::int64_t made = allocation_faults.made, live = allocation_faults.live;
  use();
  EXPECT_EQ(allocation_faults.live, live) << "a use leaves something behind each time";
  return allocation_faults.made - made;
}

/// `use` is anything that can be done again and again.
template <class Use>
void expect_survived(const char* what, Use&& use) {
  SCOPED_TRACE(what);
  const std::int64_t allocations = allocations_of(use);
  ASSERT_GT(allocations, 0);
  for (const bool lasting : {false, true}) {
    for (std::int64_t nth = 1; nth <= allocations; nth += step_through(allocations)) {
      const std::int64_t live = allocation_faults.live;
      const Outcome outcome = outcome_of(use, nth, lasting);
      use();
      EXPECT_NE(outcome, Outcome::other) << "allocation " << nth;
      EXPECT_EQ(allocation_faults.live, live) << "allocation " << nth << " of " << allocations << " leaks";
    }
  }
}

/// The same for what is done once in a process: begun again after each failure, until nothing fails.
template <class Use>
void expect_survived_once(const char* what, Use&& use) {
  for (std::int64_t nth = 1;; ++nth) {
    const Outcome outcome = outcome_of(use, nth, nth % 2 == 0);
    EXPECT_NE(outcome, Outcome::other) << what << ", allocation " << nth;
    if (outcome == Outcome::done) return;
  }
}

const Operation of_three = einsum("i j, j k, k l -> i l");
const std::vector<View> squares(3, View::contiguous(Dtype::i32, {24, 24}));
const std::vector<View> line(1, View::contiguous(Dtype::i32, {300000}));  // its sum takes a workspace with tickets

Bytes done_on_host(const Operation& op, std::vector<View> views, const Device& device,
                   const PlanOptions& options = {}) {
  std::vector<Bytes> in;
  for (const View& view : views) in.push_back(few_numbers(view, 1));
  const std::vector<std::span<const std::byte>> spans(in.begin(), in.end());
  views.push_back(result_view(op, views));
  Bytes out(static_cast<std::size_t>(buffer_bytes(views.back())));
  for (View& view : views) view.align = 4;  // wherever the arrays lie this time, the plan is the same
  run_on_host(op, views, spans, out, device, options);
  return out;
}

PlanOptions with_checks() {
  PlanOptions options;
  options.checked = true;
  return options;
}

TEST(FailingAllocations, DISABLED_FromTheStart) {
  expect_survived_once("the loader", [] { device::opencl::cl(); });
  const test::Interposer interposer;
  expect_survived_once("set_log", [] { set_log([](std::string_view) {}); });
  expect_survived_once("cache_stats", [] { jit::cache_stats(); });
  expect_survived_once("devices", [] { devices(); });
  expect_survived_once("open", [] { Device::open(test::test_spec()); });
  const Device device = Device::open(test::test_spec());
  expect_survived_once("plan", [&] { plan(of_three, squares, device); });
  Bytes out;
  expect_survived_once("run_on_host", [&] { out = done_on_host(of_three, squares, device); });
  EXPECT_EQ(out, done_on_host(of_three, squares, device));
  set_log({});
  test::end_alone();
}

class FailingAllocationsAgain : public testing::Test {
 protected:
  void SetUp() override {
    if (device::opencl_runtime().devices().empty()) GTEST_SKIP() << "no OpenCL device";
  }
  test::Interposer interposer_;
};

TEST_F(FailingAllocationsAgain, InTheFirstUseOfEverything) {
  EXPECT_EQ(test::run_alone("FailingAllocations.DISABLED_FromTheStart"), "");
}

TEST_F(FailingAllocationsAgain, WhileADeviceIsOpened) {
  expect_survived("devices", [] { devices(); });
  expect_survived("status", [] { device::opencl_runtime().status(); });
  expect_survived("open", [] { Device::open(test::test_spec()); });
  interposer_.reset();
  expect_survived("open anew", [] { device::opencl_runtime().open(test::test_index()); });
  EXPECT_EQ(interposer_.live(), (std::map<std::string, int>{})) << "leaked";
}

TEST_F(FailingAllocationsAgain, WhilePlansAreMade) {
  const Device device = Device::open(test::test_spec());
  expect_survived("plan", [&] { ops::new_plan(of_three, squares, device, {}); });
  const test::TemporaryFolder folder;
  const test::Variable cache("AXISLOOM_CACHE_DIR", folder.path().string());
  const Device pretended(std::make_shared<PretendedDevice>(cpu_info()));
  expect_survived("plan anew", [&] {
    jit::forget_programs();
    plan(transpose(), std::span(squares).first(1), pretended);
  });
  const View view = squares[0];
  const Device card(std::make_shared<PretendedDevice>(gpu_info()));
  expect_survived("plan from the disk", [&] {
    jit::forget_programs();
    plan(transpose(), std::span(&view, 1), card);
  });
  jit::forget_programs();
}

TEST_F(FailingAllocationsAgain, WhilePlansRun) {
  const Device device = Device::open(test::test_spec());
  for (const bool sum : {false, true}) {
    const Plan made = sum ? plan(reduction("sum"), line, device) : plan(of_three, squares, device);
    std::vector<Buffer> buffers;
    for (const View& view : made.views())
      buffers.push_back(device.allocate(static_cast<std::size_t>(buffer_bytes(view))));
    const Queue queue = device.queue();
    const Buffer workspace = device.allocate(made.report().workspace_bytes);
    expect_survived("run", [&] { made.run(queue, buffers).wait(); });
    expect_survived("run in a workspace", [&] { made.run(queue, buffers, workspace).wait(); });
    expect_survived("first run of a queue", [&] { made.run(device.queue(), buffers).wait(); });
  }
}

TEST_F(FailingAllocationsAgain, WhileHostArraysAreUsed) {
  const Device device = Device::open(test::test_spec());
  expect_survived("run_on_host", [&] { done_on_host(of_three, squares, device); });
  expect_survived("checked", [&] { done_on_host(transpose(), {squares[0]}, device, with_checks()); });
  const Device small(std::make_shared<LimitedDevice>(device.impl(), 1500, true));
  expect_survived("in slices", [&] { done_on_host(transpose(), {squares[0]}, small, plainly()); });
}

TEST_F(FailingAllocationsAgain, WhileStoresAreRead) {
  const test::TemporaryFolder folder;
  const test::Variable home("XDG_DATA_HOME", folder.path().string());
  const std::string good =
      R"({"candidate":"rearrange/tile","values":{"tile_in":64},"device":"some card","note":{"a":[1,2.5,null]}})";
  test::write_file(folder / "axisloom/mine.jsonl", good + "\nbroken\n{\"candidate\":7}\n" + good + "\n");
  std::int64_t lines = 0;
  set_log([&](std::string_view) { ++lines; });
  expect_survived("stores", [] {
    model::reset_stores();
    EXPECT_EQ(model::user_store()->measurements.size(), 2u);
  });
  expect_survived("rates", [] {
    model::reset_stores();
    model::model_of(gpu_info());
  });
  set_log({});
  model::reset_stores();
  EXPECT_GT(lines, 0);
}

TEST_F(FailingAllocationsAgain, WhileLinesAreLogged) {
  std::int64_t lines = 0;
  expect_survived("set_log", [&] {
    set_log([&](std::string_view) { ++lines; });
    device::log("a line");
    set_log({});
  });
  EXPECT_GT(lines, 0);
}

}  // namespace
}  // namespace axisloom::ops_test
