// Stages as launches: one kernel for what is small, else plans' kernels and the copy engine between two meetings.
#include "distributed/cards/launches.hpp"

#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>

#include "device/cuda/device.hpp"
#include "jit/embedded.hpp"
#include "jit/program_cache.hpp"

#include <algorithm>
#include <string>

namespace axisloom::distributed::cards {
namespace {

/// One group on each processor: groups that wait for each other must all be running. Two H200 exchange 16 MiB in 28.0
/// us so, in 29.8 by two groups of 512 items and in 29.2 by two of 256; 256 MiB take 375 to 378 us by each.
constexpr unsigned group_size = 512;

std::string define(const char* name, unsigned value) {
  return "-D" + std::string(name) + "=" + std::to_string(value);
}

std::string text_of(const char* name) {
  return std::string(jit::required(jit::find_embedded(name), name));
}

}  // namespace

device::BuildRequest kernel() {
  return {.name = "distributed/copies",
          .source = text_of("distributed/cards/job.h") + text_of("distributed/cards/copies.cu"),
          .options = {define("GROUP", group_size)}};
}

Group::Group(const Device& on, int own, std::span<const u64> all_flags, u64 nanoseconds, i64 most)
    : card(on),
      rank(own),
      flags(all_flags.begin(), all_flags.end()),
      patience(nanoseconds),
      most_bytes(most),
      program(jit::obtain(*on.impl(), kernel(), "card_copies")),
      beside(on.impl()->urgent_queue()) {
  if (flags.empty() || flags.size() > size_t(most_ranks) || own < 0 || size_t(own) >= flags.size())
    throw Error(Errc::unsupported,
                {.message = "cards that write into each other's memory are 1 to 16, this one among them",
                 .device = on.info().label(),
                 .remedy = "take the staged path"});
  beside.impl()->omit_events();
}

void Group::begin_run(const Queue& queue) const {
  if (end_) device::cuda::begin_after(*queue.impl(), end_);
}

void Group::end_run(const Queue& queue) const {
  end_ = device::cuda::mark(*queue.impl());
}

void Group::finish() const noexcept {
  try {
    if (end_) end_->wait();
  } catch (const Error&) {  // nothing runs on a device that is lost
  }
}

Launches::Launches(std::shared_ptr<const Group> group, std::span<const u64> fixed, std::span<const Stage> stages)
    : group_(std::move(group)) {
  if (fixed.size() > size_t(most_slots) - 2) throw Error(Errc::usage, "more than 16 windows of cards");
  std::ranges::copy(fixed, slots_.begin() + 2);
  for (const Stage& stage : stages) add(stage);
}

void Launches::add(const Stage& stage) {
  if (add_single(stage)) return;
  if (stage.before) add_meeting();
  std::vector<EngineRows> by_engine;
  std::vector<const SlotCopy*> by_kernels;
  for (const SlotCopy& send : stage.sends) {
    const std::vector<EngineRows> rows = rows_of(send);
    by_engine.insert(by_engine.end(), rows.begin(), rows.end());
    if (rows.empty()) by_kernels.push_back(&send);
  }
  for (const SlotCopy& kept : stage.kept) by_kernels.push_back(&kept);
  const bool beside = !by_engine.empty() && !by_kernels.empty();
  if (beside) steps_.emplace_back(Kernels::begin);
  steps_.insert(steps_.end(), by_engine.begin(), by_engine.end());
  for (const SlotCopy* copy : by_kernels) add_plan(*copy, beside);
  if (beside) steps_.emplace_back(Kernels::end);
  if (stage.after) add_meeting();
}

/// Of units of fewer bytes than 16 a kernel that looks no further than its own is slow: for such it only saves
/// launches.
i64 Launches::most_single(u32 unit) const {
  return unit == 16 ? group_->most_bytes : std::min(group_->most_bytes, i64(unit) << 20);
}

/// A stage without copies is one launch as well.
bool Launches::add_single(const Stage& stage) {
  const i64 bytes = bytes_of(stage);
  if (bytes > group_->most_bytes) return false;
  if (bytes == 0 && !stage.before && !stage.after) return true;
  std::optional<Job> made = job_of(stage);
  if (!made || bytes > most_single(made->unit)) return false;
  Job& job = *made;
  std::ranges::copy(slots_, job.slots);
  std::ranges::copy(group_->flags, job.flags);
  job.patience = group_->patience;
  job.rank = u32(group_->rank);
  job.ranks = u32(group_->flags.size());
  const u32 groups = share_out(job, group_->card.info().compute_units, group_size);
  steps_.emplace_back(SingleLaunch{.job = std::make_shared<const Job>(job), .groups = groups});
  return true;
}

void Launches::add_meeting() {
  add_single({.before = true});
}

void Launches::add_plan(const SlotCopy& one, bool beside) {
  const auto reach = [](const View& view) { return size_t(view.bounds().high) * size_of(view.dtype); };
  if (one.copy.from.count() == 0) return;
  steps_.emplace_back(Planned{.plan = plan(copy(), {one.copy.from, one.copy.to}, group_->card),
                              .from = one.from,
                              .to = one.to,
                              .from_bytes = reach(one.copy.from),
                              .to_bytes = reach(one.copy.to),
                              .beside = beside});
}

namespace {

/// What runs each kind of step.
struct Runner {
  const Group& group;
  const Queue& queue;
  std::array<u64, most_slots> slots;

  void operator()(const SingleLaunch& single) const {
    Job job = *single.job;
    job.slots[0] = slots[0];
    job.slots[1] = slots[1];
    const device::Arg args[] = {device::Arg::value(job)};
    queue.impl()->launch(*group.program, "card_copies",
                         {.groups = single.groups, .items = group_size, .awaits_earlier = true}, args, {});
  }
  void operator()(const Planned& planned) const {
    planned.plan.run(planned.beside ? group.beside : queue,
                     std::array{buffer(planned.from, planned.from_bytes), buffer(planned.to, planned.to_bytes)});
  }
  void operator()(const EngineRows& rows) const {
    const auto side = [&](const EngineSide& one) {
      return device::cuda::RowsSide{slots[size_t(one.slot)] + one.offset, one.pitch, one.height};
    };
    device::cuda::copy_rows(*queue.impl(), {.from = side(rows.from),
                                            .to = side(rows.to),
                                            .width = rows.width,
                                            .count = rows.count,
                                            .slices = rows.slices});
  }
  void operator()(Kernels kernels) const {
    device::Queue &one = *queue.impl(), &other = *group.beside.impl();
    if (kernels == Kernels::begin)
      device::cuda::begin_after(other, device::cuda::mark(one));
    else
      device::cuda::begin_after(one, device::cuda::mark(other));
  }
  Buffer buffer(int slot, size_t bytes) const {
    return group.card.borrow_buffer(reinterpret_cast<void*>(slots[size_t(slot)]), bytes);
  }
};

}  // namespace

void Launches::run(const Queue& queue, u64 in, u64 out, bool apart) const {
  Runner runner{.group = *group_, .queue = queue, .slots = slots_};
  runner.slots[0] = in;
  runner.slots[1] = out;
  if (apart) group_->begin_run(queue);
  for (const Step& step : steps_) std::visit(runner, step);
  if (apart) group_->end_run(queue);
}

}  // namespace axisloom::distributed::cards
