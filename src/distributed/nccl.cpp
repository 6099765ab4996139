// The communicator of NCCL: messages are ncclSend and ncclRecv of bytes, on a stream of their own. Groups of ranks use
// the same communicator, and that stream: kernels of several communicators, of which one rank starts this one first and
// another rank that one, may wait for each other forever.
#include "distributed/nccl.hpp"

#include <axisloom/error.hpp>

#include "core/not_copied.hpp"
#include "core/text.hpp"
#include "device/environment.hpp"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace axisloom::distributed {
namespace {

using Clock = std::chrono::steady_clock;

/// A message of so many bytes at an address of the device, to or from a rank of NCCL's communicator.
struct DeviceMessage {
  int peer = 0;
  std::byte* address = nullptr;
  size_t bytes = 0;
};

/// What a communicator and its groups have in common.
class Engine : core::NotCopied {
 public:
  Engine(std::shared_ptr<const NcclApi> api, ncclComm_t comm, const nccl::Options& options,
         const std::function<device::SharedDevice(int)>& open)
      : api_(std::move(api)), comm_(comm), options_(options) {
    settle();
    int ordinal = 0;
    call(api_->ncclCommCount, comm_, &size_);
    call(api_->ncclCommUserRank, comm_, &rank_);
    call(api_->ncclCommCuDevice, comm_, &ordinal);
    card_ = open(ordinal);
    nothing_ = card_->allocate(0);
    messages_ = card_->urgent_queue();
    copies_ = card_->queue(false);
  }

  int rank() const { return rank_; }
  int size() const { return size_; }
  bool in_stream_order() const { return options_.in_stream_order; }
  std::chrono::milliseconds limit() const { return options_.limit; }
  device::Device& card() const { return *card_; }
  /// For what lies in host memory. Never behind NCCL's kernels: a copy from or to pageable memory would wait for them.
  device::Queue& copies() const { return *copies_; }
  /// Kernels of NCCL may be under way that nobody ends.
  bool may_hang() const { return failure_ && !options_.abort; }

  /// Throws what went wrong before, and what NCCL has noticed since.
  void require_usable() {
    if (failure_) throw Error(*failure_);
    state();
  }

  /// What is queued there from now on waits for an event; returns an event of what was queued before.
  device::SharedEvent mark(device::Queue& queue, const device::SharedEvent& event = nullptr) const {
    return queue.fill(*nothing_, 0, 0, std::byte{}, {&event, 1});
  }

  /// Starts messages once `ready` is done. The event is done when they are.
  device::SharedEvent start(std::span<const DeviceMessage> out, std::span<const DeviceMessage> in,
                            const device::SharedEvent& ready) {
    require_usable();
    mark(*messages_, ready);
    if (!out.empty() || !in.empty()) start_group(out, in);
    return mark(*messages_);
  }

  /// In place: each rank has given its own bytes, as far from the beginning as its number says.
  device::SharedEvent gather(std::byte* all, size_t bytes_of_each) {
    require_usable();
    call(api_->ncclAllGather, all + size_t(rank_) * bytes_of_each, all, bytes_of_each, kNcclInt8, comm_,
         messages_->native());
    return mark(*messages_);
  }

  /// Returns when the event is done, or throws after the limit.
  void wait(device::Event& event) {
    if (failure_) throw Error(*failure_);
    wait_until([&] { return event.done(); });
  }

 private:
  /// No call between the first and the last may throw: the group has to end.
  void start_group(std::span<const DeviceMessage> out, std::span<const DeviceMessage> in) {
    call(api_->ncclGroupStart);
    int failed = kNcclSuccess;
    const char* where = nullptr;
    const auto add = [&](const auto& entry, const DeviceMessage& message) {
      const int result =
          where ? kNcclSuccess
                : entry(message.address, message.bytes, kNcclInt8, message.peer, comm_, messages_->native());
      if (result == kNcclSuccess || result == kNcclInProgress) return;
      failed = result;
      where = entry.name;
    };
    for (const DeviceMessage& message : in) add(api_->ncclRecv, message);
    for (const DeviceMessage& message : out) add(api_->ncclSend, message);
    const int ended = api_->ncclGroupEnd();
    if (where) fail(failed, where);
    check(ended, api_->ncclGroupEnd.name);
  }

  void call(const auto& entry, auto... args) { check(entry(args...), entry.name); }

  /// A communicator that does not block says so where a call goes on for a while.
  void check(int result, const char* call) {
    if (result == kNcclInProgress)
      settle();
    else if (result != kNcclSuccess)
      fail(result, call);
  }

  void settle() {
    wait_until([this] { return state() != kNcclInProgress; });
  }

  /// Success, or that a call goes on; throws what else NCCL has noticed.
  int state() {
    int state = kNcclSuccess;
    const int result = api_->ncclCommGetAsyncError(comm_, &state);
    const int worst = result == kNcclSuccess ? state : result;
    if (worst != kNcclSuccess && worst != kNcclInProgress) fail(worst, api_->ncclCommGetAsyncError.name);
    return worst;
  }

  /// Waits awake at first, then asleep most of the time.
  void wait_until(auto&& done) {
    constexpr std::chrono::microseconds awake(50), longest_sleep(200);
    const Clock::time_point begin = Clock::now();
    std::chrono::microseconds sleep(10);
    while (!done()) {
      state();
      const Clock::duration past = Clock::now() - begin;
      if (past > options_.limit)
        fail(
            {.message = concat("the other ranks did not answer within ", options_.limit.count(), " ms", last_error())});
      if (past < awake) continue;
      std::this_thread::sleep_for(sleep);
      sleep = std::min(2 * sleep, longest_sleep);
    }
  }

  /// NCCL's own words on what happened last, where it has any.
  std::string last_error() const {
    const char* const text = api_->ncclGetLastError ? api_->ncclGetLastError(comm_) : nullptr;
    return text && *text ? concat(": ", text) : "";
  }

  [[noreturn]] void fail(int result, const char* call) {
    fail({.message = concat("NCCL: ", api_->ncclGetErrorString(result), last_error()), .call = call, .native = result});
  }

  [[noreturn]] void fail(ErrorParts parts) {
    if (card_) parts.device = card_->info().label();
    parts.remedy = options_.abort ? "end the job: its communicator was given up"
                                  : "end the job: its ranks may be out of step; ncclCommAbort ends what is under way";
    failure_ = Error(Errc::device, std::move(parts));
    if (options_.abort) api_->ncclCommAbort(comm_);
    throw Error(*failure_);
  }

  std::shared_ptr<const NcclApi> api_;
  ncclComm_t comm_;
  nccl::Options options_;
  int rank_ = 0, size_ = 1;
  device::SharedDevice card_;
  device::SharedBuffer nothing_;
  device::SharedQueue messages_, copies_;
  std::optional<Error> failure_;  // the first; nothing of NCCL is called from then on
};

using SharedEngine = std::shared_ptr<Engine>;

/// Of messages in a stage: NCCL copies so many bytes at a time where addresses allow it.
constexpr size_t alignment = 16;

/// Memory on the device for what lies on the host.
class Stage : core::NotCopied {
 public:
  /// NCCL's kernels read whole words, also of two bytes.
  Stage(SharedEngine engine, size_t bytes) : engine_(std::move(engine)) {
    engine_->require_usable();
    buffer_ = engine_->card().allocate((bytes + alignment - 1) / alignment * alignment);
  }
  ~Stage() {
    // Freeing it would wait for all kernels of the device, perhaps forever.
    if (engine_->may_hang()) device::keep_forever(std::move(buffer_));
  }

  std::byte* begin() const { return static_cast<std::byte*>(buffer_->native()); }
  /// The host memory may be used again when it returns, or when the event is done.
  device::SharedEvent write(size_t at, std::span<const std::byte> from) {
    return engine_->copies().write(*buffer_, at, from, {});
  }
  device::SharedEvent read(size_t at, std::span<std::byte> to) { return engine_->copies().read(*buffer_, at, to, {}); }

 private:
  SharedEngine engine_;
  device::SharedBuffer buffer_;
};

/// Messages from and to memory of the device.
class DeviceMessages final : public MessagesInFlight, core::NotCopied {
 public:
  DeviceMessages(SharedEngine engine, device::SharedEvent done) : engine_(std::move(engine)), done_(std::move(done)) {}
  /// NCCL takes nothing back, so messages that nobody waited for have to come.
  ~DeviceMessages() override {
    if (waited_) return;
    try {
      wait();
    } catch (const std::exception& error) {
      device::log(concat("messages that nobody waited for: ", error.what()));
    }
  }

  void wait() override {
    waited_ = true;
    engine_->wait(*done_);
  }

  void wait_in(const Queue& queue) override {
    if (!engine_->in_stream_order()) return wait();
    waited_ = true;
    engine_->mark(*queue.impl(), done_);
  }

 private:
  SharedEngine engine_;
  device::SharedEvent done_;
  bool waited_ = false;
};

/// Messages from and to memory of the host, by way of the device.
class HostMessages final : public MessagesInFlight {
 public:
  struct Incoming {
    size_t at = 0;  // in the stage
    std::span<std::byte> to;
  };

  HostMessages(std::unique_ptr<Stage> stage, std::vector<Incoming> in, SharedEngine engine, device::SharedEvent done)
      : stage_(std::move(stage)), in_(std::move(in)), messages_(std::move(engine), std::move(done)) {}

  void wait() override {
    messages_.wait();
    device::SharedEvent last;
    for (const Incoming& message : in_) last = stage_->read(message.at, message.to);
    if (last) last->wait();
  }

 private:
  std::unique_ptr<Stage> stage_;
  std::vector<Incoming> in_;
  DeviceMessages messages_;  // goes before the stage
};

/// Some or all ranks of NCCL's communicator.
class NcclCommunicator final : public Communicator {
 public:
  explicit NcclCommunicator(SharedEngine engine) : engine_(std::move(engine)), rank_(engine_->rank()) {
    for (int rank = 0; rank < engine_->size(); ++rank) members_.push_back(rank);
  }
  NcclCommunicator(SharedEngine engine, std::vector<int> members)
      : engine_(std::move(engine)), members_(std::move(members)) {
    rank_ = int(std::ranges::find(members_, engine_->rank()) - members_.begin());
  }

  int rank() const override { return rank_; }
  int size() const override { return int(members_.size()); }
  bool takes_device_memory() const override { return true; }
  std::chrono::nanoseconds limit() const override { return engine_->limit(); }
  std::unique_ptr<SharedWindows> share(std::size_t /*bytes*/) override { return nullptr; }

  std::vector<std::byte> allgather(std::span<const std::byte> mine) override {
    std::vector<std::byte> all(mine.size() * members_.size());
    if (!mine.empty()) std::ranges::copy(mine, part(all, rank_, mine.size()).begin());
    if (mine.empty() || size() == 1) return all;
    if (size() == engine_->size())
      gather(all, mine.size());
    else
      gather_by_messages(all, mine.size());
    return all;
  }

  std::unique_ptr<MessagesInFlight> start_alltoallv(std::span<const OutgoingMessage> out,
                                                    std::span<const IncomingMessage> in) override {
    size_t bytes = 0;
    const auto slot_of = [&](const auto& message) {
      return std::exchange(bytes, bytes + (message.bytes.size() + alignment - 1) / alignment * alignment);
    };
    std::vector<size_t> out_slots, in_slots;
    for (const OutgoingMessage& message : out) out_slots.push_back(slot_of(message));
    for (const IncomingMessage& message : in) in_slots.push_back(slot_of(message));
    auto stage = std::make_unique<Stage>(engine_, bytes);
    std::vector<DeviceMessage> sent, received;
    std::vector<HostMessages::Incoming> arriving;
    device::SharedEvent written;
    for (size_t i = 0; i < out.size(); ++i) {
      if (out[i].bytes.empty()) continue;
      written = stage->write(out_slots[i], out[i].bytes);
      sent.push_back({member(out[i].to), stage->begin() + out_slots[i], out[i].bytes.size()});
    }
    for (size_t i = 0; i < in.size(); ++i) {
      if (in[i].bytes.empty()) continue;
      received.push_back({member(in[i].from), stage->begin() + in_slots[i], in[i].bytes.size()});
      arriving.push_back({in_slots[i], in[i].bytes});
    }
    device::SharedEvent done = engine_->start(sent, received, written);
    return std::make_unique<HostMessages>(std::move(stage), std::move(arriving), engine_, std::move(done));
  }

  std::unique_ptr<MessagesInFlight> start_on_device(const Queue& queue, std::span<const OutgoingMessage> out,
                                                    std::span<const IncomingMessage> in) override {
    if (!queue.impl()) throw Error(Errc::usage, "the queue of an exchange between cards is empty", "give one");
    std::vector<DeviceMessage> sent, received;
    for (const OutgoingMessage& message : out)
      if (!message.bytes.empty())
        sent.push_back({member(message.to), const_cast<std::byte*>(message.bytes.data()), message.bytes.size()});
    for (const IncomingMessage& message : in)
      if (!message.bytes.empty())
        received.push_back({member(message.from), message.bytes.data(), message.bytes.size()});
    return std::make_unique<DeviceMessages>(engine_, engine_->start(sent, received, engine_->mark(*queue.impl())));
  }

  std::shared_ptr<Communicator> split(int group) override {
    const std::vector<std::byte> bytes = allgather(std::as_bytes(std::span(&group, 1)));
    std::vector<int> groups(members_.size()), same;
    std::memcpy(groups.data(), bytes.data(), bytes.size());
    for (size_t i = 0; i < groups.size(); ++i)
      if (groups[i] == group) same.push_back(members_[i]);
    return std::make_shared<NcclCommunicator>(engine_, std::move(same));
  }

 private:
  int member(int rank) const { return members_[size_t(rank)]; }

  static std::span<std::byte> part(std::span<std::byte> all, int rank, size_t bytes) {
    return all.subspan(size_t(rank) * bytes, bytes);
  }

  /// `all` has this rank's part.
  void gather(std::span<std::byte> all, size_t bytes) {
    Stage stage(engine_, all.size());
    stage.write(size_t(rank_) * bytes, part(all, rank_, bytes))->wait();
    engine_->wait(*engine_->gather(stage.begin(), bytes));
    stage.read(0, all)->wait();
  }

  /// Of a group: NCCL's own gather is one of the whole communicator.
  void gather_by_messages(std::span<std::byte> all, size_t bytes) {
    std::vector<OutgoingMessage> out;
    std::vector<IncomingMessage> in;
    for (int rank = 0; rank < size(); ++rank) {
      if (rank == rank_) continue;
      out.push_back({rank, part(all, rank_, bytes)});
      in.push_back({rank, part(all, rank, bytes)});
    }
    start_alltoallv(out, in)->wait();
  }

  SharedEngine engine_;
  std::vector<int> members_;  // by rank
  int rank_ = 0;
};

}  // namespace

std::shared_ptr<Communicator> nccl_communicator(std::shared_ptr<const NcclApi> api, ncclComm_t comm,
                                                const nccl::Options& options,
                                                const std::function<device::SharedDevice(int)>& open) {
  if (!comm) throw Error(Errc::usage, "the communicator of NCCL is null", "give one of ncclCommInitRank");
  if (options.limit <= std::chrono::milliseconds(0))
    throw Error(Errc::usage, concat("ranks cannot wait ", options.limit.count(), " ms for each other"),
                "give a limit above 0");
  return std::make_shared<NcclCommunicator>(std::make_shared<Engine>(std::move(api), comm, options, open));
}

}  // namespace axisloom::distributed

namespace axisloom::nccl {

std::shared_ptr<Communicator> communicator(ncclComm_t comm, const Options& options) {
  return distributed::nccl_communicator(distributed::open_nccl(device::environment("AXISLOOM_NCCL")), comm, options,
                                        [](int card) { return device::open(concat("cuda:", card)); });
}

}  // namespace axisloom::nccl
