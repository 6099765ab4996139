// Exchanges between the ranks of NCCL, each with a card. NCCL is opened at run time: neither its header nor its library
// has to be there where a program is built.
//
//   ncclCommInitRank(&comm, ranks, id, rank);
//   axisloom::Exchange exchange("s@x h -> s h@x", "x=2", {8, 16}, axisloom::Dtype::f32,
//                               axisloom::nccl::communicator(comm), {.device = card});
//   exchange.run(queue, input, output);
#pragma once

#include <axisloom/exchange.hpp>

#include <chrono>
#include <memory>

struct ncclComm;
/// NCCL's handle of a communicator, as its header declares it.
typedef struct ncclComm* ncclComm_t;

namespace axisloom::nccl {

/// How long ranks wait for each other, and what becomes of them where one is lost.
struct Options {
  /// The longest that a call of this library waits for the other ranks.
  std::chrono::milliseconds limit = std::chrono::minutes(10);
  /// Whether `Exchange::run` returns once all is queued on the card, as NCCL's own calls do. Else it waits for the
  /// messages, no longer than `limit`.
  bool in_stream_order = true;
  /// Whether the communicator is given up by ncclCommAbort where a rank is lost or `limit` is over, so that nothing
  /// stays on the card. Nobody may use or destroy it then.
  bool abort = false;
};

/// The ranks of a communicator, which stays the caller's: let go of this one and of its exchanges before
/// ncclCommDestroy. As with NCCL's own calls, all ranks that use a communicator use it in the same order.
///
/// NCCL is the file that AXISLOOM_NCCL names, else the libnccl.so.2 that the program has loaded or the loader finds:
/// that of the communicator, 2.7 or newer. Throws Error(unsupported) where there is none, Error(no_device) where the
/// driver does not show the communicator's card. What NCCL reports, and a rank that does not answer within the limit,
/// becomes Error(device) here and in everything that uses the communicator; it says the same from then on.
std::shared_ptr<Communicator> communicator(ncclComm_t comm, const Options& options = {});

}  // namespace axisloom::nccl
