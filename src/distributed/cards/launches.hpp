// Copies between the memories of the cards of one host, ready to be launched by one call: what a rank does in an
// exchange by the direct path.
#pragma once

#include <axisloom/device.hpp>
#include <axisloom/plan.hpp>

#include "core/integers.hpp"
#include "core/not_copied.hpp"
#include "device/device.hpp"
#include "distributed/cards/job.hpp"

#include <array>
#include <memory>
#include <span>
#include <variant>
#include <vector>

namespace axisloom::distributed::cards {

/// The kernel of single launches, as cards compile it.
device::BuildRequest kernel();

/// Up to so many bytes, of what a card sends and keeps, one kernel does all, meetings included. Two H200 exchange 64
/// MiB each in 98 us by it, where the copy engine beside a plan's kernel took 121; 256 MiB in 376, where the engine
/// takes 370, and four H200 in 584, where it takes 552.
inline constexpr i64 most_single = i64{128} << 20;
/// More than that goes by buffers in rounds, at most so many: what came in one is unpacked while the next is under way.
/// Two H200 took 165 us for 64 MiB in rounds of 8 MiB, and 124 in one.
inline constexpr i64 least_round = i64{64} << 20, most_rounds = 4;

/// 32-bit numbers that ranks need as flags, zero before the first launch.
constexpr size_t flags_of(int ranks) {
  return 2 * size_t(ranks) + 2;
}

/// What the launches of a rank share.
class Group : core::NotCopied {
 public:
  /// `flags`: by rank, where those of a rank are, as this rank's card reaches them. A card that waits longer than
  /// `patience` nanoseconds for another one ends its context with an error. `most_bytes`: up to so many go by one
  /// kernel, meetings included.
  Group(const Device& device, int rank, std::span<const u64> flags, u64 patience, i64 most_bytes);

  const Device card;
  const int rank;
  const std::vector<u64> flags;
  const u64 patience;
  const i64 most_bytes;
  const std::shared_ptr<device::Program> program;
  const Queue beside;  // of kernels, where the copy engine works on the caller's

  /// Runs on several queues come one after the other.
  void begin_run(const Queue& queue) const;
  void end_run(const Queue& queue) const;
  /// Returns when the last run has ended. For destructors.
  void finish() const noexcept;

 private:
  mutable device::SharedEvent end_;  // of the last run
};

/// A kernel that does a stage of few bytes by itself, or only has cards meet.
struct SingleLaunch {
  std::shared_ptr<const Job> job;
  u64 groups = 1;
};
/// A plan's own kernels.
struct Planned {
  Plan plan;
  int from = 0, to = 0;
  size_t from_bytes = 0, to_bytes = 0;
  bool beside = false;  // on the group's own queue
};
/// Plans' kernels work beside the copy engine until both come together again. What takes longer, the engine, does not
/// wait for another queue.
enum class Kernels : u8 { begin, end };

class Launches {
 public:
  /// `fixed`: the addresses of the slots from 2 on.
  Launches(std::shared_ptr<const Group> group, std::span<const u64> fixed, std::span<const Stage> stages);

  /// Queues everything, and returns. One thread at a time for all lists of a group. `apart`: begins when the group's
  /// last run has ended, on whatever queue that was; not for a queue whose work is captured in a graph.
  void run(const Queue& queue, u64 in, u64 out, bool apart) const;
  /// How many calls of the driver a run makes.
  size_t calls() const noexcept { return steps_.size(); }

 private:
  using Step = std::variant<SingleLaunch, Planned, EngineRows, Kernels>;

  void add(const Stage& stage);
  bool add_single(const Stage& stage);
  i64 most_single(u32 unit) const;
  void add_meeting();
  void add_plan(const SlotCopy& copy, bool beside);

  std::shared_ptr<const Group> group_;
  std::array<u64, most_slots> slots_ = {};
  std::vector<Step> steps_;
};

}  // namespace axisloom::distributed::cards
