// One case on one device: what is to be done, its buffers filled with data, and how a result of it is judged.
#pragma once

#include "bench/verify.hpp"

#include "check/case.hpp"

#include "device/device.hpp"

#include <axisloom/device.hpp>
#include <axisloom/ops.hpp>
#include <axisloom/plan.hpp>

#include <optional>
#include <string>
#include <vector>

namespace axisloom::bench {

/// How results are judged. full: with the oracle's, which knows nothing of hashes. indexed: each element of the output
/// against the hash of the position that it came from.
enum class Strength { automatic, full, indexed };
const char* name(Strength strength) noexcept;

/// Up to so many elements the oracle judges results that lie in host memory.
inline constexpr std::int64_t full_check_limit = std::int64_t{1} << 28;

class Workload {
 public:
  /// Throws Error when the case cannot be, or its buffers do not fit.
  Workload(const cli::Case& what, const Device& device, Team& team, std::uint64_t seed, Strength strength);

  const std::string& text() const noexcept { return text_; }
  const Operation& op() const noexcept { return op_; }
  const PlanOptions& options() const noexcept { return options_; }
  const View& in() const noexcept { return views_[0]; }
  const View& out() const noexcept { return views_[1]; }
  std::span<const View> views() const noexcept { return views_; }
  /// Axis by axis as the operation lowers it, in the order of the output; and the same with axes merged.
  const core::Move& move() const noexcept { return move_; }
  const core::Move& merged() const noexcept { return merged_; }
  /// The plain copy of as many bytes, from the start of one buffer to the start of the other.
  const core::Move& plain_copy() const noexcept { return plain_copy_; }
  std::int64_t bytes_moved() const noexcept { return move_.bytes_moved(); }
  const Data& data() const noexcept { return data_; }
  Strength strength() const noexcept { return strength_; }

  const Device& device() const noexcept { return device_; }
  const Queue& queue() const noexcept { return queue_; }  // with timing
  Team& team() const noexcept { return team_; }
  const Buffer& in_buffer() const noexcept { return buffers_[0]; }
  const Buffer& out_buffer() const noexcept { return buffers_[1]; }
  std::span<const Buffer> buffers() const noexcept { return buffers_; }
  /// Host addresses of the buffers; null where the device has memory of its own.
  std::byte* host_in() const noexcept { return host(0); }
  std::byte* host_out() const noexcept { return host(1); }

  /// Judges what lies in host memory laid out as the output buffer, or in the output buffer when `result` is null.
  Mistakes judge(const core::Move& expected, const std::byte* result);
  /// Overwrites the output buffer.
  void spoil_output(std::byte value) const;

 private:
  std::byte* host(std::size_t i) const noexcept { return static_cast<std::byte*>(buffers_[i].impl()->host()); }
  void allocate();
  const std::byte* oracle();

  std::string text_;
  Operation op_;
  PlanOptions options_;
  std::vector<View> views_;
  core::Move move_, merged_, plain_copy_;
  Data data_;
  Strength strength_;
  Device device_;
  Queue queue_;
  Team& team_;
  std::vector<Buffer> buffers_;
  std::vector<std::byte> oracle_;  // the output buffer as the oracle writes it; made when first needed
};

}  // namespace axisloom::bench
