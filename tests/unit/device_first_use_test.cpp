// The first use of a device in a process, by many threads at once: runtimes do not start safely by themselves.
#include "ops_support.hpp"
#include "own_process.hpp"

#include <barrier>
#include <thread>

namespace axisloom::ops_test {
namespace {

constexpr int first_users = 8;
constexpr int fresh_processes = 4;  // without a lock, more than nine of ten ended in a signal

/// Sums of a small array, by way of a new plan.
float sum_of_ones(const Device& device) {
  const View view = View::contiguous(Dtype::f32, {64});
  const std::vector<float> ones(64, 1.0F);
  float sum = 0;
  const std::span<const std::byte> in = std::as_bytes(std::span(ones));
  run_on_host(reduction("sum"), std::span(&view, 1), std::span(&in, 1), std::as_writable_bytes(std::span(&sum, 1)),
              device);
  return sum;
}

/// What a thread may begin with.
void start(int way) {
  switch (way) {
    case 0:
      EXPECT_EQ(sum_of_ones(real_device()), 64.0F);
      break;
    case 1:
      EXPECT_FALSE(devices().empty());
      break;
    default:
      EXPECT_FALSE(device::opencl_runtime().status().empty());
  }
}

TEST(FirstUse, DISABLED_InThisProcess) {
  std::barrier together(first_users);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < first_users; ++thread) {
    threads.emplace_back([&, thread] {
      together.arrive_and_wait();
      start(thread % 3);
    });
  }
  for (std::thread& thread : threads) thread.join();
  test::end_alone();
}

TEST(FirstUse, ManyThreadsAtOnceStartTheRuntimesOnce) {
  if (devices().empty()) GTEST_SKIP() << "no device";
  for (int repeat = 0; repeat < fresh_processes; ++repeat)
    EXPECT_EQ(test::run_alone("FirstUse.DISABLED_InThisProcess"), "") << "process " << repeat;
}

}  // namespace
}  // namespace axisloom::ops_test
