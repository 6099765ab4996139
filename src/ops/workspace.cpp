// Workspaces: the caller's own, or the queue's, which grows and stays.
#include "ops/workspace.hpp"

#include <axisloom/error.hpp>

namespace axisloom::ops {
namespace {

std::size_t tickets_bytes(const PlanImpl& plan) {
  return static_cast<std::size_t>(plan.tickets) * sizeof(std::uint32_t);
}

}  // namespace

Workspace::Workspace(const PlanImpl& plan, const Queue& queue, const Buffer& given,
                     std::vector<std::shared_ptr<device::Event>>& waits) {
  const std::size_t bytes = plan.report.workspace_bytes;  // the tickets stand at its end
  if (bytes == 0) return;
  if (given) {
    if (given.bytes() < bytes)
      throw Error(Errc::usage,
                  "needs a workspace of " + std::to_string(bytes) + " bytes, got " + std::to_string(given.bytes()),
                  "give PlanReport::workspace_bytes, or none");
    memory_ = tickets_ = given.impl();
    tickets_begin_ = static_cast<std::int64_t>(bytes - tickets_bytes(plan));
    if (plan.tickets > 0)
      waits = {queue.impl()->fill(*tickets_, static_cast<std::size_t>(tickets_begin_), tickets_bytes(plan),
                                  std::byte{0}, waits)};
    return;
  }
  scratch_ = &queue.impl()->scratch;
  lock_ = std::unique_lock(scratch_->mutex);
  if (!scratch_->memory || scratch_->memory->bytes() < bytes) scratch_->memory = plan.device.impl()->allocate(bytes);
  memory_ = scratch_->memory;
  if (plan.tickets == 0) return;
  if (!scratch_->tickets) {
    scratch_->tickets = plan.device.impl()->allocate(most_tickets * sizeof(std::uint32_t));
    waits.push_back(queue.impl()->fill(*scratch_->tickets, 0, scratch_->tickets->bytes(), std::byte{0}, {}));
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
