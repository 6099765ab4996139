// The memory that the launches of one run share besides the views' buffers.
#pragma once

#include "core/integers.hpp"
#include "core/not_copied.hpp"
#include "planner/plan_impl.hpp"

#include <memory>
#include <optional>

namespace axisloom::ops {

/// Workspace and tickets of one run, from the caller's buffer or else from the queue's scratch memory. The latter stays
/// locked until all launches of the run are queued: the queue then keeps them apart from those of the next run.
class Workspace : core::NotCopied {
 public:
  /// `given` is empty, or fits the plan and is no array of the run. What this queues first goes into `waits`.
  Workspace(const PlanImpl& plan, device::Queue& queue, const Buffer& given, Events& waits);
  ~Workspace();

  /// The buffer of workspace_view or tickets_view, and at which byte it begins.
  device::Buffer& buffer(int view) const;
  i64 begin(int view) const { return view == tickets_view ? tickets_begin_ : 0; }
  /// Whether clearing the tickets was queued, in memory that may be the caller's.
  bool filled() const { return tickets_ != nullptr; }
  /// All launches are queued, so the tickets will be zero again.
  void queued() { queued_ = true; }

 private:
  struct Unlock {
    void operator()(device::Scratch* scratch) const noexcept { scratch->mutex.unlock(); }
  };

  std::optional<device::HeldLines> lines_;            // while it is locked
  std::unique_ptr<device::Scratch, Unlock> scratch_;  // locked
  device::SharedBuffer memory_, tickets_;
  i64 tickets_begin_ = 0;
  bool queued_ = false;
};

}  // namespace axisloom::ops
