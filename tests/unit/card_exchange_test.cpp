// Exchanges between cards that reach each other's memory: the driver is emulated, and so is the kernel by which cards
// copy and meet. Each rank is a thread with a card of its own.
#include <axisloom/error.hpp>
#include <axisloom/exchange.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include "counting_device.hpp"
#include "cuda_support.hpp"
#include "device/cuda/runtime.hpp"
#include "device/cuda/sharing.hpp"
#include "distributed/cards/windows.hpp"
#include "emulated_card_copies.hpp"
#include "thread_communicator.hpp"

namespace axisloom::card_exchange_test {
namespace {

using device::cuda::FakeDriver;
using distributed::cards::Windows;
using Ranks = std::shared_ptr<test::ThreadCommunicator>;

class CardExchange : public testing::Test {
 protected:
  void SetUp() override {
    fake.reset();
    fake.device_count = 4;
    fake.kernel = {"card_copies", sizeof(distributed::cards::Job), [](unsigned groups, void** args) {
                     const auto& job = *static_cast<const distributed::cards::Job*>(args[0]);
                     for (unsigned group = 0; group < groups; ++group)
                       distributed::cards::run_group(job, group, groups);
                   }};
    runtime.emplace(device::cuda::DriverLibrary{fake.table(), {"CUDA driver", true, {}, {}, {}, {}}},
                    device::cuda::installed_nvrtc);
  }
  void TearDown() override {
    runtime.reset();
    EXPECT_EQ(fake.live(), 0u) << "handles are left";
  }

  Device card(int number) { return Device(runtime->open(number)); }

  /// body(ranks, card) in a thread for each of so many ranks.
  void on_cards(int count, auto&& body) {
    std::vector<Device> cards;
    for (int number = 0; number < count; ++number) cards.push_back(card(number));
    for (const std::exception_ptr& one :
         test::run_ranks(count, false, [&](const Ranks& ranks) { body(ranks, cards[std::size_t(ranks->rank())]); }))
      if (one) std::rethrow_exception(one);
  }

  const test::TemporaryFolder folder;  // the kernel is compiled once, not by each rank
  const test::Variable kept{"AXISLOOM_CACHE_DIR", folder.path().string()};
  FakeDriver& fake = FakeDriver::get();
  std::optional<device::cuda::CudaRuntime> runtime;
};

TEST_F(CardExchange, WindowsAreZeroAndReachedByAll) {
  on_cards(3, [&](const Ranks& ranks, const Device& own) {
    std::string reason;
    const std::size_t bytes = 100 * std::size_t(ranks->rank());
    const auto windows = Windows::shared(ranks, own, bytes, reason);
    ASSERT_TRUE(windows) << reason;
    EXPECT_GE(windows->own().bytes(), bytes);
    ASSERT_EQ(windows->addresses().size(), 3u);
    auto* const mine = static_cast<unsigned char*>(windows->own().impl()->native());
    EXPECT_TRUE(std::all_of(mine, mine + bytes, [](unsigned char byte) { return byte == 0; }));
    *mine = static_cast<unsigned char>(ranks->rank() + 1);
    ranks->allgather(std::vector<std::byte>(1));
    for (std::size_t rank = 0; rank < 3; ++rank)
      EXPECT_EQ(*reinterpret_cast<const unsigned char*>(windows->addresses()[rank]), rank + 1);
  });
  EXPECT_EQ(fake.reaching.size(), 6u);
  EXPECT_TRUE(fake.opened.empty()) << "ranks of one process need no handles of it";
}

TEST_F(CardExchange, MemoryOfAnotherProcessIsOpenedAndClosed) {
  const auto owner = runtime->open(0), other = runtime->open(1);
  const auto memory = owner->allocate(64);
  const device::cuda::MemoryKey key = device::cuda::key_of(*memory);
  auto opened = device::cuda::reach(*other, key, 64, false);
  EXPECT_EQ(opened->native(), memory->native());
  EXPECT_EQ(fake.opened.size(), 1u);
  EXPECT_TRUE(fake.reaching.empty());
  opened.reset();
  EXPECT_TRUE(fake.opened.empty());
}

TEST_F(CardExchange, WhereOneRankCannotNobodyHasWindows) {
  for (const char* call : {"cuMemAlloc_v2", "cuIpcGetMemHandle", "cuCtxEnablePeerAccess"}) {
    fake.calls.clear();
    fake.reaching.clear();
    fake.fault = {call, 2, 2};
    std::mutex mutex;
    std::vector<std::string> reasons;
    on_cards(3, [&](const Ranks& ranks, const Device& own) {
      std::string reason;
      EXPECT_EQ(Windows::shared(ranks, own, 64, reason), nullptr);
      const std::lock_guard lock(mutex);
      reasons.push_back(reason);
    });
    fake.fault = {};
    for (const std::string& reason : reasons) EXPECT_NE(reason.find("rank "), std::string::npos) << call << reason;
    EXPECT_TRUE(fake.memory.empty()) << call;
  }
}

TEST_F(CardExchange, RanksWithOneCardGoByMessages) {
  const Device own = card(0);
  test::run_ranks(2, false, [&](const Ranks& ranks) {
    std::string reason;
    EXPECT_EQ(Windows::shared(ranks, own, 64, reason), nullptr);
    EXPECT_EQ(reason, "ranks 0 and 1 have the same card");
  });
}

// --- exchanges -------------------------------------------------------------------------------------------------------

struct Tried {
  const char* pattern;
  Dims shape;
  Lengths lengths = {};
};

const std::vector<Tried>& tried() {
  static const std::vector<Tried> all = {
      {"b s@x h d -> b s h@x d", {2, 16, 8, 6}},
      {"b s h@x d -> b s@x h d", {2, 9, 8, 5}},
      {"m@x n -> n@x m", {37, 24}},
      {"m@x n -> n m", {8, 12}},
      {"(a b)@x c -> b@x (c a)", {16, 7}, {{"a", 2}}},
      {"h@x w c -> c h w@x", {8, 6, 3}},
      {"s@x d -> s@x:4 d", {37, 8}},
      {"a@x b -> a b r@x", {8, 10}, {{"r", 8}}},
      {"s@x h -> s h@x", {2, 4}},  // some ranks have nothing
  };
  return all;
}

/// Elements that tell their place in the whole array.
std::vector<std::int32_t> input(const Redistribution& plan, int rank) {
  std::vector<std::int32_t> values(std::size_t(element_count(plan.in_shape(rank))));
  std::iota(values.begin(), values.end(), 1 + 100'000 * rank);
  return values;
}

std::vector<std::vector<std::int32_t>> wanted(const Tried& one, const std::string& mesh, int count) {
  std::vector<std::vector<std::int32_t>> all{std::size_t(count)};
  test::run_ranks(count, true, [&](const Ranks& ranks) {
    Exchange exchange(one.pattern, mesh, one.shape, Dtype::i32, ranks, {}, one.lengths);
    const std::vector<std::int32_t> in = input(exchange.redistribution(), ranks->rank());
    std::vector<std::int32_t>& out = all[std::size_t(ranks->rank())];
    out.resize(std::size_t(exchange.out_view().count()));
    exchange.run(in.data(), out.data());
  });
  return all;
}

TEST_F(CardExchange, ThroughWindowsAndIntoSharedOutputs) {
  for (const int count : {2, 4})
    for (const Tried& one : tried()) {
      const std::string mesh = "x=" + std::to_string(count);
      const auto right = wanted(one, mesh, count);
      for (const std::int64_t workspace : {std::int64_t{1} << 20, std::int64_t{2048}})
        on_cards(count, [&](const Ranks& ranks, const Device& own) {
          SCOPED_TRACE(std::string(one.pattern) + " over " + mesh + " rank " + std::to_string(ranks->rank()));
          Exchange exchange(one.pattern, mesh, one.shape, Dtype::i32, ranks, {.device = own, .workspace = workspace},
                            one.lengths);
          const ExchangeReport& report = exchange.report();
          EXPECT_EQ(report.path, ExchangePath::windows) << report.reason;
          EXPECT_EQ(report.reason, "the ranks' cards reach each other's memory");
          EXPECT_LE(report.workspace_bytes, 2 * workspace);
          const std::vector<std::int32_t> in = input(exchange.redistribution(), ranks->rank());
          const std::vector<std::int32_t>& out = right[std::size_t(ranks->rank())];
          const Buffer from = own.allocate(in.size() * 4), to = own.allocate(out.size() * 4);
          const Queue queue = own.queue();
          queue.write(from, 0, std::as_bytes(std::span(in))).wait();
          const auto result = [&](const Buffer& buffer) {
            std::vector<std::int32_t> values(out.size(), -1);
            queue.read(buffer, 0, std::as_writable_bytes(std::span(values))).wait();
            return values;
          };
          for (int time = 0; time < 3; ++time) {
            exchange.run(queue, from, to);
            EXPECT_EQ(result(to), out);
          }
          const SharedOutput shared = exchange.share_output();
          EXPECT_EQ(shared.data() == nullptr, out.empty());
          for (int time = 0; time < 2; ++time) {
            exchange.run(queue, from, shared);
            EXPECT_EQ(result(shared.buffer()), out);
          }
        });
    }
  EXPECT_TRUE(std::ranges::any_of(fake.launches, &FakeDriver::Launch::awaits_earlier));
}

TEST_F(CardExchange, RoundsFollowTheWorkspace) {
  on_cards(2, [&](const Ranks& ranks, const Device& own) {
    const auto rounds = [&](std::int64_t workspace) {
      return Exchange("s@x h -> s h@x", "x=2", {64, 64}, Dtype::f32, ranks, {.device = own, .workspace = workspace})
          .report()
          .rounds;
    };
    EXPECT_EQ(rounds(1 << 20), 1);
    EXPECT_GE(rounds(2048), 4);
  });
}

/// Whose text says so.
void expect_refused(auto&& call, const char* words) {
  try {
    call();
    ADD_FAILURE() << "no error that says: " << words;
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::usage);
    EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
  }
}

TEST_F(CardExchange, BuffersThatWillNotDoAreRefused) {
  on_cards(2, [&](const Ranks& ranks, const Device& own) {
    Exchange exchange("s@x h -> s h@x", "x=2", {4, 8}, Dtype::f32, ranks, {.device = own});
    Exchange another("s@x h -> s h@x", "x=2", {4, 8}, Dtype::f32, ranks, {.device = own});
    const Queue queue = own.queue();
    const Buffer whole = own.allocate(64), part = own.allocate(60), block = own.allocate(128);
    const Buffer askew = own.borrow_buffer(static_cast<std::byte*>(block.impl()->native()) + 4, 64);
    expect_refused([&] { exchange.run(queue, part, whole); }, "the local input has 60 bytes, its view needs 64");
    expect_refused([&] { exchange.run(queue, whole, part); }, "the local output has 60 bytes");
    expect_refused([&] { exchange.run(queue, whole, {}); }, "the local output is an empty buffer");
    expect_refused([&] { exchange.run(queue, askew, whole); }, "is aligned to 4 bytes, its view says 256");
    expect_refused([&] { exchange.run({}, whole, own.allocate(64)); }, "the queue is empty");
    EXPECT_THROW(exchange.run(queue, whole, whole), Error);
    expect_refused([&] { exchange.run(Device::open("host").queue(), whole, own.allocate(64)); }, "not one of CUDA");
    const SharedOutput output = another.share_output();
    expect_refused([&] { exchange.run(queue, whole, output); }, "the shared output is one of another exchange");
    exchange.run(queue, whole, own.allocate(64));
  });
}

/// A graph knows no events of work that came before it.
TEST_F(CardExchange, WhatIsCapturedWaitsForNoEarlierRun) {
  on_cards(2, [&](const Ranks& ranks, const Device& own) {
    Exchange exchange("s@x h -> s h@x", "x=2", {4, 8}, Dtype::f32, ranks, {.device = own});
    const Buffer from = own.allocate(64), to = own.allocate(64);
    const Queue queue = own.queue(), other = own.queue();
    exchange.run(queue, from, to);
    ranks->allgather(std::vector<std::byte>(1));
    if (ranks->rank() == 0) fake.capturing = true, fake.waits.clear();
    ranks->allgather(std::vector<std::byte>(1));
    exchange.run(other, from, to);
    ranks->allgather(std::vector<std::byte>(1));
    EXPECT_TRUE(fake.waits.empty());
    ranks->allgather(std::vector<std::byte>(1));
    if (ranks->rank() == 0) fake.capturing = false;
    ranks->allgather(std::vector<std::byte>(1));
    exchange.run(other, from, to);
    ranks->allgather(std::vector<std::byte>(1));
    EXPECT_FALSE(fake.waits.empty()) << "runs on other queues come one after the other";
  });
}

}  // namespace
}  // namespace axisloom::card_exchange_test
