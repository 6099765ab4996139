// Exchanges between cards: what is asked of a card's queue and of an engine that takes the card's memory, in which
// order.
#include <axisloom/exchange.hpp>

#include <gtest/gtest.h>

#include <exception>
#include <string>

#include "ops_support.hpp"
#include "thread_communicator.hpp"

namespace axisloom::exchange_queue_test {
namespace {

using Notes = std::vector<std::string>;

/// Notes what ends or begins; a launch right after another is not told from it.
void add_note(Notes& notes, const char* what) {
  if (notes.empty() || notes.back() != what) notes.emplace_back(what);
}

class NotingQueue : public test::RecordingQueue {
 public:
  NotingQueue(Notes& notes, std::vector<test::RecordedLaunch>& launches)
      : RecordingQueue(launches, ""), notes_(notes) {}
  Result launch(device::Program& program, const std::string& kernel, const device::Geometry& geometry,
                std::span<const device::Arg> args, device::Waits waits) override {
    add_note(notes_, "launch");
    return RecordingQueue::launch(program, kernel, geometry, args, waits);
  }
  Result write(device::Buffer&, std::size_t, std::span<const std::byte>, device::Waits) override {
    add_note(notes_, "write");
    return std::make_shared<Done>();
  }
  Result read(device::Buffer&, std::size_t, std::span<std::byte>, device::Waits) override {
    add_note(notes_, "read");
    return std::make_shared<Done>();
  }
  void finish() override { add_note(notes_, "finish"); }

 private:
  Notes& notes_;
};

/// A card that compiles nothing and computes nothing, with memory of the host.
class NotingCard : public ops_test::PretendedDevice {
 public:
  struct Memory : device::Buffer {
    explicit Memory(std::size_t size) : bytes_of(size) {}
    std::size_t bytes() const noexcept override { return bytes_of.size(); }
    std::size_t alignment() const noexcept override { return 256; }
    void* host() const noexcept override { return nullptr; }
    void* native() const noexcept override { return const_cast<std::byte*>(bytes_of.data()); }
    std::vector<std::byte> bytes_of;
  };

  NotingCard() : PretendedDevice(ops_test::gpu_info(Api::cuda)) {}
  std::shared_ptr<device::Buffer> allocate(std::size_t bytes) override { return std::make_shared<Memory>(bytes); }
  std::shared_ptr<device::Queue> queue(bool) override { return std::make_shared<NotingQueue>(notes, launches); }

  Notes notes;
};

/// Its messages are never sent.
class NotingMessages : public MessagesInFlight {
 public:
  explicit NotingMessages(Notes& notes) : notes_(notes) {}
  void wait() override { add_note(notes_, "wait"); }

 protected:
  Notes& notes_;
};

class MessagesInTheQueue : public NotingMessages {
 public:
  using NotingMessages::NotingMessages;
  void wait_in(const Queue&) override { add_note(notes_, "wait in the queue"); }
};

/// Takes addresses of the card, but knows nothing of queues.
class CardEngine : public test::ThreadCommunicator {
 public:
  CardEngine(const ThreadCommunicator& ranks, NotingCard& card) : ThreadCommunicator(ranks), card_(card) {}
  bool takes_device_memory() const override { return true; }
  std::unique_ptr<MessagesInFlight> start_alltoallv(std::span<const OutgoingMessage>,
                                                    std::span<const IncomingMessage>) override {
    add_note(card_.notes, "start");
    return std::make_unique<NotingMessages>(card_.notes);
  }

 protected:
  NotingCard& card_;
};

/// Works in the order of queues.
class QueueEngine : public CardEngine {
 public:
  using CardEngine::CardEngine;
  std::unique_ptr<MessagesInFlight> start_on_device(const Queue&, std::span<const OutgoingMessage>,
                                                    std::span<const IncomingMessage>) override {
    add_note(card_.notes, "start in the queue");
    return std::make_unique<MessagesInTheQueue>(card_.notes);
  }
};

/// What is noted on a rank of two while an exchange of four kilobytes runs.
template <class Engine>
Notes notes_of_run(std::int64_t workspace, const char* pattern = "s@x h -> s h@x") {
  Notes notes;
  const auto thrown = test::run_ranks(2, false, [&](const std::shared_ptr<test::ThreadCommunicator>& rank) {
    const auto card = std::make_shared<NotingCard>();
    Exchange exchange(pattern, "x=2", {32, 64}, Dtype::f32, std::make_shared<Engine>(*rank, *card),
                      {.device = Device(card), .workspace = workspace, .windows = false});
    const Device device(card);
    const Buffer in = device.allocate(std::size_t(exchange.in_view().count()) * 4);
    const Buffer out = device.allocate(std::size_t(exchange.out_view().count()) * 4);
    exchange.run(device.queue(), in, out);
    if (rank->rank() == 0) notes = card->notes;
  });
  for (const std::exception_ptr& one : thrown)
    if (one) std::rethrow_exception(one);
  return notes;
}

TEST(ExchangeQueue, AnEngineInItsOrderIsNeverWaitedFor) {
  EXPECT_EQ(notes_of_run<QueueEngine>(1 << 20),
            (Notes{"launch", "start in the queue", "launch", "wait in the queue", "launch"}));
}

TEST(ExchangeQueue, ARoundIsPackedBeforeTheOneBeforeIsWaitedFor) {
  EXPECT_EQ(notes_of_run<QueueEngine>(2047),
            (Notes{"launch", "start in the queue", "launch", "start in the queue", "wait in the queue", "launch",
                   "start in the queue", "wait in the queue", "launch", "wait in the queue", "launch"}));
}

TEST(ExchangeQueue, AddendsAreSummedInItsOrder) {
  EXPECT_EQ(notes_of_run<QueueEngine>(1 << 20, "s h +x -> s h@x"),
            (Notes{"launch", "start in the queue", "wait in the queue", "launch"}));
}

TEST(ExchangeQueue, OtherEnginesStartWhatIsPacked) {
  EXPECT_EQ(notes_of_run<CardEngine>(1 << 20), (Notes{"launch", "finish", "start", "launch", "wait", "launch"}));
}

}  // namespace
}  // namespace axisloom::exchange_queue_test
