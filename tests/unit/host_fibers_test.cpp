// Items that meet at barriers: in order, together, in groups of any size, on several threads.
#include "device/host/fibers.hpp"

#include "core/per_thread.hpp"

#include <gtest/gtest.h>

#include <numeric>
#include <thread>
#include <vector>

namespace axisloom::device::host {
namespace {

bool run(u32 items, auto&& item) {
  using Callable = std::remove_reference_t<decltype(item)>;
  return core::PerThread<Fibers>::get()->run(
      items, [](void* context, u32 number) { (*static_cast<Callable*>(context))(number); }, &item);
}

/// A sum as kernels make it: each round half of the items adds what the other half has.
u32 sum_in_rounds(u32 items) {
  std::vector<u32> local(items);
  EXPECT_TRUE(run(items, [&](u32 number) {
    local[number] = number + 1;
    for (u32 half = items / 2; half > 0; half /= 2) {
      Fibers::barrier();
      if (number < half) local[number] += local[number + half];
    }
  }));
  return local[0];
}

TEST(HostFibers, ExchangeDataThroughLocalMemory) {
  for (const u32 items : {1U, 2U, 8U, 256U, 64U, 1024U})
    EXPECT_EQ(sum_in_rounds(items), items * (items + 1) / 2) << items;
}

TEST(HostFibers, NobodyPassesABarrierBeforeAllHaveCome) {
  constexpr u32 items = 256, rounds = 5;
  std::vector<u32> come(rounds);
  EXPECT_TRUE(run(items, [&](u32) {
    for (u32& count : come) {
      ++count;
      Fibers::barrier();
      EXPECT_EQ(count, items);
    }
  }));
  EXPECT_EQ(come, std::vector<u32>(rounds, items));
}

TEST(HostFibers, ThoseWhoEndEarlyAreNotWaitedFor) {
  constexpr u32 items = 7;
  std::vector<u32> passed(items);
  EXPECT_TRUE(run(items, [&](u32 number) {
    for (u32 i = 0; i < (number * 3) % items; ++i) {
      Fibers::barrier();
      ++passed[number];
    }
  }));
  for (u32 number = 0; number < items; ++number) EXPECT_EQ(passed[number], (number * 3) % items) << number;
}

TEST(HostFibers, KeepWhatFunctionsMustKeep) {
  std::vector<double> results(16);
  EXPECT_TRUE(run(u32(results.size()), [&](u32 number) {
    double x = number, y = 1, sum = 0;
    for (int i = 0; i < 20; ++i) {
      sum += x * y;
      y += 1;
      Fibers::barrier();
    }
    results[number] = sum;
  }));
  for (size_t i = 0; i < results.size(); ++i) EXPECT_EQ(results[i], double(i) * 210);
}

TEST(HostFibers, HaveStacksOfTheirOwn) {
  constexpr u32 items = 32, words = 8192;  // half of a stack
  u32 right = 0;
  EXPECT_TRUE(run(items, [&](u32 number) {
    volatile u32 mine[words];
    for (u32 i = 0; i < words; ++i) mine[i] = number + i;
    Fibers::barrier();
    u32 wrong = 0;
    for (u32 i = 0; i < words; ++i) wrong += mine[i] != number + i;
    right += wrong == 0;
  }));
  EXPECT_EQ(right, items);
}

TEST(HostFibers, OfSeveralThreadsDoNotMix) {
  std::vector<std::thread> threads;
  for (u32 thread = 0; thread < 4; ++thread)
    threads.emplace_back([thread] {
      for (u32 repeat = 0; repeat < 10; ++repeat)
        EXPECT_EQ(sum_in_rounds(16U << thread % 3), (16U << thread % 3) * ((16U << thread % 3) + 1) / 2);
    });
  for (std::thread& thread : threads) thread.join();
}

}  // namespace
}  // namespace axisloom::device::host
