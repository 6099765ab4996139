// The communicator of NCCL over a fake NCCL and the fake driver: what is called in which order, what comes of errors,
// and exchanges. The fake library is opened as a real one.
#include <axisloom/error.hpp>
#include <axisloom/nccl.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cstring>
#include <exception>
#include <filesystem>
#include <functional>
#include <map>
#include <mutex>
#include <thread>

#include "counting_device.hpp"
#include "cuda_support.hpp"
#include "device/cuda/runtime.hpp"
#include "distributed/nccl.hpp"
#include "exchange_run.hpp"
#include "fake_nccl.hpp"
#include "sanitizers.hpp"

namespace axisloom::nccl_test {
namespace {

using distributed::nccl_communicator;
using distributed::nccl_version_text;
using distributed::NcclApi;
using distributed::open_nccl;

using device::cuda::FakeDriver;
using test::FakeNcclJob;
using Calls = std::vector<std::string>;

/// The example of docs/distributed.md.
void exchange_between_cards(ncclComm_t comm, void* stream, float* in, float* out) {
  axisloom::Device card = axisloom::Device::open("cuda:0");  // the communicator's
  auto ranks = axisloom::nccl::communicator(comm);
  axisloom::Exchange exchange("s@x h -> s h@x", "x=2", {8, 16}, axisloom::Dtype::f32, ranks, {.device = card});
  axisloom::Buffer from = card.borrow_buffer(in, 4 * 16 * sizeof(float));  // [4,16]
  axisloom::Buffer to = card.borrow_buffer(out, 8 * 8 * sizeof(float));    // [8,8]
  exchange.run(card.borrow_queue(stream), from, to);                       // a cudaStream_t
}

/// A library of the folder that the build puts beside this program.
std::string library(const std::string& file) {
  return std::filesystem::read_symlink("/proc/self/exe").parent_path() / "fake_nccl" / file;
}

const device::cuda::NvrtcSearch& without_compiler() {
  static const device::cuda::NvrtcSearch none;
  return none;
}

class Nccl : public testing::Test {
 protected:
  void SetUp() override {
    fake.reset();
    api = open_nccl(library("libnccl.so.2"));
    card = device::cuda::CudaRuntime({fake.table(), {"CUDA driver", true, {}, {}, {}, {}}}, without_compiler).open(0);
  }
  void TearDown() override {
    card.reset();
    EXPECT_EQ(fake.live(), 0u) << "handles are left";
  }

  std::shared_ptr<Communicator> communicator(ncclComm& comm, const nccl::Options& options = {}) {
    return nccl_communicator(api, &comm, options, [this](int) { return card; });
  }

  /// Calls body(communicator) in a thread for each rank of the job, and throws what one of them threw.
  void run_all(FakeNcclJob& job, const std::function<void(const std::shared_ptr<Communicator>&)>& body) {
    std::vector<std::thread> threads;
    std::vector<std::exception_ptr> thrown(std::size_t(job.size()));
    for (int rank = 0; rank < job.size(); ++rank)
      threads.emplace_back([&, rank] {
        try {
          body(communicator(job.comm(rank)));
        } catch (...) {
          thrown[std::size_t(rank)] = std::current_exception();
        }
      });
    for (std::thread& thread : threads) thread.join();
    for (const std::exception_ptr& one : thrown)
      if (one) std::rethrow_exception(one);
  }

  /// Memory of the device with bytes that count up from a number, which the host reaches.
  std::span<std::byte> counted(const device::SharedBuffer& buffer, int first) {
    const std::span bytes(static_cast<std::byte*>(buffer->native()), buffer->bytes());
    for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(first + int(i));
    return bytes;
  }

  FakeDriver& fake = FakeDriver::get();
  std::shared_ptr<const NcclApi> api;
  device::SharedDevice card;
};

Error error_of(const std::function<void()>& body) {
  try {
    body();
  } catch (const Error& error) {
    return error;
  }
  return {Errc::file, "nothing was thrown"};
}

void expect_says(const Error& error, Errc code, const std::string& words) {
  EXPECT_EQ(name(error.code()), name(code)) << error.what();
  EXPECT_NE(std::string(error.what()).find(words), std::string::npos) << error.what();
}

TEST_F(Nccl, RanksAreThoseOfTheCommunicator) {
  FakeNcclJob job(3);
  run_all(job, [&](const std::shared_ptr<Communicator>& ranks) {
    EXPECT_EQ(ranks->size(), 3);
    EXPECT_TRUE(ranks->takes_device_memory());
    EXPECT_EQ(ranks->share(64), nullptr);
    const auto number = std::uint16_t(1000 + ranks->rank());
    const std::vector<std::byte> all = ranks->allgather(std::as_bytes(std::span(&number, 1)));
    const std::array<std::uint16_t, 3> wanted = {1000, 1001, 1002};
    ASSERT_EQ(all.size(), sizeof wanted);
    EXPECT_EQ(std::memcmp(all.data(), wanted.data(), sizeof wanted), 0);
    EXPECT_TRUE(ranks->allgather({}).empty());
  });
  EXPECT_EQ(job.comm(2).calls, Calls{"gather 2"});
}

/// Messages between the ranks 0 and 1, called one after the other.
TEST_F(Nccl, MessagesOfTheDeviceGoInTheOrderOfTheQueue) {
  FakeNcclJob job(2);
  const auto left = communicator(job.comm(0)), right = communicator(job.comm(1));
  const Queue queue(card->queue(false));
  const auto sent = card->allocate(100), received = card->allocate(100);
  const auto from = counted(sent, 7), to = counted(received, 50);
  void* stream = nullptr;
  job.comm(0).on_messages = [&](void* one) {
    stream = one;
    ASSERT_EQ(fake.waits.size(), 1u);
    EXPECT_EQ(fake.waits[0].first, one) << "the messages wait for what is queued";
  };
  fake.calls.clear();
  const std::array out = {OutgoingMessage{1, from.subspan(3, 40)}};
  const auto leaving = left->start_on_device(queue, out, {});
  job.comm(0).on_messages = {};
  leaving->wait_in(queue);
  ASSERT_EQ(fake.waits.size(), 2u);
  EXPECT_EQ(fake.waits[1].first, queue.impl()->native()) << "the queue waits for the messages";
  EXPECT_NE(stream, queue.impl()->native());
  EXPECT_TRUE(fake.urgent.contains(static_cast<device::cuda::CUstream>(stream)));
  const std::array in = {IncomingMessage{0, to.subspan(50, 40)}, IncomingMessage{0, to.subspan(0, 0)}};
  const auto coming = right->start_on_device(queue, {}, in);
  coming->wait_in(queue);
  for (const char* call : {"cuStreamSynchronize", "cuEventSynchronize", "cuEventQuery", "cuMemcpyAsync"})
    EXPECT_EQ(fake.calls[call], 0) << call;
  EXPECT_EQ(job.comm(0).calls, (Calls{"send 1 40", "end"}));
  EXPECT_EQ(job.comm(1).calls, (Calls{"receive 0 40", "end"})) << "what is empty is not sent";
  EXPECT_EQ(std::memcmp(to.data() + 50, from.data() + 3, 40), 0);
  EXPECT_EQ(to[49], std::byte(99));
  EXPECT_EQ(to[90], std::byte(140));
}

TEST_F(Nccl, AMessageEachWayIsOneGroup) {
  FakeNcclJob job(2);
  run_all(job, [&](const std::shared_ptr<Communicator>& ranks) {
    const int other = 1 - ranks->rank();
    std::array<int, 5> mine{}, theirs{};
    mine.fill(ranks->rank());
    const std::array out = {OutgoingMessage{other, std::as_bytes(std::span(mine))}};
    const std::array in = {IncomingMessage{other, std::as_writable_bytes(std::span(theirs))}};
    ranks->start_alltoallv(out, in)->wait();
    EXPECT_EQ(theirs[4], other);
  });
  EXPECT_EQ(job.comm(0).calls, (Calls{"receive 1 20", "send 1 20", "end"}));
}

TEST_F(Nccl, GroupsUseTheSameCommunicator) {
  FakeNcclJob job(5);
  run_all(job, [&](const std::shared_ptr<Communicator>& ranks) {
    const int group = ranks->rank() % 2 == 0 ? -4 : 9;
    const auto part = ranks->split(group);
    EXPECT_EQ(part->size(), group == -4 ? 3 : 2);
    EXPECT_EQ(part->rank(), ranks->rank() / 2);
    const std::byte mine{static_cast<unsigned char>(ranks->rank())};
    const std::vector<std::byte> all = part->allgather({&mine, 1});
    for (int i = 0; i < part->size(); ++i) EXPECT_EQ(int(all[std::size_t(i)]), 2 * i + ranks->rank() % 2);
    EXPECT_EQ(part->split(part->rank())->size(), 1);
  });
  EXPECT_EQ(job.comm(3).calls, (Calls{"gather 4", "receive 1 1", "send 1 1", "end", "receive 1 4", "send 1 4", "end"}));
}

/// Arrays of the host go by way of the card, by the paths of any exchange.
TEST_F(Nccl, DrawnExchangesAreRight) {
  const unsigned cases = test::address_sanitizer || test::thread_sanitizer ? 20 : 100;
  for (const std::int64_t workspace : {std::int64_t{1} << 20, std::int64_t{2200}}) {
    std::map<ExchangePath, unsigned> taken;
    for (unsigned seed = 0; seed < cases && !testing::Test::HasFailure(); ++seed) {
      FakeNcclJob job(test::ExchangeRun(seed, 9).ranks());
      std::mutex mutex;
      run_all(job, [&](const std::shared_ptr<Communicator>& ranks) {
        test::ExchangeRun run(seed, 9);
        const std::string fault = run.run(ranks, {.workspace = workspace});
        const std::lock_guard lock(mutex);
        EXPECT_EQ(fault, "") << "case " << seed << " rank " << ranks->rank() << ": " << run.text();
        ++taken[run.report().path];
      });
    }
    EXPECT_GT(taken[ExchangePath::messages], cases);
    EXPECT_EQ(taken[ExchangePath::windows], 0u);
  }
}

// --- what can go wrong -----------------------------------------------------------------------------------------------

class NcclFaults : public Nccl {
 protected:
  /// A message from rank 0 that nobody receives, from the device.
  std::unique_ptr<MessagesInFlight> send(Communicator& ranks) {
    const std::array out = {OutgoingMessage{1, {static_cast<std::byte*>(memory_->native()), 8}}};
    return ranks.start_on_device(queue_, out, {});
  }
  void SetUp() override {
    Nccl::SetUp();
    memory_ = card->allocate(8);
    queue_ = Queue(card->queue(false));
  }
  void TearDown() override {
    memory_.reset();
    queue_ = {};
    Nccl::TearDown();
  }
  /// From now on nothing on the device comes to its end.
  void stop_the_device() { fake.fault = {"cuEventQuery", 1, device::cuda::kNotReady, true}; }

  FakeNcclJob job_{2};
  device::SharedBuffer memory_;
  Queue queue_;
};

TEST_F(NcclFaults, WaitsEndAtTheLimit) {
  for (const bool abort : {false, true}) {
    ncclComm& comm = job_.comm(0);
    comm.calls.clear();
    const auto ranks = communicator(comm, {.limit = std::chrono::milliseconds(30), .abort = abort});
    auto messages = send(*ranks);
    comm.words = "no answer from 10.0.0.7";
    stop_the_device();
    const Error error = error_of([&] { messages->wait(); });
    expect_says(error, Errc::device, "the other ranks did not answer within 30 ms: no answer from 10.0.0.7");
    expect_says(error, Errc::device, abort ? "was given up" : "ncclCommAbort ends what is under way");
    EXPECT_EQ(error.parts().device, card->info().label());
    messages.reset();
    const std::byte mine{};
    EXPECT_STREQ(error_of([&] { send(*ranks); }).what(), error.what());
    EXPECT_STREQ(error_of([&] { ranks->allgather({&mine, 1}); }).what(), error.what());
    EXPECT_EQ(comm.calls, (abort ? Calls{"send 1 8", "end", "abort"} : Calls{"send 1 8", "end"}));
    fake.fault = {};
  }
}

TEST_F(NcclFaults, MemoryThatNcclMayUseIsNotFreed) {
  job_.lossy = true;
  for (const bool abort : {true, false}) {
    const auto ranks = communicator(job_.comm(0), {.limit = std::chrono::milliseconds(5), .abort = abort});
    stop_the_device();
    const std::size_t before = fake.memory.size();
    const std::byte mine{};
    expect_says(error_of([&] { ranks->allgather({&mine, 1}); }), Errc::device, "did not answer");
    EXPECT_EQ(fake.memory.size() - before, abort ? 0u : 1u);
    fake.fault = {};
  }
  // What stays keeps its context.
  memory_.reset();
  queue_ = {};
  card.reset();
  fake.drop_leftovers();
  fake.retained = 0;
}

TEST_F(NcclFaults, ALostRankIsFoundWhileOthersWait) {
  ncclComm& comm = job_.comm(0);
  const auto ranks = communicator(comm, {.limit = std::chrono::seconds(20)});
  const auto messages = send(*ranks);
  stop_the_device();
  comm.state = 6;
  const Error error = error_of([&] { messages->wait(); });
  expect_says(error, Errc::device, "NCCL: remote process exited or there was a network error");
  EXPECT_EQ(error.parts().call, "ncclCommGetAsyncError");
  EXPECT_EQ(error.parts().native, 6);
  fake.fault = {};
}

TEST_F(NcclFaults, ALostRankIsFoundAtTheNextStart) {
  ncclComm& comm = job_.comm(0);
  const auto ranks = communicator(comm);
  send(*ranks)->wait_in(queue_);
  comm.state = 6;
  expect_says(error_of([&] { send(*ranks); }), Errc::device, "remote process exited");
  EXPECT_EQ(comm.calls, (Calls{"send 1 8", "end"}));
}

TEST_F(NcclFaults, OnRequestRunsWaitForTheirMessages) {
  const auto ranks = communicator(job_.comm(0), {.limit = std::chrono::milliseconds(20), .in_stream_order = false});
  const auto messages = send(*ranks);
  stop_the_device();
  expect_says(error_of([&] { messages->wait_in(queue_); }), Errc::device, "did not answer within 20 ms");
  fake.fault = {};
}

TEST_F(NcclFaults, MessagesThatNobodyWaitsForComeFirst) {
  const auto ranks = communicator(job_.comm(0), {.limit = std::chrono::milliseconds(40)});
  auto messages = send(*ranks);
  fake.fault = {"cuEventQuery", 1, device::cuda::kNotReady, false};
  fake.calls.clear();
  messages.reset();
  EXPECT_EQ(fake.calls["cuEventQuery"], 2);
  messages = send(*ranks);
  stop_the_device();
  test::LoggedLines lines;
  messages.reset();
  const std::vector<std::string> logged = lines.take();
  ASSERT_EQ(logged.size(), 1u);
  EXPECT_NE(logged[0].find("did not answer"), std::string::npos) << logged[0];
  fake.fault = {};
}

TEST_F(NcclFaults, EveryFailingCallIsNamed) {
  job_.lossy = true;
  for (const std::string call : {"ncclCommCount", "ncclCommUserRank", "ncclCommCuDevice", "ncclCommGetAsyncError",
                                 "ncclAllGather", "ncclSend", "ncclRecv", "ncclGroupEnd"}) {
    ncclComm& comm = job_.comm(0);
    comm.calls.clear();
    comm.failing = call;
    comm.code = 2;
    comm.words = "socket closed";
    const Error error = error_of([&] {
      const auto ranks = communicator(comm, {.abort = true});
      const std::byte mine{};
      ranks->allgather({&mine, 1});
      std::array<std::byte, 4> theirs{};
      const std::array out = {OutgoingMessage{1, theirs}};
      const std::array in = {IncomingMessage{1, theirs}};
      ranks->start_alltoallv(out, in)->wait();
    });
    expect_says(error, Errc::device, "NCCL: unhandled system error: socket closed");
    EXPECT_EQ(error.parts().call, call);
    EXPECT_EQ(error.parts().native, 2);
    EXPECT_EQ(comm.calls.back(), "abort");
    if (call == "ncclSend" || call == "ncclRecv") {
      EXPECT_EQ(comm.calls[comm.calls.size() - 2], "end") << "the group was left open";
    }
  }
}

TEST_F(NcclFaults, ACommunicatorThatDoesNotBlockIsWaitedFor) {
  ncclComm& comm = job_.comm(0);
  comm.busy = 3;  // still being made
  const auto ranks = communicator(comm, {.limit = std::chrono::milliseconds(50)});
  EXPECT_EQ(comm.busy, 0);
  comm.failing = "ncclGroupEnd";
  comm.code = 7;
  comm.busy = 0;
  send(*ranks)->wait();
  comm.on_messages = [&](void*) { comm.busy = 1000000; };
  expect_says(error_of([&] { send(*ranks); }), Errc::device, "did not answer within 50 ms");
}

TEST_F(NcclFaults, WhatCannotBeIsRefused) {
  expect_says(error_of([&] { nccl_communicator(api, nullptr, {}, {}); }), Errc::usage, "is null");
  expect_says(error_of([&] { communicator(job_.comm(0), {.limit = std::chrono::milliseconds(0)}); }), Errc::usage,
              "ranks cannot wait 0 ms");
  const auto ranks = communicator(job_.comm(0));
  expect_says(error_of([&] { ranks->start_on_device({}, {}, {}); }), Errc::usage, "queue");
}

// --- the library -----------------------------------------------------------------------------------------------------

TEST(NcclLibrary, WhatIsMissingIsSaid) {
  const auto refused = [](const std::string& file, const std::string& words) {
    const Error error = error_of([&] { open_nccl(file); });
    expect_says(error, Errc::unsupported, words);
    expect_says(error, Errc::unsupported, "install NCCL 2.7 or newer, or let AXISLOOM_NCCL name the library");
  };
  refused("/nowhere/libnccl.so.2", "NCCL was not found: /nowhere/libnccl.so.2: cannot open");
  refused("folder/libnccl.so.2", "not an absolute path");
  refused(library("libnccl-old.so"), "libnccl-old.so is NCCL 2.4.8: it lacks ncclSend, ncclRecv");
  refused("libm.so.6", "is not NCCL: it lacks ncclGetVersion, ncclGetErrorString, ncclCommCount");
}

TEST(NcclLibrary, TheOneThatTheProgramHasIsTaken) {
  const auto by_path = open_nccl(library("libnccl.so.2"));
  EXPECT_EQ(open_nccl("")->ncclSend.function, by_path->ncclSend.function);
}

TEST(NcclLibrary, VersionsHaveTwoForms) {
  EXPECT_EQ(nccl_version_text(2408), "2.4.8");
  EXPECT_EQ(nccl_version_text(2708), "2.7.8");
  EXPECT_EQ(nccl_version_text(20908), "2.9.8");
  EXPECT_EQ(nccl_version_text(22809), "2.28.9");
}

TEST(NcclLibrary, TheCardIsTheCommunicators) {
  for (const DeviceInfo& info : devices())
    if (info.api == Api::cuda) GTEST_SKIP() << "there is a card, which the fake NCCL does not use";
  FakeNcclJob job(2);
  const test::Variable named("AXISLOOM_NCCL", library("libnccl.so.2"));
  expect_says(error_of([&] { nccl::communicator(&job.comm(0)); }), Errc::no_device, "cuda");
  expect_says(error_of([&] { exchange_between_cards(&job.comm(0), nullptr, nullptr, nullptr); }), Errc::no_device,
              "CUDA");
  named.set("/nowhere/libnccl.so.2");
  expect_says(error_of([&] { nccl::communicator(&job.comm(0)); }), Errc::unsupported, "NCCL was not found");
}

}  // namespace
}  // namespace axisloom::nccl_test
