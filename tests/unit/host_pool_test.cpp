// The pool: every number once, by those who are wanted, whoever else is using it; and its threads.
#include "device/host/pool.hpp"

#include "child_process.hpp"
#include "device/host/floats.hpp"
#include "host_support.hpp"

#include <sched.h>

#include <array>
#include <atomic>
#include <chrono>
#include <csignal>
#include <numeric>
#include <thread>

namespace axisloom::device::host {
namespace {

using test::Meeting;
using test::on_every_member;

/// How often each number was done.
std::vector<int> done_by(Pool& pool, u64 count, unsigned members) {
  std::vector<std::atomic<int>> times(count);
  pool.run(count, members, [&](u64 begin, u64 end, unsigned member) {
    EXPECT_LT(begin, end);
    EXPECT_LT(member, std::min(members, pool.threads()));
    for (u64 i = begin; i < end; ++i) ++times[i];
  });
  return {times.begin(), times.end()};
}

TEST(HostPool, DoesEveryNumberOnce) {
  for (const unsigned threads : {1U, 2U, 3U, 5U}) {
    Pool pool(threads);
    EXPECT_EQ(pool.threads(), threads);
    for (const u64 count : {0, 1, 2, 3, 7, 16, 17, 1000, 100003})
      for (const unsigned members : {1U, 2U, 4U, 100U})
        EXPECT_EQ(done_by(pool, count, members), std::vector<int>(count, 1)) << count << " by " << members;
  }
}

TEST(HostPool, EachMemberBeginsWithItsOwnStretch) {
  Pool pool(4);
  for (int repeat = 0; repeat < 3; ++repeat)
    EXPECT_TRUE(on_every_member(pool, [](u64 number, unsigned member) { EXPECT_EQ(number, member); }));
}

TEST(HostPool, WakesThoseWhoSleep) {
  Pool pool(6);
  for (int repeat = 0; repeat < 3; ++repeat) {
    EXPECT_TRUE(on_every_member(pool, [](u64, unsigned) {}));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // a hundred times as long as they stay awake
  }
}

TEST(HostPool, MembersHelpOneThatIsSlow) {
  Pool pool(2);
  constexpr u64 count = 32;
  std::atomic<u64> done{0};
  pool.run(count, 2, [&](u64 begin, u64 end, unsigned) {
    const bool helped = begin > 0 || Meeting::until([&] { return done >= count - end; });
    EXPECT_TRUE(helped) << "nobody did the rest of its stretch";
    done += end - begin;
  });
  EXPECT_EQ(done, count);
}

TEST(HostPool, WithinARunTheCallerIsAlone) {
  Pool pool(3);
  std::atomic<int> inner{0};
  pool.run(6, 3, [&](u64, u64, unsigned) {
    const auto self = std::this_thread::get_id();
    pool.run(4, 3, [&](u64 begin, u64 end, unsigned member) {
      EXPECT_EQ(self, std::this_thread::get_id());
      EXPECT_EQ(member, 0u);
      inner += int(end - begin);
    });
  });
  EXPECT_EQ(inner, 6 * 4);
}

/// The workers that took part in a run.
unsigned other_members(Pool& pool, Wakes wakes) {
  std::atomic<unsigned> others{0};
  std::atomic<u64> done{0};
  pool.run(
      64, pool.threads(),
      [&](u64 begin, u64 end, unsigned member) {
        if (member > 0) ++others;
        done += end - begin;
      },
      wakes);
  EXPECT_EQ(done, 64u);
  return others;
}

TEST(HostPool, StartsAndWakesNobodyForLittleWork) {
  Pool pool(4);
  EXPECT_EQ(other_members(pool, Wakes::never), 0u) << "none was started";
  EXPECT_TRUE(on_every_member(pool, [](u64, unsigned) {}));
  EXPECT_TRUE(Meeting::until([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // a hundred times as long as they stay awake
    return other_members(pool, Wakes::never) == 0;
  })) << "all sleep by now";
  EXPECT_TRUE(on_every_member(pool, [](u64, unsigned) {})) << "who sleeps is woken again";
}

TEST(HostPool, SomeWorkWakesWhereRunsFollowEachOther) {
  // Who is kept from its work for a moment calls the others.
  EXPECT_TRUE(Meeting::until([&] {
    Pool fresh(2);
    return other_members(fresh, Wakes::in_a_row) == 0;
  })) << "the first of a row";
  Pool pool(2);
  EXPECT_TRUE(Meeting::until([&] { return other_members(pool, Wakes::in_a_row) > 0; })) << "the next ones";
  EXPECT_TRUE(Meeting::until([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // a hundred times as long as they stay awake
    return other_members(pool, Wakes::in_a_row) == 0;
  })) << "the first after a pause";
}

// Every number is done once, whenever the others come.
TEST(HostPool, WhatTakesLongerThanExpectedCallsTheOthers) {
  constexpr auto of_each = std::chrono::microseconds(100);
  EXPECT_TRUE(Meeting::until([&] {
    Pool pool(2);
    std::array<std::atomic<int>, 64> times{};
    std::atomic<unsigned> others{0};
    pool.run(
        times.size(), 2,
        [&](u64 begin, u64 end, unsigned member) {
          if (member > 0) ++others;
          for (u64 i = begin; i < end; ++i) ++times[i];
          std::this_thread::sleep_for(of_each * (end - begin));
        },
        Wakes::in_a_row);
    for (const auto& done : times) EXPECT_EQ(done, 1);
    return others > 0;
  }));
}

// Little work after much finds workers awake, and none gets lost on the way to sleep.
TEST(HostPool, LittleWorkIsSharedByThoseAwake) {
  Pool pool(3);
  for (int repeat = 0; repeat < 500; ++repeat) {
    if (repeat % 10 == 0) pool.run(3, 3, [](u64, u64, unsigned) {});
    other_members(pool, Wakes::never);
  }
}

// Who is called for one run may come during the next, in which it is not wanted.
TEST(HostPool, WhoComesLateStaysOut) {
  Pool pool(5);
  std::atomic<int> strangers{0};
  for (int repeat = 0; repeat < 2000; ++repeat) {
    pool.run(5, 5, [](u64, u64, unsigned) {});
    pool.run(20, 2, [&](u64, u64, unsigned member) {
      if (member >= 2) ++strangers;
      std::this_thread::yield();
    });
  }
  EXPECT_EQ(strangers, 0);
}

TEST(HostPool, ServesManyThreads) {
  Pool pool(3);
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&] {
      for (u64 count = 0; count < 300; ++count) EXPECT_EQ(done_by(pool, count, 3), std::vector<int>(count, 1));
    });
  for (std::thread& thread : threads) thread.join();
}

TEST(HostPool, ItsThreadsTakeNoSignalsAndHaveAName) {
  Pool pool(2);
  EXPECT_TRUE(on_every_member(pool, [](u64, unsigned member) {
    if (member == 0) return;
    sigset_t blocked;
    pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
    EXPECT_EQ(sigismember(&blocked, SIGINT), 1);
    std::array<char, 16> name{};
    pthread_getname_np(pthread_self(), name.data(), name.size());
    EXPECT_STREQ(name.data(), "axisloom");
  }));
  sigset_t blocked;
  pthread_sigmask(SIG_SETMASK, nullptr, &blocked);
  EXPECT_EQ(sigismember(&blocked, SIGINT), 0) << "the caller's";
}

#ifdef __SSE2__
TEST(HostPool, ItsThreadsRoundByDefault) {
  constexpr unsigned flushing = 0x8040;
  const unsigned before = _mm_getcsr();
  _mm_setcsr(before | flushing);  // which a new thread inherits
  Pool pool(2);
  EXPECT_TRUE(on_every_member(
      pool, [](u64, unsigned member) { EXPECT_EQ(_mm_getcsr() & flushing, member == 0 ? flushing : 0u); }));
  {
    const DefaultFloats floats;
    EXPECT_EQ(_mm_getcsr() & flushing, 0u);
  }
  EXPECT_EQ(_mm_getcsr() & flushing, flushing) << "the caller's are its own again";
  _mm_setcsr(before);
}
#endif

TEST(HostPool, AWorkerKeepsOffItsWakersProcessor) {
  cpu_set_t allowed;
  ASSERT_EQ(sched_getaffinity(0, sizeof allowed, &allowed), 0);
  if (CPU_COUNT(&allowed) < 2) GTEST_SKIP() << "one processor only";
  Pool pool(2);
  for (int run = 0; run < 3; ++run) {
    EXPECT_TRUE(on_every_member(pool, [&](u64, unsigned member) {
      cpu_set_t own;
      EXPECT_EQ(pthread_getaffinity_np(pthread_self(), sizeof own, &own), 0);
      EXPECT_EQ(CPU_COUNT(&own), CPU_COUNT(&allowed) - (member == 1)) << "of member " << member;
    }));
    std::this_thread::sleep_for(std::chrono::milliseconds(5));  // until it sleeps, too
  }
}

TEST(HostPool, GoesOnInAChild) {
  AXISLOOM_SKIP_WITHOUT_THREADS_IN_CHILDREN();
  Pool pool(3);
  ASSERT_TRUE(on_every_member(pool, [](u64, unsigned) {}));
  const auto works = [&] { return on_every_member(pool, [](u64, unsigned) {}) ? 0 : 1; };
  EXPECT_EQ(test::exit_code_of([&] { return works() + test::exit_code_of(works); }), 0) << "a child, and a child of it";
  EXPECT_EQ(works(), 0) << "the parent";
}

TEST(HostPool, AChildCanDropThePoolOfItsParent) {
  auto pool = std::make_unique<Pool>(3);
  ASSERT_TRUE(on_every_member(*pool, [](u64, unsigned) {}));
  constexpr unsigned limit_seconds = 30;  // waiting for threads that are not there ends by SIGALRM
  EXPECT_EQ(test::exit_code_of([&] { return alarm(limit_seconds), pool.reset(), 0; }), 0);
}

TEST(HostPool, GoesOnInAChildOfARunUnderWay) {
  AXISLOOM_SKIP_WITHOUT_THREADS_IN_CHILDREN();
  Pool pool(2);
  // A thread that starts holds a lock of AddressSanitizer's, which a child would wait for.
  ASSERT_TRUE(on_every_member(pool, [](u64, unsigned) {}));
  std::atomic<bool> under_way{false}, go_on{false};
  std::thread other([&] {
    pool.run(2, 2, [&](u64, u64, unsigned) {
      under_way = true;
      EXPECT_TRUE(Meeting::until([&] { return go_on.load(); }));
    });
  });
  ASSERT_TRUE(Meeting::until([&] { return under_way.load(); }));
  EXPECT_EQ(test::exit_code_of([&] { return on_every_member(pool, [](u64, unsigned) {}) ? 0 : 1; }), 0);
  go_on = true;
  other.join();
}

}  // namespace
}  // namespace axisloom::device::host
