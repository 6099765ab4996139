// Copies between the memories of cards as the kernel of copies.cu takes them, and as rows for a card's copy engine.
// Plain arithmetic.
#pragma once

#include <axisloom/distributed.hpp>

#include "core/integers.hpp"

#include <optional>
#include <vector>

namespace axisloom::distributed::cards {

/// A copy from one slot to another. Its views' offsets count from where the slots begin.
struct SlotCopy {
  int from = 0, to = 0;
  TransferCopy copy;
};

/// Copies between two meetings. `sends` go to other cards.
struct Stage {
  std::vector<SlotCopy> sends = {}, kept = {};
  bool before = false;  // no card begins before all cards' streams have come here
  bool after = false;   // none goes on before all have ended
};
/// Of all copies of a stage.
i64 bytes_of(const Stage& stage);

#include "distributed/cards/job.h"

/// The arguments that a kernel may have.
static_assert(sizeof(Job) <= 4096);

/// A stage's copies and meetings; its addresses, flags and ranks are left to the caller. Nothing where there are more
/// copies or axes than a job has.
std::optional<Job> job_of(const Stage& stage);
/// Says which groups send, and returns how many there are: up to `most`, of so many items each.
u32 share_out(Job& job, u32 most, u32 items);

/// Where rows of the copy engine lie in a slot.
struct EngineSide {
  int slot = 0;
  u64 offset = 0, pitch = 0;  // bytes
  u64 height = 0;             // rows between slices
};
/// Slices of rows by the copy engine.
struct EngineRows {
  EngineSide from, to;
  u64 width = 0;  // bytes of a row
  u64 count = 0;  // rows of a slice
  u64 slices = 0;
};
/// A copy as rows; nothing where a kernel does it better, or has to.
std::vector<EngineRows> rows_of(const SlotCopy& copy);

}  // namespace axisloom::distributed::cards
