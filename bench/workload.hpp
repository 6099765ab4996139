// One case on one device: what is to be done, its buffers filled with data, and who judges a result of it.
#pragma once

#include "bench/judge.hpp"
#include "harness/case.hpp"

#include "device/device.hpp"
#include "planner/registry.hpp"

namespace axisloom::bench {

/// Bytes read and written, each once, and arithmetic operations.
struct Work {
  double bytes = 0, operations = 0;
};
/// What it is that a job takes time for.
enum class Limit { memory, arithmetic };
const char* name(Limit limit) noexcept;

class Workload {
 public:
  /// Throws Error when the case cannot be, or its buffers do not fit.
  Workload(const Case& what, const Device& device, Team& team, u64 seed, Strength strength);

  const std::string& text() const noexcept { return text_; }
  const Operation& op() const noexcept { return op_; }
  const ops::OpEntry& entry() const noexcept { return ops::entry(op_.name); }
  const PlanOptions& options() const noexcept { return options_; }
  size_t inputs() const noexcept { return views_.size() - 1; }
  const View& in(size_t i = 0) const noexcept { return views_[i]; }
  const View& out() const noexcept { return views_.back(); }
  std::span<const View> views() const noexcept { return views_; }

  /// Of a move: axis by axis as the operation lowers it, in the order of the output; and the same with axes merged.
  const std::optional<core::Move>& move() const noexcept { return move_; }
  const std::optional<core::Move>& merged() const noexcept { return merged_; }
  const std::optional<Reduction>& reduction() const noexcept { return reduction_; }
  const std::optional<Product>& product() const noexcept { return product_; }

  const Work& work() const noexcept { return work_; }
  double operations() const noexcept { return work_.operations; }
  Limit limit() const noexcept;
  /// The plain copy that reads and writes as many bytes, from the start of the first input to the start of the output;
  /// nothing where it is no reference.
  const std::optional<core::Move>& plain_copy() const noexcept { return plain_copy_; }
  /// Of a move, the plain copy that reads and writes as many sectors of memory as it must touch, between the same
  /// places; nothing where these are no more than the bytes of the plain copy, or cannot be told.
  const std::optional<core::Move>& floor_copy() const noexcept { return floor_copy_; }

  const Device& device() const noexcept { return device_; }
  const Queue& queue() const noexcept { return queue_; }  // with timing
  Team& team() const noexcept { return team_; }
  const Data& data(size_t i) const noexcept { return data_[i]; }  // of an input
  const Buffer& buffer(size_t i) const noexcept { return buffers_[i]; }
  const Buffer& out_buffer() const noexcept { return buffers_.back(); }
  std::span<const Buffer> buffers() const noexcept { return buffers_; }
  /// Host addresses of the buffers; null where the device has memory of its own.
  std::byte* host(size_t i) const noexcept { return static_cast<std::byte*>(buffers_[i].impl()->host()); }
  std::byte* host_out() const noexcept { return host(inputs()); }
  /// Of a merged move, where the first element comes from and where it goes.
  std::byte* move_from() const noexcept { return host(0) + merged_->in_offset * merged_->element; }
  std::byte* move_to() const noexcept { return host_out() + merged_->out_offset * merged_->element; }

  Strength strength() const noexcept { return judge_.strength; }
  /// Judges what lies in host memory laid out as the output buffer, or in the output buffer when `result` is null.
  Mistakes judge(const std::byte* result) const;
  /// The same, of a result that must be what a move makes of the first input.
  Mistakes judge_move(const core::Move& expected, const std::byte* result) const;
  /// Overwrites the output buffer.
  void spoil_output(std::byte value) const;

  /// Bytes of the output's elements and the gaps between them, from the start of the buffer.
  size_t output_bytes() const;
  /// An array in host memory: where it is, or fetched into `memory`. The last one is the output.
  const std::byte* on_host(size_t i, Bytes& memory) const;

 private:
  void describe();
  core::Move copy_of(i64 bytes) const;
  void allocate(u64 seed);

  std::string text_;
  Operation op_;
  PlanOptions options_;
  std::vector<View> views_;  // the inputs, then the output
  std::optional<core::Move> move_, merged_, plain_copy_, floor_copy_;
  std::optional<Reduction> reduction_;
  std::optional<Product> product_;
  Work work_;
  std::vector<Data> data_;
  Device device_;
  Queue queue_;
  Team& team_;
  std::vector<Buffer> buffers_;
  Judge judge_;
  mutable Bytes fetched_;  // the output; kept, since fresh pages take longer than what is read into them
};

}  // namespace axisloom::bench
