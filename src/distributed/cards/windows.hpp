// Memory of each rank's card that the cards of all ranks reach: by peer access within a process, by CUDA's IPC between
// processes.
#pragma once

#include <axisloom/exchange.hpp>

#include "core/not_copied.hpp"
#include "device/device.hpp"

#include <memory>
#include <string>
#include <vector>

namespace axisloom::distributed::cards {

class Windows : core::NotCopied {
 public:
  /// All ranks call it; `bytes`, a number that each chooses for its own window, are zero. Null on all ranks where one
  /// cannot reach another one's: `reason` says why. Throws what the communicator throws.
  static std::unique_ptr<Windows> shared(std::shared_ptr<Communicator> ranks, const Device& card, size_t bytes,
                                         std::string& reason);
  /// All ranks let go of windows together: what is queued has to be done before a rank's memory is freed.
  ~Windows();

  /// This rank's.
  const Buffer& own() const noexcept { return own_; }
  /// Addresses by rank, as this rank's card reaches them.
  const std::vector<u64>& addresses() const noexcept { return addresses_; }

 private:
  Windows(std::shared_ptr<Communicator> ranks, const Device& card) : ranks_(std::move(ranks)), card_(card) {}

  std::shared_ptr<Communicator> ranks_;
  Device card_;
  Buffer own_;
  std::vector<device::SharedBuffer> reached_;  // by rank
  std::vector<u64> addresses_;
};

}  // namespace axisloom::distributed::cards
