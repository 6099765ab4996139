// Copies between the memories of cards as the kernel of copies.cu takes them, and as rows for a card's copy engine.
// Plain arithmetic.
#pragma once

#include <axisloom/distributed.hpp>

#include "core/integers.hpp"

#include <optional>
#include <vector>

namespace axisloom::distributed::cards {

inline constexpr int most_ranks = 16;
/// Where copies begin and end: 0 is the input of a run, 1 its output, and those behind are the same in each run.
inline constexpr int most_slots = 2 + most_ranks;

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

// As copies.cu has them. Together they fit in the 4 KiB that a kernel's arguments may have.
inline constexpr unsigned most_axes = 5, most_copies = 18;

struct JobAxis {
  u32 extent;
  u32 multiplier, shift;  // by which to divide by it
  i64 from, to;           // bytes
};

struct JobCopy {
  u64 from, to;  // bytes behind where the slots begin
  u32 from_slot, to_slot;
  u32 end;  // units of this copy and those before it, of those that are sent or of those that stay
  u32 axes;
  JobAxis axis[most_axes];  // slowest first
};

struct Job {
  u64 slots[most_slots];  // addresses
  u64 flags[most_ranks];  // addresses of each rank's
  u64 patience;           // nanoseconds
  u32 rank, ranks;
  u32 before, after;  // whether there are meetings
  u32 unit;           // bytes that an item moves at a time
  u32 sends, copies;  // those that are sent come first
  u32 send_groups;    // at least 1 where cards meet before
  JobCopy copy[most_copies];
};
static_assert(sizeof(Job) <= 4096);

/// A stage's copies and meetings; its addresses, flags and ranks are left to the caller. Nothing where there are more
/// copies or axes than a job has.
std::optional<Job> job_of(const Stage& stage);
/// Says which groups send, and returns how many there are: up to `most`, of so many items each.
u32 share_out(Job& job, u32 most, u32 items);

/// Rows by the copy engine.
struct EngineRows {
  int from = 0, to = 0;                                              // slots
  u64 from_offset = 0, to_offset = 0, from_pitch = 0, to_pitch = 0;  // bytes
  u64 width = 0, count = 0;
};
/// A copy as rows; nothing where a kernel does it better, or has to.
std::vector<EngineRows> rows_of(const SlotCopy& copy);

}  // namespace axisloom::distributed::cards
