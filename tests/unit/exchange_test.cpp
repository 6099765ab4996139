// Exchanges between ranks that are threads of this process.
#include <axisloom/error.hpp>
#include <axisloom/exchange.hpp>
#include <axisloom/plan.hpp>

#include <gtest/gtest.h>

#include <array>
#include <atomic>
#include <cmath>
#include <cstring>
#include <mutex>
#include <numeric>
#include <optional>

#include "exchange_run.hpp"
#include "sanitizers.hpp"
#include "thread_communicator.hpp"

namespace axisloom::exchange_test {
namespace {

using test::DrawnRun;
using test::ExchangeRun;
using test::run_ranks;
using test::ThreadCommunicator;

using Rank = std::shared_ptr<ThreadCommunicator>;

/// What the ranks threw, by rank; empty where a rank threw nothing.
std::vector<std::optional<Error>> errors_of(int size, auto&& body) {
  std::vector<std::optional<Error>> errors;
  for (const std::exception_ptr& thrown : run_ranks(size, true, body)) {
    errors.emplace_back();
    try {
      if (thrown) std::rethrow_exception(thrown);
    } catch (const Error& error) {
      errors.back() = error;
    }
  }
  return errors;
}

void expect_none(const std::vector<std::exception_ptr>& thrown) {
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
}

/// Runs drawn cases; returns how many took each path.
std::map<ExchangePath, unsigned> run_drawn(unsigned cases, const DrawnRun& how) {
  std::map<ExchangePath, unsigned> taken;
  for (unsigned seed = 0; seed < cases && !testing::Test::HasFailure(); ++seed) {
    const int size = ExchangeRun(seed, 9).ranks();
    std::mutex mutex;
    expect_none(run_ranks(size, true, [&](const Rank& rank) {
      ExchangeRun run(seed, 9);
      const std::string fault = run.run(rank, how);
      const std::lock_guard lock(mutex);
      EXPECT_EQ(fault, "") << "case " << seed << " rank " << rank->rank() << ": " << run.text();
      if (rank->rank() == 0) ++taken[run.report().path];
    }));
  }
  return taken;
}

constexpr unsigned some_cases = test::address_sanitizer || test::thread_sanitizer ? 50 : 400;

TEST(ExchangeThreads, DrawnCasesThroughWindows) {
  const auto taken = run_drawn(some_cases, {});
  EXPECT_GT(taken.at(ExchangePath::windows), some_cases / 8);
  EXPECT_GT(taken.at(ExchangePath::local), some_cases / 50);
  EXPECT_GT(taken.at(ExchangePath::messages), some_cases / 25);  // addends
}

TEST(ExchangeThreads, DrawnCasesByMessages) {
  const auto taken = run_drawn(some_cases, {.windows = false});
  EXPECT_GT(taken.at(ExchangePath::messages), some_cases / 5);
}

TEST(ExchangeThreads, DrawnCasesIntoSharedOutputs) {
  run_drawn(some_cases, {.direct = true});
}

TEST(ExchangeThreads, DrawnCasesInTinyWorkspaces) {
  for (const bool windows : {true, false}) run_drawn(some_cases / 2, {.windows = windows, .workspace = 2200});
}

/// Each rank's input of an array that counts its elements.
std::vector<float> counted(const Redistribution& plan, int rank) {
  std::vector<float> values(std::size_t(element_count(plan.in_shape(rank))));
  std::iota(values.begin(), values.end(), float(rank) * 1000);
  return values;
}

TEST(ExchangeThreads, ReportSaysWhichPathAndWhy) {
  expect_none(run_ranks(4, true, [](const Rank& rank) {
    const ExchangeReport by_windows = Exchange("s@x h -> s h@x", "x=4", {8, 16}, Dtype::f32, rank).report();
    EXPECT_EQ(by_windows.what, "rearrange \"s@x h -> s h@x\" over x=4 of f32[8,16]");
    EXPECT_EQ(by_windows.path, ExchangePath::windows);
    EXPECT_EQ(by_windows.reason, "the ranks reach each other's memory");
    EXPECT_EQ(by_windows.not_direct, "");
    EXPECT_EQ(by_windows.ranks, 4);
    EXPECT_EQ(by_windows.rounds, 1);
    EXPECT_EQ(by_windows.bytes_sent, 3 * 2 * 4 * 4);
    EXPECT_EQ(by_windows.bytes_received, 3 * 2 * 4 * 4);
    EXPECT_EQ(by_windows.bytes_kept, 2 * 4 * 4);
    EXPECT_EQ(by_windows.workspace_bytes, 2 * 3 * 64);
    Exchange messages("s@x h -> s h@x", "x=4", {8, 16}, Dtype::f32, rank, {.windows = false});
    EXPECT_EQ(messages.report().path, ExchangePath::messages);
    EXPECT_EQ(messages.report().reason, "windows are not wanted");
    EXPECT_EQ(messages.report().workspace_bytes, 2 * 3 * 64);
    EXPECT_THROW(messages.share_output(), Error);
    const ExchangeReport local = Exchange("s h -> s@x h", "x=4", {8, 16}, Dtype::f32, rank).report();
    EXPECT_EQ(local.path, ExchangePath::local);
    EXPECT_EQ(local.workspace_bytes, 0);
    const ExchangeReport sums = Exchange("s h +x -> s@x h", "x=4", {8, 16}, Dtype::f32, rank).report();
    EXPECT_EQ(sums.path, ExchangePath::messages);
    EXPECT_EQ(sums.reason, "addends are added up from messages, in the order of ranks");
  }));
  expect_none(run_ranks(2, false, [](const Rank& rank) {
    const ExchangeReport report = Exchange("s@x h -> s h@x", "x=2", {8, 16}, Dtype::f32, rank).report();
    EXPECT_EQ(report.path, ExchangePath::messages);
    EXPECT_EQ(report.not_direct, "the ranks do not reach each other's memory");
  }));
}

TEST(ExchangeThreads, MeshAxesThatNothingCrossesAreLeftOut) {
  expect_none(run_ranks(6, true, [](const Rank& rank) {
    Exchange rows("a@n s@x h -> a@n s h@x", "n=2 x=3", {2, 6, 9}, Dtype::f32, rank);
    EXPECT_EQ(rows.report().ranks, 3);
    Exchange columns("s@n h -> s h@n", "n=2 x=3", {6, 8}, Dtype::f32, rank);
    EXPECT_EQ(columns.report().ranks, 2);
  }));
}

TEST(ExchangeThreads, RanksThatDoNotMeanTheSameAreNamedOnAll) {
  const auto errors = errors_of(3, [](const Rank& rank) {
    const bool odd = rank->rank() == 2;
    Exchange(odd ? "s@x h -> h s@x" : "s@x h -> s h@x", "x=3", {6, 6}, Dtype::f32, rank);
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Errc::usage);
    EXPECT_EQ(error->parts().message,
              "rank 0 and rank 2 do not ask for the same: rank 0 for rearrange \"s@x h -> s h@x\" over x=3 of f32[6,6] "
              "with a workspace of 268435456 bytes; rank 2 for rearrange \"s@x h -> h s@x\" over x=3 of f32[6,6] with "
              "a workspace of 268435456 bytes");
  }
}

TEST(ExchangeThreads, EveryDifferenceCounts) {
  const auto differ = [](auto&& other) {
    for (const auto& error : errors_of(2, [&](const Rank& rank) {
           if (rank->rank() == 0)
             Exchange("(a b)@x h -> (a b) h@x", "x=2", {6, 6}, Dtype::f32, rank, {}, {{"a", 2}});
           else
             other(rank);
         })) {
      ASSERT_TRUE(error);
      EXPECT_NE(std::string_view(error->what()).find("do not ask for the same"), std::string_view::npos);
    }
  };
  const char* const pattern = "(a b)@x h -> (a b) h@x";
  differ([&](const Rank& rank) { Exchange(pattern, "y=2", {6, 6}, Dtype::f32, rank, {}, {{"a", 2}}); });
  differ([&](const Rank& rank) { Exchange(pattern, "x=2", {6, 8}, Dtype::f32, rank, {}, {{"a", 2}}); });
  differ([&](const Rank& rank) { Exchange(pattern, "x=2", {6, 6}, Dtype::i32, rank, {}, {{"a", 2}}); });
  differ([&](const Rank& rank) { Exchange(pattern, "x=2", {6, 6}, Dtype::f32, rank, {}, {{"a", 3}}); });
  differ([&](const Rank& rank) {
    Exchange(pattern, "x=2", {6, 6}, Dtype::f32, rank, {.workspace = 4096}, {{"a", 2}});
  });
  differ([&](const Rank& rank) { Exchange(pattern, "x=2", {6, 6}, Dtype::f32, rank, {.windows = false}, {{"a", 2}}); });
}

TEST(ExchangeThreads, ARankThatCannotTakePartStopsAll) {
  const auto errors = errors_of(3, [](const Rank& rank) {
    ExchangeOptions options;
    if (rank->rank() == 1) options.in = View::contiguous(Dtype::f32, {3, 6});
    Exchange("s@x h -> s h@x", "x=3", {6, 6}, Dtype::f32, rank, options);
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_EQ(error->code(), Errc::shape);
    const std::string_view text = error->what();
    EXPECT_NE(text.find("the local input of rank 1 has the shape [2,6], the view f32[3,6]"), text.npos) << text;
    EXPECT_NE(text.find("s@x h -> s h@x"), text.npos) << text;
    EXPECT_NE(text.find("x=3"), text.npos) << text;
  }
  EXPECT_NE(std::string_view(errors[0]->what()).find("rank 1 cannot take part, so rank 0 cannot either"),
            std::string_view::npos);
}

TEST(ExchangeThreads, WhatNoRankCanDoIsRefused) {
  const auto refuse = [](Errc code, std::string_view text, auto&& body) {
    for (const auto& error : errors_of(2, body)) {
      ASSERT_TRUE(error);
      EXPECT_EQ(error->code(), code);
      EXPECT_NE(std::string_view(error->what()).find(text), std::string_view::npos) << error->what();
    }
  };
  refuse(Errc::pattern, "rearrange \"s@x ->\"",
         [](const Rank& rank) { Exchange("s@x ->", "x=2", {6}, Dtype::f32, rank); });
  refuse(Errc::usage, "the mesh x=3 has 3 ranks, the communicator 2", [](const Rank& rank) {
    Exchange("s@x h -> s h@x", "x=3", {6, 6}, Dtype::f32, rank);
  });
  refuse(Errc::dtype, "bools are not added up",
         [](const Rank& rank) { Exchange("s +x -> s", "x=2", {6}, Dtype::boolean, rank); });
  refuse(Errc::dtype, "the local output is f64[6,3], the exchange of f32", [](const Rank& rank) {
    Exchange("s@x h -> s h@x", "x=2", {6, 6}, Dtype::f32, rank, {.out = View::contiguous(Dtype::f64, {6, 3})});
  });
  refuse(Errc::usage, "give one of at least 128 bytes", [](const Rank& rank) {
    Exchange("s@x h -> s h@x", "x=2", {6, 6}, Dtype::f32, rank, {.workspace = 100});
  });
}

TEST(ExchangeThreads, WorkspaceIsBounded) {
  for (const std::int64_t workspace : {384, 1000, 5000, 20000, 100000}) {
    std::atomic<std::size_t> longest = 0;
    expect_none(run_ranks(4, true, [&](const Rank& rank) {
      Exchange exchange("s@x h -> h@x s", "x=4", {80, 80}, Dtype::f32, rank,
                        {.workspace = workspace, .windows = false});
      const ExchangeReport& report = exchange.report();
      EXPECT_LE(report.workspace_bytes, 2 * workspace);
      EXPECT_GE(report.rounds * workspace, report.bytes_sent);
      EXPECT_EQ(report.rounds > 2, workspace < 4800);
      const std::vector<float> in = counted(exchange.redistribution(), rank->rank());
      std::vector<float> out(80 * 20);
      exchange.run(in.data(), out.data());
      for (int h = 0; h < 20; ++h)
        for (int s = 0; s < 80; ++s)
          ASSERT_EQ(out[std::size_t(h * 80 + s)], float(s / 20 * 1000 + s % 20 * 80 + rank->rank() * 20 + h));
      if (rank->most_bytes() > longest) longest = rank->most_bytes();
    }));
    EXPECT_LE(std::int64_t(longest), std::max<std::int64_t>(workspace, 1600));
    EXPECT_GT(longest, 0);
  }
}

TEST(ExchangeThreads, MemoryMayBeginAnywhere) {
  expect_none(run_ranks(2, true, [](const Rank& rank) {
    Exchange exchange("s@x h -> h s@x", "x=2", {34, 50}, Dtype::u16, rank);
    alignas(64) std::array<std::uint16_t, 17 * 50 + 40> in{}, out{};
    for (const std::size_t shift : {0, 1, 32, 3}) {
      for (std::size_t i = 0; i < 17 * 50; ++i) in[shift + i] = std::uint16_t(i + 1000 * std::size_t(rank->rank()));
      exchange.run(in.data() + shift, out.data() + 2 * shift % 37);
      for (std::size_t h = 0; h < 50; ++h)
        for (std::size_t s = 0; s < 17; ++s) ASSERT_EQ(out[2 * shift % 37 + h * 17 + s], in[shift + s * 50 + h]);
    }
    Exchange crossing("s@x h -> h@x s", "x=2", {34, 50}, Dtype::u16, rank);
    SharedOutput shared = crossing.share_output();
    for (const std::size_t shift : {0, 1, 3}) {
      crossing.run(in.data() + shift, shared);
      crossing.run(in.data() + shift, out.data() + 5);
      ASSERT_EQ(std::memcmp(shared.data(), out.data() + 5, 34 * 25 * 2), 0);
    }
  }));
}

TEST(ExchangeThreads, SumsHaveTheSameBitsEachTime) {
  for (const Dtype dtype : {Dtype::f32, Dtype::i32}) {
    std::vector<std::vector<float>> results;
    for (const std::int64_t workspace : {std::int64_t{1} << 20, std::int64_t{3000}})
      expect_none(run_ranks(3, true, [&](const Rank& rank) {
        Exchange exchange("s +x -> s", "x=3", {500}, dtype, rank, {.workspace = workspace});
        std::vector<float> in(500), out(500);
        for (int i = 0; i < 500; ++i) in[std::size_t(i)] = std::sin(float(i + 1000 * rank->rank())) * 1e6F;
        for (int i = 0; dtype == Dtype::i32 && i < 500; ++i) {
          const int number = i - 1000 * rank->rank();
          std::memcpy(&in[std::size_t(i)], &number, 4);
        }
        for (int run = 0; run < 2; ++run) {
          exchange.run(in.data(), out.data());
          if (rank->rank() == 0) results.push_back(out);
        }
        std::int32_t number = 0;
        std::memcpy(&number, &out[7], 4);
        EXPECT_EQ(number == 21 - 3000, dtype == Dtype::i32);
      }));
    for (const std::vector<float>& result : results) EXPECT_EQ(std::memcmp(result.data(), results[0].data(), 2000), 0);
  }
}

/// An engine whose messages get lost.
class LosingCommunicator : public ThreadCommunicator {
 public:
  explicit LosingCommunicator(const ThreadCommunicator& ranks) : ThreadCommunicator(ranks) {}
  std::unique_ptr<MessagesInFlight> start_alltoallv(std::span<const OutgoingMessage>,
                                                    std::span<const IncomingMessage>) override {
    throw Error(Errc::device, "a message was lost");
  }
};

TEST(ExchangeThreads, AfterARunThatFailsThereIsNone) {
  const auto errors = errors_of(2, [](const Rank& rank) {
    Exchange exchange("s@x h -> h@x s", "x=2", {6, 6}, Dtype::f32, std::make_shared<LosingCommunicator>(*rank),
                      {.windows = false});
    std::vector<float> in(18), out(18);
    EXPECT_THROW(exchange.run(in.data(), out.data()), Error);
    exchange.run(in.data(), out.data());
  });
  for (const auto& error : errors) {
    ASSERT_TRUE(error);
    EXPECT_NE(std::string_view(error->what()).find("did not come to its end"), std::string_view::npos);
  }
}

TEST(ExchangeThreads, MemoryThatWillNotDoIsRefusedBeforeAnythingTravels) {
  expect_none(run_ranks(2, true, [](const Rank& rank) {
    Exchange exchange("s@x h -> h@x s", "x=2", {6, 6}, Dtype::f32, rank);
    SharedOutput shared = exchange.share_output();
    std::vector<float> memory(36), other(18);
    const auto refused = [&](const void* in, void* out) {
      try {
        exchange.run(in, out);
      } catch (const Error& error) {
        return error.code();
      }
      return Errc::file;
    };
    EXPECT_EQ(refused(nullptr, other.data()), Errc::usage);
    EXPECT_EQ(refused(other.data(), nullptr), Errc::usage);
    EXPECT_EQ(refused(memory.data(), memory.data()), Errc::overlap);
    EXPECT_EQ(refused(memory.data() + 17, memory.data()), Errc::overlap);
    EXPECT_THROW(exchange.run(shared.data(), shared), Error);
    Exchange other_exchange("s@x h -> h@x s", "x=2", {6, 6}, Dtype::f32, rank);
    EXPECT_THROW(other_exchange.run(other.data(), shared), Error);
    exchange.run(memory.data() + 18, memory.data());
    exchange.run(memory.data() + 18, shared);
  }));
}
/// Messages that lie in memory of a card.
class CardMessages : public MessagesInFlight {
 public:
  CardMessages(Device device, std::span<const IncomingMessage> in) : device_(std::move(device)) {
    for (const IncomingMessage& message : in) {
      on_card.push_back(message);
      on_host.push_back({message.from, memory_.emplace_back(message.bytes.size())});
    }
  }
  void wait() override {
    base->wait();
    for (std::size_t i = 0; i < on_card.size(); ++i) {
      const Buffer buffer = device_.borrow_buffer(on_card[i].bytes.data(), on_card[i].bytes.size());
      device_.queue().write(buffer, 0, on_host[i].bytes).wait();
    }
  }

  std::unique_ptr<MessagesInFlight> base;
  std::vector<IncomingMessage> on_card, on_host;

 private:
  Device device_;
  std::deque<std::vector<std::byte>> memory_;
};

/// An engine that takes memory of a card.
class CardCommunicator : public ThreadCommunicator {
 public:
  CardCommunicator(const ThreadCommunicator& ranks, Device device)
      : ThreadCommunicator(ranks), device_(std::move(device)) {}
  bool takes_device_memory() const override { return true; }
  std::unique_ptr<MessagesInFlight> start_alltoallv(std::span<const OutgoingMessage> out,
                                                    std::span<const IncomingMessage> in) override {
    std::deque<std::vector<std::byte>> memory;
    std::vector<OutgoingMessage> from_host;
    for (const OutgoingMessage& message : out) {
      std::vector<std::byte>& bytes = memory.emplace_back(message.bytes.size());
      const Buffer buffer = device_.borrow_buffer(const_cast<std::byte*>(message.bytes.data()), bytes.size());
      device_.queue().read(buffer, 0, bytes).wait();
      from_host.push_back({message.to, bytes});
    }
    auto messages = std::make_unique<CardMessages>(device_, in);
    messages->base = ThreadCommunicator::start_alltoallv(from_host, messages->on_host);
    return messages;
  }

 private:
  Device device_;
};

/// From a device's memory to a device's memory.
void run_on(const Device& device, const char* pattern, std::int64_t workspace, bool engine_reaches_device) {
  expect_none(run_ranks(3, true, [&](const Rank& of_host) {
    Rank rank = of_host;
    if (engine_reaches_device) rank = std::make_shared<CardCommunicator>(*of_host, device);
    ExchangeOptions options{.device = device, .workspace = workspace};
    Exchange exchange(pattern, "x=3", {9, 33}, Dtype::f32, rank, options);
    EXPECT_EQ(exchange.report().path, ExchangePath::messages);
    EXPECT_EQ(exchange.report().rounds == 1, workspace > 600);
    EXPECT_EQ(exchange.report().reason.ends_with("go from and to its device"), engine_reaches_device);
    EXPECT_EQ(exchange.report().reason.ends_with("go by way of the host"), !engine_reaches_device);
    Exchange on_host(pattern, "x=3", {9, 33}, Dtype::f32, of_host);
    const std::vector<float> in = counted(exchange.redistribution(), rank->rank());
    std::vector<float> wanted(std::size_t(exchange.out_view().count())), got(wanted.size());
    on_host.run(in.data(), wanted.data());
    const Queue queue = device.queue();
    const Buffer from = device.allocate(in.size() * 4), to = device.allocate(got.size() * 4);
    queue.write(from, 0, std::as_bytes(std::span(in)));
    for (int run = 0; run < 2; ++run) exchange.run(queue, from, to);
    queue.read(to, 0, std::as_writable_bytes(std::span(got))).wait();
    EXPECT_EQ(got, wanted);
    EXPECT_THROW(exchange.run(in.data(), got.data()), Error);
    EXPECT_THROW(on_host.run(queue, from, to), Error);
  }));
}

TEST(ExchangeThreads, ArraysOnADeviceGoByWayOfTheHost) {
  std::optional<Device> device;
  for (const DeviceInfo& info : devices())
    if (info.api != Api::host) device = Device::open(info.spec());
  if (!device) GTEST_SKIP() << "no device but the host";
  for (const std::int64_t workspace : {300, 100000}) run_on(*device, "s@x h -> h@x s", workspace, false);
  for (const std::int64_t workspace : {600, 100000}) run_on(*device, "s h +x -> h@x s", workspace, false);
}

TEST(ExchangeThreads, MessagesLieOnTheCardWhereTheEngineReachesIt) {
  const std::vector<DeviceInfo> all = devices();
  if (all.empty() || all[0].api != Api::cuda) GTEST_SKIP() << "no CUDA device";
  const Device card = Device::open("cuda:0");
  for (const std::int64_t workspace : {300, 100000}) run_on(card, "s@x h -> h@x s", workspace, true);
  for (const std::int64_t workspace : {600, 100000}) run_on(card, "s h +x -> h@x s", workspace, true);
}

}  // namespace
}  // namespace axisloom::exchange_test
