// Workspaces: the caller's own, or the queue's, which grows and stays.
#include "planner/workspace.hpp"

#include <new>

namespace axisloom::ops {
namespace {

size_t tickets_bytes(const PlanImpl& plan) {
  return size_t(plan.tickets) * sizeof(u32);
}

/// What another thread may have been changing when the process forked: it is left as it is, and not given back.
void forget(device::Scratch& scratch) {
  new (&scratch.memory) device::SharedBuffer();
  new (&scratch.tickets) device::SharedBuffer();
}

}  // namespace

Workspace::Workspace(const PlanImpl& plan, device::Queue& queue, const Buffer& given, Events& waits) {
  const size_t bytes = plan.report.workspace_bytes;  // the tickets stand at its end
  if (bytes == 0) return;
  if (given) {
    memory_ = given.impl();
    if (plan.tickets == 0) return;
    tickets_begin_ = i64(bytes - tickets_bytes(plan));
    device::SharedEvent cleared =
        queue.fill(*memory_, size_t(tickets_begin_), tickets_bytes(plan), std::byte{0}, waits);
    waits.clear();
    waits.push_back(std::move(cleared));
    tickets_ = memory_;
    return;
  }
  lines_.emplace();
  const bool lost = queue.scratch.mutex.lock();
  scratch_.reset(&queue.scratch);
  if (lost) forget(*scratch_);
  if (!scratch_->memory || scratch_->memory->bytes() < bytes) scratch_->memory = plan.device.impl()->allocate(bytes);
  memory_ = scratch_->memory;
  if (plan.tickets == 0) return;
  if (!scratch_->tickets) {
    auto fresh = plan.device.impl()->allocate(most_tickets * sizeof(u32));
    waits.push_back(queue.fill(*fresh, 0, fresh->bytes(), std::byte{0}, {}));
    scratch_->tickets = std::move(fresh);  // only now are they sure to be zero
  }
  tickets_ = scratch_->tickets;
}

// A run that failed half way may leave tickets taken, so the next one begins with fresh ones.
Workspace::~Workspace() {
  if (scratch_ && !queued_) scratch_->tickets = nullptr;
}

device::Buffer& Workspace::buffer(int view) const {
  return view == tickets_view ? *tickets_ : *memory_;
}

}  // namespace axisloom::ops
