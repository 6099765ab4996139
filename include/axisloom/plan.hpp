// Plans: an operation checked, chosen, compiled and ready to run, any number of times and from any thread.
#pragma once

#include <axisloom/array.hpp>
#include <axisloom/device.hpp>
#include <axisloom/ops.hpp>

#include <initializer_list>
#include <map>
#include <memory>
#include <string>
#include <vector>

namespace axisloom {

/// Width of the numbers by which kernels count elements.
enum class IndexWidth : std::uint8_t { automatic, bits32, bits64 };

/// Values of a candidate's tunables by name, e.g. {{"tile_in", 64}, {"layout", 2}}.
using Configuration = std::map<std::string, std::int64_t>;

/// What a caller may force. What is not set is chosen.
struct PlanOptions {
  std::string candidate = {};        ///< this candidate or an error; empty: the one with the lowest predicted time
  Configuration configuration = {};  ///< overrides single tunables
  IndexWidth index = IndexWidth::automatic;  ///< bits32 is refused where an offset might not fit
  bool in_place = false;                     ///< output and input are the same bytes; square transposes only
  bool checked = false;                      ///< every access checked against its bounds; slow, for tests
  /// Whether all members are the same.
  bool operator==(const PlanOptions&) const = default;
};

/// What was decided about one candidate, in list order.
struct CandidateReport {
  std::string name;       ///< of the candidate
  bool accepted = false;  ///< can do the job
  std::string reason;     ///< why refused; empty when accepted
  double seconds = 0;     ///< predicted time when accepted
};

/// Everything a plan decided.
struct PlanReport {
  std::string op;                    ///< "rearrange \"h w -> w h\""
  std::string shapes;                ///< "f32[3,4] -> f32[4,3]"
  std::string device;                ///< DeviceInfo::label()
  std::string candidate;             ///< the winner; "none" when there is nothing to do
  Configuration configuration;       ///< its tunables
  std::string configuration_source;  ///< "forced", "exact", "shape class", "device family" or "default"
  std::string model;                 ///< where the device's figures come from: "user's store", "h200", "generic-gpu"
  std::vector<CandidateReport> candidates;  ///< all that were asked
  std::vector<std::string> steps = {};      ///< "1: i k, k j -> i j  matmul/packed  33.6 MFLOP"; of einsum and its like
  IndexWidth index = IndexWidth::bits32;    ///< that the kernels were made for
  std::size_t workspace_bytes = 0;          ///< what `run` needs besides the arrays, aligned to 128 bytes; 0 for moves
  double expected_seconds = 0;              ///< the predicted time
  std::int64_t bytes_moved = 0;             ///< read plus written, each element once
};

struct PlanImpl;

/// Immutable; may be shared between threads. Using an empty one (default-constructed or moved from) throws
/// Error(usage).
class Plan {
 public:
  Plan() = default;
  /// For the library itself.
  explicit Plan(std::shared_ptr<const PlanImpl> impl) : impl_(std::move(impl)) {}

  /// Everything that was decided.
  const PlanReport& report() const;
  /// The views that `run` expects, inputs first, the output last.
  std::span<const View> views() const;
  /// The one that it was made for.
  const Device& device() const;

  /// Queues the work and returns. `buffers` in the order of `views()`. Never compiles, never blocks (a plan with
  /// PlanOptions::checked waits for its result), and allocates only when the plan needs a workspace and none is given
  /// (then from the queue's pool).
  /// The buffer of an array without elements may be empty; the queue may not, even where there is nothing to do.
  /// Throws Error(usage) when a buffer or the workspace is too small, misaligned, or of another device, and
  /// Error(overlap) when the output shares bytes with an input, or might (unless the plan was made for in place), or
  /// the workspace with an array. When it throws, none of its launches is running any more: after a failure between
  /// two launches it waits for the first.
  Event run(const Queue& queue, std::span<const Buffer> buffers, const Buffer& workspace = {},
            std::span<const Event> wait = {}) const;

  /// Runs on arrays in host memory and returns when it is done. On the host and on devices that share its memory in
  /// place, else by way of copies. On the host it allocates nothing, and takes no lock unless the plan needs a
  /// workspace. `inputs` and `output`: where each array begins, from where on its view's bounds lie; null for arrays
  /// without elements. Throws as the other run does.
  void run(std::span<const void* const> inputs, void* output) const;

  /// For the library itself.
  const std::shared_ptr<const PlanImpl>& impl() const noexcept { return impl_; }

 private:
  std::shared_ptr<const PlanImpl> impl_;
};

/// Checks, chooses and compiles everything that a run will need. On PoCL, which compiles at a kernel's first launch,
/// each new kernel for CPUs is launched once without work; kernels for GPUs that are forced upon PoCL compile in part
/// at their first launch. What was compiled is stored on disk at once. `views`: the inputs, then optionally the output
/// (default: contiguous, aligned to 256).
/// Plans for devices that Device::open opened are remembered, the last few hundred of them: the same call again finds
/// its plan, for the last few of a thread without a lock or an allocation. A plan for a borrowed context is made anew
/// each time, so that nothing of it stays behind: keep it. Safe for many threads.
Plan plan(const Operation& op, std::span<const View> views, const Device& device, const PlanOptions& options = {});
/// The same: plan(transpose(), {in}, device).
inline Plan plan(const Operation& op, std::initializer_list<View> views, const Device& device,
                 const PlanOptions& options = {}) {
  return plan(op, std::span(views.begin(), views.size()), device, options);
}

/// A plan that is wanted, with the arguments of plan().
struct PlanRequest {
  Operation op;             ///< what to do
  std::vector<View> views;  ///< the inputs, then optionally the output
  PlanOptions options;      ///< what is forced
};
/// Plans several operations at once; kernels that they have in common are compiled once.
std::vector<Plan> warm_up(std::span<const PlanRequest> requests, const Device& device);

/// The device for an operation on arrays in host memory: what AXISLOOM_DEVICE names where it is set; else "host",
/// unless a GPU would be done sooner, its start and the copies there and back included. Drivers are looked for only
/// where the host needs longer than a GPU takes to start. Throws as plan does.
Device device_for(const Operation& op, std::span<const View> views, const PlanOptions& options = {});

/// Plan cache plus run, on arrays in host memory, synchronously. Slices arrays that exceed the largest allocation.
/// `out` must hold the bounds of the output view. Throws as plan and run do; the arrays are not in use any more then.
PlanReport run_on_host(const Operation& op, std::span<const View> views, std::span<const std::span<const std::byte>> in,
                       std::span<std::byte> out, const Device& device, const PlanOptions& options = {});

}  // namespace axisloom
