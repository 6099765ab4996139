// Plans that run on arrays in host memory without a queue: what they compute, what they refuse, and that they allocate
// nothing.
#include "failing_allocations.hpp"
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <numeric>
#include <thread>

namespace axisloom::ops_test {
namespace {

View floats(const Dims& shape) {
  return View::contiguous(Dtype::f32, shape);
}

Plan on_host(const Operation& op, const std::vector<View>& views, const PlanOptions& options = {}) {
  return plan(op, views, Device::open("host"), options);
}

/// Memory that begins so many bytes beyond a multiple of 256.
class Memory {
 public:
  explicit Memory(std::size_t floats, std::size_t beyond = 0)
      : memory_(std::aligned_alloc(256, (floats * sizeof(float) + beyond + 511) / 256 * 256), std::free),
        begin_(reinterpret_cast<float*>(static_cast<std::byte*>(memory_.get()) + beyond)) {
    std::iota(begin_, begin_ + floats, 1.0F);
  }
  float* get() const { return begin_; }
  float& operator[](std::size_t i) const { return begin_[i]; }

 private:
  std::unique_ptr<void, void (*)(void*)> memory_;
  float* begin_;
};

void run(const Plan& plan, std::initializer_list<const void*> inputs, void* output) {
  plan.run(std::span(inputs.begin(), inputs.size()), output);
}

TEST(RunHere, GivesTheResult) {
  const Memory in(300), out(300);
  run(on_host(transpose(), {floats({20, 15})}), {in.get()}, out.get());
  for (int r = 0; r < 20; ++r)
    for (int c = 0; c < 15; ++c) ASSERT_EQ(out[c * 20 + r], in[r * 15 + c]);
  for (const std::int64_t count : {1, 16, 256, 300}) {
    run(on_host(reduction("sum"), {floats({count})}), {in.get()}, out.get());
    EXPECT_EQ(out[0], float(count * (count + 1) / 2)) << count;
  }
}

// One with a workspace, one of several launches, one whose accesses are watched, one in place.
TEST(RunHere, GivesTheResultOfOtherPlans) {
  const Memory a(64 * 64), b(64 * 64), out(64 * 64);
  std::fill_n(a.get(), 64 * 64, 1.0F);
  std::fill_n(b.get(), 64 * 64, 2.0F);
  const std::vector<View> two(2, floats({64, 64})), three(3, floats({64, 64}));
  run(on_host(matmul(), two), {a.get(), b.get()}, out.get());
  EXPECT_EQ(out[77], 128);
  run(on_host(einsum("i j, j k, k l -> i l"), three), {a.get(), b.get(), a.get()}, out.get());
  EXPECT_EQ(out[77], 8192);
  PlanOptions options;
  options.in_place = true;
  const Memory square(4);
  run(on_host(transpose(), {floats({2, 2}), floats({2, 2})}, options), {square.get()}, square.get());
  EXPECT_EQ(square[1], 3);
  EXPECT_EQ(square[2], 2);
}

TEST(RunHere, RefusesWhatIsNotThere) {
  const Plan plan = on_host(transpose(), {floats({20, 15})});
  const Memory in(300), out(300);
  EXPECT_NE(text_thrown([&] { run(plan, {nullptr}, out.get()); }).find("input buffer 0 is empty"), std::string::npos);
  EXPECT_NE(text_thrown([&] { run(plan, {in.get()}, nullptr); }).find("the output buffer is empty"), std::string::npos);
  EXPECT_NE(text_thrown([&] { run(plan, {}, out.get()); }).find("needs 1 inputs, got 0"), std::string::npos);
  EXPECT_NE(text_thrown([&] { run(plan, {in.get(), in.get()}, out.get()); }).find("got 2"), std::string::npos);
}

TEST(RunHere, RefusesMemoryAlignedToLess) {
  const Plan plan = on_host(transpose(), {floats({20, 15})});
  const Memory in(300, 128), askew(300, 64), out(300);
  run(plan, {in.get()}, out.get());
  EXPECT_EQ(out[20], in[1]);
  const std::string text = text_thrown([&] { run(plan, {askew.get()}, out.get()); });
  EXPECT_NE(text.find("aligned to 64 bytes, its view was planned with 256 and needs 128"), std::string::npos) << text;
  View anywhere = floats({20, 15});
  anywhere.align = 4;
  run(on_host(transpose(), {anywhere}), {askew.get()}, out.get());
  EXPECT_EQ(out[20], askew[1]);
}

TEST(RunHere, RefusesOverlapAndTakesWhatLiesBetween) {
  const Memory both(400);
  const Plan plan = on_host(copy(), {floats({128})});
  EXPECT_EQ(code_thrown([&] { run(plan, {both.get()}, both.get()); }), Errc::overlap);
  EXPECT_EQ(code_thrown([&] { run(plan, {both.get()}, both.get() + 96); }), Errc::overlap);
  run(plan, {both.get()}, both.get() + 128);
  EXPECT_EQ(both[128], 1);
  View even = floats({50});
  even.strides = {2};
  even.align = 4;
  run(on_host(copy(), {even, even}), {both.get()}, both.get() + 1);
  for (std::size_t i = 0; i < 100; i += 2) ASSERT_EQ(both[i + 1], both[i]);
}

TEST(RunHere, RefusesViewsThatStartBeforeTheirMemory) {
  View backwards = floats({20, 15});
  backwards.strides = {-15, 1};
  const Memory in(300), out(300);
  EXPECT_EQ(code_thrown([&] { run(on_host(transpose(), {backwards}), {in.get()}, out.get()); }), Errc::shape);
}

TEST(RunHere, AllocatesNothing) {
  const Memory in(4096), out(4096);
  for (const Plan& plan : {on_host(transpose(), {floats({64, 64})}), on_host(reduction("sum"), {floats({4096})})}) {
    run(plan, {in.get()}, out.get());
    const auto before = test::allocation_faults.made;
    run(plan, {in.get()}, out.get());
    EXPECT_EQ(test::allocation_faults.made, before) << plan.report().op;
  }
}

TEST(RunHere, ServesManyThreads) {
  const Plan plan = on_host(transpose(), {floats({64, 64})});
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      const Memory in(4096), out(4096);
      for (int repeat = 0; repeat < 50; ++repeat) {
        std::fill_n(out.get(), 4096, 0.0F);
        run(plan, {in.get()}, out.get());
        if (out[64] != 2 || out[4095] != 4096) ++wrong;
      }
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace axisloom::ops_test
