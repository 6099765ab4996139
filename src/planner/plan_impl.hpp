// What a plan holds, and how its launches are bound to buffers.
#pragma once

#include <axisloom/plan.hpp>

#include "core/integers.hpp"
#include "core/short_list.hpp"
#include "jit/jit.hpp"

#include <array>
#include <optional>
#include <span>
#include <type_traits>
#include <vector>

namespace axisloom {

using Views = std::span<const View>;
using HostBuffers = std::span<const std::byte* const>;  // where each begins

// Buffers of a launch that are none of the plan's views.
inline constexpr int workspace_view = -1;  // the run's workspace, its contents undefined at the start
inline constexpr int tickets_view = -2;    // u32 slots for the ticket words: 0 before a run, and again after it
inline constexpr int most_tickets = 1024;  // of one plan
inline constexpr size_t workspace_alignment = 256;  // of what a plan keeps apart within its workspace
inline constexpr size_t widest_access = 128;        // bytes of the widest aligned access of a kernel
inline constexpr size_t most_params = 1000;         // bytes of a PARAMS struct, and of a kernel's arguments

/// Whether a kernel's arguments stay within what all runtimes take, OpenCL promising 1,024 bytes: the parameters;
/// pointer, offset and, where accesses are watched, one number for each buffer; and then the log.
constexpr bool arguments_fit(size_t params_bytes, size_t buffers) {
  return params_bytes + 24 * buffers + 8 <= most_params;
}

/// Bytes from the start of a view's memory to the end of its last element.
inline size_t reach_of(const View& view) {
  return size_t(view.bounds().high) * size_of(view.dtype);
}

/// A buffer argument of a launch.
struct LaunchBuffer {
  int view = 0;                               // position in Plan::views(), or one of the above
  i64 offset = 0;                             // of the kernel's element 0, in elements as the kernel declares them
  i64 element = 1;                            // bytes of such an element
  std::optional<device::TensorMap> map = {};  // the kernel takes this instead of an address; it begins at `offset`
};

/// One kernel launch of a plan.
struct Launch {
  jit::Specialisation kernel;
  device::Geometry geometry;
  std::vector<LaunchBuffer> buffers;  // in the order of the kernel's declaration
  std::vector<std::byte> params;      // bytes of its PARAMS struct
};

/// What a run asks of the buffer of a view.
struct Demand {
  u64 bytes = 0;               // from its start; 0: nothing is touched, and there may be no buffer
  u32 alignment = 1;           // of its start, in bytes
  bool starts_before = false;  // the view touches what lies before its buffer: no buffer will do
};

/// A launch on arrays of which the addresses are all that a run adds.
struct DirectLaunch {
  static constexpr size_t most_buffers = 8;
  std::unique_ptr<device::ReadyLaunch> ready = {};
  size_t buffers = 0;
  std::array<i64, most_buffers> offset = {};  // as in LaunchBuffer
  std::array<u8, most_buffers> view = {};
  const std::byte* params = nullptr;
};

/// A run that adds nothing but addresses. All that it touches lies close together: with cold caches it waits for each
/// line of memory, and longer for each page.
struct DirectRun {
  explicit DirectRun(size_t count) : launches(count) {}
  std::array<Demand, DirectLaunch::most_buffers> demands = {};  // one per view
  core::ShortList<DirectLaunch, 1> launches;
  std::array<std::byte, most_params> params = {};  // of the first launch
};

struct PlanImpl {
  /// Also works out what runs will ask of their buffers.
  void set_views(Views of_plan);
  /// On the host, lets the complete plan run without a queue.
  void set_runs_here();

  Device device;
  std::vector<View> views;
  PlanReport report;
  std::vector<Launch> launches;
  std::vector<device::SharedProgram> programs;  // one per launch
  Queue here;                                   // for runs without a queue; empty but on the host, see set_runs_here
  int tickets = 0;                              // slots of tickets_view that the launches use
  bool in_place = false;                        // output and input are the very same bytes
  bool checked = false;                         // every access is checked; run then waits and throws on a violation
  std::vector<Demand> demands;                  // one per view
  std::unique_ptr<const DirectRun> direct;      // null where a run needs more than addresses
};
using SharedPlan = std::shared_ptr<PlanImpl>;

namespace ops {

using Events = core::ShortList<device::SharedEvent, 4>;
using Arrays = std::span<device::Buffer* const>;  // a plan's, in the order of its views; null where one has no elements

[[noreturn, gnu::cold]] void refuse_empty_plan();

/// What a plan holds; Error(usage) for an empty one.
inline const PlanImpl& impl_of(const Plan& plan) {
  if (!plan.impl()) refuse_empty_plan();
  return *plan.impl();
}

/// Throws Error(dtype) or Error(shape) for an output that is not of the dtype and shape of an operation's result,
/// Error(overlap) where two of its elements may lie at one address.
void check_output(const View& out, const View& result);

/// Runs a plan for the host on memory, and returns when it is done. Throws as Plan::run does.
void run_here(const PlanImpl& plan, Arrays buffers);
/// The same where each array begins; false, and nothing is done, where buffers must be looked at more closely.
bool run_direct(const PlanImpl& plan, std::span<const void* const> inputs, void* output);

/// Compiles the launches of a plan (or finds them in the cache), so that running it compiles nothing; fills `programs`.
void compile(PlanImpl& plan);

/// Where a buffer of a part of a plan lies in the whole: `bytes` after the start of the whole's buffer `view`.
struct Place {
  int view = 0;
  i64 bytes = 0;
};

/// Adds the compiled launches of `part` behind those of `plan`: the part's view i lies at places[i], its workspace at
/// `workspace_begin` bytes of the whole's (a multiple of workspace_alignment). Launches of a plan run one after the
/// other, so parts may share workspace and tickets.
void append(PlanImpl& plan, const PlanImpl& part, std::span<const Place> places, i64 workspace_begin);

inline constexpr i64 most_repeats = 1024;  // of a plan's launches

/// Adds a plan's launches again for each of `others`, where its views then lie.
void repeat(PlanImpl& plan, std::span<const std::vector<Place>> others);

/// The bytes of a params struct whose layout is shared with the kernel. It has no padding, not even at its end, which
/// rusticl does not count as a part of it.
template <class Params>
std::vector<std::byte> params_bytes(const Params& params) {
  static_assert(std::has_unique_object_representations_v<Params>, "fill the padding with a member");
  auto bytes = std::as_bytes(std::span(&params, 1));
  return {bytes.begin(), bytes.end()};
}

}  // namespace ops
}  // namespace axisloom
