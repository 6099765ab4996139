// Copies of transfers as plans that can be run anywhere in memory.
#pragma once

#include <axisloom/distributed.hpp>
#include <axisloom/plan.hpp>

#include "core/integers.hpp"

#include <vector>

namespace axisloom::distributed {

/// Where an array or a buffer of messages lies: in host memory, or in a buffer of a device.
struct Place {
  std::byte* host = nullptr;
  const Buffer* buffer = nullptr;
};

/// A plan, and how far behind the start of the places its views begin. On the host views begin at their lowest element,
/// so that copies of the same shape share a plan; buffers of devices are given whole.
struct Step {
  Plan plan;
  i64 from = 0, to = 0;  // bytes
};
using Steps = std::vector<Step>;

/// Makes steps for a device.
class StepMaker {
 public:
  /// `bytes_moved`: by all that runs one after the other or side by side in the same memory. Where that is more than
  /// caches hold, each step on the host stores past them, small as it may be itself.
  StepMaker(const Device& device, double bytes_moved);
  /// `from_byte` and `to_byte`: where the views' buffers begin in their places.
  Step step(const Operation& op, View from, i64 from_byte, View to, i64 to_byte) const;
  /// Appends copies.
  void add(const std::vector<TransferCopy>& copies, i64 from_byte, i64 to_byte, Steps& steps) const;

 private:
  Plan host_plan(const Operation& op, const View& from, const View& to) const;

  Device device_;
  bool host_;
  double bytes_moved_;
};

/// On the host where the queue is empty.
void run(const Step& step, const Queue& queue, const Place& from, const Place& to);
void run(const Steps& steps, const Queue& queue, const Place& from, const Place& to);

}  // namespace axisloom::distributed
