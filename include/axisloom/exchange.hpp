// Distributed arrays on the move: a Redistribution carried out by the ranks of a job that is there already. Its engine,
// MPI say, brings messages and shared memory by a Communicator; copies are plans of this library.
//
//   axisloom::Exchange exchange("s@x h -> s h@x", "x=4", {8, 16}, axisloom::Dtype::f32, communicator);
//   exchange.run(local_input, local_output);
#pragma once

#include <axisloom/array.hpp>
#include <axisloom/device.hpp>
#include <axisloom/distributed.hpp>
#include <axisloom/ops.hpp>

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom {

/// A message to a rank, and where one from a rank is put. Both sides give the same number of bytes.
struct OutgoingMessage {
  int to = 0;                        ///< the rank that receives it
  std::span<const std::byte> bytes;  ///< what it gets
};
/// The other side of an OutgoingMessage.
struct IncomingMessage {
  int from = 0;                ///< the rank that sends it
  std::span<std::byte> bytes;  ///< where it is put
};

/// Messages on their way. Destroyed before `wait` or `wait_in` has returned, it gives them up: nothing is written
/// afterwards.
class MessagesInFlight {
 public:
  virtual ~MessagesInFlight() = default;
  /// Returns when all messages have come that were to come, and the memory of those that were sent may be written.
  virtual void wait() = 0;
  /// The same for what is queued from now on; an engine that works in the order of queues has the queue wait, and
  /// returns. Of messages that `start_on_device` started.
  virtual void wait_in(const Queue& /*queue*/) { wait(); }
};

/// A window of memory of each rank, which all ranks of the communicator can reach. All of them let go of it together.
class SharedWindows {
 public:
  virtual ~SharedWindows() = default;
  /// The window of a rank, as this rank reaches it; begins at a multiple of 64 bytes.
  virtual std::span<std::byte> of(int rank) const = 0;
  /// Returns when all ranks have called it. What any rank wrote to a window before, all see afterwards.
  virtual void barrier() = 0;
};

/// What an exchange asks of the engine that runs the ranks. All ranks make the same calls in the same order, each from
/// one thread at a time. What fails throws Error.
class Communicator {
 public:
  virtual ~Communicator() = default;
  /// This rank, and how many there are.
  virtual int rank() const = 0;
  virtual int size() const = 0;
  /// What each rank gives, in the order of ranks; all give the same number of bytes.
  virtual std::vector<std::byte> allgather(std::span<const std::byte> mine) = 0;
  /// Starts messages to and from any ranks but itself, at most one each way with each. The memory stays with them until
  /// they are done. What is started first between two ranks comes first.
  virtual std::unique_ptr<MessagesInFlight> start_alltoallv(std::span<const OutgoingMessage> out,
                                                            std::span<const IncomingMessage> in) = 0;
  /// The same of messages in memory of the queue's device, once what was queued before is done. Asked only of engines
  /// that take such memory; this one waits for the queue and gives `start_alltoallv` addresses of the device.
  virtual std::unique_ptr<MessagesInFlight> start_on_device(const Queue& queue, std::span<const OutgoingMessage> out,
                                                            std::span<const IncomingMessage> in) {
    queue.finish();
    return start_alltoallv(out, in);
  }
  /// A communicator of the ranks that give the same number, in the order that they have here.
  virtual std::shared_ptr<Communicator> split(int group) = 0;
  /// Windows of so many bytes, a number that each rank chooses for its own; empty where the ranks do not reach each
  /// other's memory.
  virtual std::unique_ptr<SharedWindows> share(std::size_t bytes) = 0;
  /// Whether messages may lie in memory of a CUDA device, by its addresses.
  virtual bool takes_device_memory() const { return false; }
  /// The longest that ranks wait for each other where they do so without the engine: cards that meet.
  virtual std::chrono::nanoseconds limit() const { return std::chrono::minutes(10); }
};

/// How the elements of an exchange travel.
enum class ExchangePath : std::uint8_t {
  local,     ///< nothing travels: every rank keeps what it has
  windows,   ///< sender packs into memory that both reach, and receiver unpacks from there
  messages,  ///< sender packs, the engine brings messages, receiver unpacks
};
std::string_view name(ExchangePath path) noexcept;  ///< "local", "windows", "messages"

/// What a rank asks of an exchange. `workspace` and `windows` are the same on all ranks.
struct ExchangeOptions {
  std::optional<View> in = {};   ///< how the local input of this rank lies; row-major by default
  std::optional<View> out = {};  ///< and its local output
  Device device = {};            ///< that has the local arrays; by default the host
  /// The most bytes that messages take at a time of those that a rank sends, and as many of those that it receives.
  /// More than that goes in rounds.
  std::int64_t workspace = std::int64_t{256} << 20;
  bool windows = true;  ///< false: messages even between ranks, or cards, that reach each other's memory
};

/// What was decided about an exchange, on this rank.
struct ExchangeReport {
  std::string what;                         ///< "rearrange \"s@x h -> s h@x\" over x=4 of f32[8,16]"
  ExchangePath path = ExchangePath::local;  ///< which `run` takes
  std::string reason;                       ///< why
  std::string not_direct;            ///< why `share_output` throws; empty where it gives an array that peers write
  int ranks = 1;                     ///< that exchange with each other: the mesh axes that nothing crosses are left out
  std::int64_t rounds = 0;           ///< of packing, sending and unpacking
  std::int64_t bytes_sent = 0;       ///< to other ranks
  std::int64_t bytes_received = 0;   ///< from other ranks
  std::int64_t bytes_kept = 0;       ///< from its own input to its own output
  std::int64_t workspace_bytes = 0;  ///< for messages; of arrays on a device perhaps as many on the host again
};

struct ExchangeImpl;
struct SharedOutputImpl;

/// A local output that the peers of its exchange write into directly. All ranks let go of it together.
class SharedOutput {
 public:
  /// One that was moved from may only be destroyed or assigned to; so of Exchange.
  SharedOutput(SharedOutput&&) noexcept;
  SharedOutput& operator=(SharedOutput&&) noexcept;
  ~SharedOutput();

  /// Row-major, and where element [0,...,0] lies; null where this rank has no elements. An address of the device where
  /// the exchange is on one.
  const View& view() const noexcept;
  void* data() const noexcept;
  /// The memory of a device; empty where the exchange is on the host.
  const Buffer& buffer() const noexcept;

 private:
  friend class Exchange;
  explicit SharedOutput(std::unique_ptr<SharedOutputImpl> impl);
  std::unique_ptr<SharedOutputImpl> impl_;
};

/// A Redistribution that is ready to be carried out any number of times. All ranks make it together, run it together
/// and let go of it together. Copies are planned when it is made. What a rank keeps goes straight from its input to its
/// output, while messages travel. Of addends, all come as messages, and are added in the same order each time.
///
/// Before anything travels, the ranks make sure that all of them mean the same. Where they do not, or where one of them
/// cannot take part, the constructors throw on every rank, and name the ranks and what they ask for. In `run` no rank
/// asks the others how they are: one that throws there leaves them waiting, as one that ends does. End the job then.
class Exchange {
 public:
  /// `ranks`: as many as the mesh has, rank by rank. Throws as plan does; Error(usage) where the ranks differ or the
  /// workspace is too small, Error(shape) for a view that is not of the local array, Error(dtype) for addends that are
  /// bools.
  Exchange(const Redistribution& plan, Dtype dtype, std::shared_ptr<Communicator> ranks,
           const ExchangeOptions& options = {});
  /// The same of a Redistribution that is made here: where a rank's is refused, all ranks throw.
  Exchange(std::string_view pattern, std::string_view mesh, const Dims& shape, Dtype dtype,
           std::shared_ptr<Communicator> ranks, const ExchangeOptions& options = {}, const Lengths& lengths = {});
  Exchange(Exchange&&) noexcept;
  Exchange& operator=(Exchange&&) noexcept;
  ~Exchange();

  /// The plan of who sends what to whom, and what was decided.
  const Redistribution& redistribution() const noexcept;
  const ExchangeReport& report() const noexcept;
  /// How the local arrays of this rank lie.
  const View& in_view() const noexcept;
  const View& out_view() const noexcept;

  /// From the local input to the local output, in host memory: where their views' buffers begin, null for arrays
  /// without elements. Returns when this rank's output is there and its input may be written. Throws Error(usage) on
  /// another device than the host, Error(overlap), and as the communicator does.
  void run(const void* in, void* out);
  /// The same of memory of the device. Works in the order of the queue; the output is there when the queue has come
  /// that far.
  void run(const Queue& queue, const Buffer& in, const Buffer& out);

  /// A local output in memory that the peers reach. All ranks call it. Throws Error(unsupported) where report() says
  /// why, Error(out_of_memory).
  SharedOutput share_output();
  /// Into the shared output of each rank: every peer writes what is its own, and nothing is packed. All ranks call this
  /// one, with outputs that they made together. The peers leave the output alone until this rank calls it again.
  void run(const void* in, const SharedOutput& out);
  /// The same between cards, in the order of the queue: no card writes before all queues have come that far.
  void run(const Queue& queue, const Buffer& in, const SharedOutput& out);

 private:
  std::unique_ptr<ExchangeImpl> impl_;
};

}  // namespace axisloom
