// Running an operation on arrays in host memory: in place on devices that share it, through device buffers elsewhere,
// and in slices where an array exceeds the largest allocation.
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include "core/host_memory.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"
#include "device/environment.hpp"
#include "device/registry.hpp"
#include "planner/choose.hpp"
#include "planner/plan_cache.hpp"
#include "planner/plan_impl.hpp"
#include "planner/registry.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <memory>

namespace axisloom {
namespace {

using HostMemory = std::span<std::byte>;  // of an array

/// Bytes of host memory that a device can reach for the length of one run. An output's present contents matter, too: it
/// may have gaps.
class Staged {
 public:
  Staged(const Device& device, const Queue& queue, HostMemory host)
      : queue_(queue), host_(host), copied_(!host.empty() && !device.info().unified_memory) {
    buffer_ = copied_ || host.empty() ? device.allocate(std::max<size_t>(1, host.size()))
                                      : device.wrap(host.data(), host.size());
    if (copied_) queue_.write(buffer_, 0, host);
  }
  const Buffer& buffer() const { return buffer_; }
  void fetch() const {
    if (copied_) queue_.read(buffer_, 0, host_);
  }

 private:
  Queue queue_;
  HostMemory host_;
  bool copied_;
  Buffer buffer_;
};

/// Synchronous, whatever happens: the memory is not in use any more when this returns, or throws.
void run_slice(const Plan& plan, const Device& device, std::span<const HostMemory> memory) {
  const Queue queue = device.queue();
  std::vector<Staged> staged;
  try {
    for (const HostMemory part : memory) staged.emplace_back(device, queue, part);
    std::vector<Buffer> buffers;
    for (const Staged& stage : staged) buffers.push_back(stage.buffer());
    plan.run(queue, buffers);
    staged.back().fetch();
    queue.finish();
  } catch (...) {
    queue.impl()->drain();
    throw;
  }
}

size_t bytes_of(HostMemory memory) {
  return memory.size();
}
size_t bytes_of(const ops::Slice::Range& range) {
  return size_t(range.bytes);
}

/// Whether a device can hold these parts of memory and a workspace at the same time.
bool fits(const DeviceInfo& device, const auto& parts, size_t workspace) {
  size_t all = workspace, largest = workspace;
  for (const auto& part : parts) {
    all += bytes_of(part);
    largest = std::max(largest, bytes_of(part));
  }
  // Memory of its own holds more than these: the driver's share, and what other programs have.
  return largest <= device.max_allocation && (device.unified_memory || all <= device.global_memory / 8 * 7);
}

/// The largest slices that the device can hold, with what they work with: half as large as long as these do not fit.
ops::Slices slices_for(const Operation& op, Views views, const Device& device, const PlanOptions& options) try {
  ops::check_output(views.back(), result_view(op, views.first(views.size() - 1)));
  for (auto limit = i64(device.info().max_allocation);; limit /= 2) {
    ops::Slices slices = ops::entry(op.name).slices(op, views, device, ops::options_for(device.info(), options), limit);
    if (std::ranges::all_of(slices.list, [&](const ops::Slice& slice) {
          return fits(device.info(), slice.ranges, slice.plan->report.workspace_bytes);
        }))
      return slices;
  }
} catch (const Error& error) {
  throw error.with({.op = to_string(op), .device = device.info().label()});
}

/// Host memory for what slices hand on to each other.
std::shared_ptr<std::byte> allocate_scratch(i64 bytes) {
  std::shared_ptr<std::byte> memory(static_cast<std::byte*>(core::allocate_host(std::max<size_t>(1, size_t(bytes)))),
                                    std::free);
  if (!memory)
    throw Error(Errc::out_of_memory, concat("the host cannot allocate ", bytes, " bytes for partial results"),
                "free memory, or do it in parts");
  return memory;
}

PlanReport run_in_slices(const Operation& op, Views views, std::span<const HostMemory> memory, const Device& device,
                         const PlanOptions& options) {
  const ops::Slices slices = slices_for(op, views, device, options);
  const std::shared_ptr<std::byte> scratch = allocate_scratch(slices.scratch_bytes);
  for (const ops::Slice& slice : slices.list) {
    std::vector<HostMemory> parts;
    for (const ops::Slice::Range& range : slice.ranges) {
      std::byte* const start = range.array == ops::scratch_array ? scratch.get() : memory[range.array].data();
      parts.emplace_back(start + range.begin, size_t(range.bytes));
    }
    run_slice(Plan(slice.plan), device, parts);
  }
  const auto told =
      std::ranges::find_if(slices.list, [](const ops::Slice& slice) { return !slice.plan->report.candidate.empty(); });
  PlanReport report = told->plan->report;  // steps between slices have no candidate
  report.op = to_string(op);
  report.device = device.info().label();
  report.bytes_moved = ops::entry(op.name).bytes(op, views);
  report.expected_seconds = 0;
  for (const ops::Slice& slice : slices.list) report.expected_seconds += slice.plan->report.expected_seconds;
  return report;
}

/// The views with the alignment that their memory really has, and the output's view added when it is missing.
std::vector<View> complete_views(const Operation& op, Views views, std::span<const HostMemory> memory,
                                 const DeviceInfo& device) {
  std::vector<View> all(views.begin(), views.end());
  if (all.size() + 1 == memory.size()) all.push_back(result_view(op, views));
  if (all.size() != memory.size())
    throw Error(Errc::usage, to_string(op) + " needs a view for each array, the output's may be left out");
  for (size_t i = 0; i < all.size(); ++i) {
    // Arrays that are not used in place lie in buffers that the device aligns.
    if (all[i].align > 0) all[i].align = i64(core::alignment_of(memory[i].data(), u64(all[i].align)));
    if (!device.unified_memory) all[i].align = std::min(all[i].align, i64(device.base_alignment));
    validate(all[i], i + 1 < all.size() ? "input" : "output");
    const Bounds bounds = all[i].bounds();
    const auto size = i64(size_of(all[i].dtype));
    if (bounds.low < 0 || bounds.high * size > i64(memory[i].size()))
      throw Error(Errc::usage,
                  {.message = concat("an array of ", memory[i].size(), " bytes does not hold ", to_string(all[i])),
                   .op = to_string(op)});
  }
  return all;
}

/// Memory of the caller's, as a buffer for the length of a call.
class Lent final : public device::Buffer {
 public:
  Lent(const void* memory, size_t bytes) : memory_(const_cast<void*>(memory)), bytes_(bytes) {}
  size_t bytes() const noexcept override { return bytes_; }
  size_t alignment() const noexcept override { return core::alignment_of(memory_, widest_access); }
  void* host() const noexcept override { return memory_; }
  void* native() const noexcept override { return memory_; }
  device::Location location() const noexcept override { return {nullptr, u64(memory_)}; }

 private:
  void* memory_;
  size_t bytes_;
};

/// The arrays of a plan's run as buffers of which none outlives it.
void run_lent(const PlanImpl& plan, std::span<const void* const> inputs, void* output) {
  constexpr size_t usual = 8;  // arrays; more are kept on the heap
  core::ShortList<Lent, usual> lent(plan.demands.size());
  core::ShortList<device::Buffer*, usual> arrays(plan.demands.size());
  for (size_t i = 0; i < plan.demands.size(); ++i) {
    const void* const begin = i < inputs.size() ? inputs[i] : output;
    Lent& buffer = lent.emplace_back(begin, plan.demands[i].bytes);
    arrays.push_back(begin ? &buffer : nullptr);
  }
  ops::run_here(plan, arrays);
}

// A process that had used no GPU took so long on an H200, with kernels from the disk; its memory was filled from
// pageable memory, and read back, at this rate.
constexpr double gpu_start = 0.3;        // seconds
constexpr double transfer_rate = 6.6e9;  // bytes per second

/// Seconds of a job on a GPU, from host memory to host memory.
double there_and_back(const Operation& op, Views views, const Device& gpu, const PlanOptions& options) {
  double bytes = 0;
  for (const View& view : views) bytes += double(reach_of(view));
  try {
    return gpu_start + bytes / transfer_rate + ops::cached_plan(op, views, gpu, options).report().expected_seconds;
  } catch (const Error&) {  // nothing that it can do, or more than its memory holds
    return std::numeric_limits<double>::infinity();
  }
}

}  // namespace

[[gnu::hot]] void Plan::run(std::span<const void* const> inputs, void* output) const {
  const PlanImpl& plan = ops::impl_of(*this);
  if (inputs.size() + 1 != plan.demands.size())
    throw Error(Errc::usage, {.message = concat("needs ", plan.views.size() - 1, " inputs, got ", inputs.size()),
                              .op = plan.report.op,
                              .shapes = plan.report.shapes,
                              .device = plan.report.device});
  if (ops::run_direct(plan, inputs, output)) return;
  if (plan.here.impl()) return run_lent(plan, inputs, output);
  std::vector<HostMemory> memory;
  for (size_t i = 0; i < plan.views.size(); ++i) {
    const void* const begin = i < inputs.size() ? inputs[i] : output;
    memory.emplace_back(static_cast<std::byte*>(const_cast<void*>(begin)), begin ? reach_of(plan.views[i]) : 0);
  }
  run_slice(*this, plan.device, memory);
}

Device device_for(const Operation& op, Views views, const PlanOptions& options) {
  if (!device::environment("AXISLOOM_DEVICE").empty()) return Device::open();
  const Device host = Device::open("host");
  const double here = ops::cached_plan(op, views, host, options).report().expected_seconds;
  if (here < gpu_start) return host;
  const std::vector<DeviceInfo> present = devices();
  const DeviceInfo* const gpu = device::select(device::parse_spec("gpu"), present);
  if (!gpu || gpu->compiler.empty()) return host;
  const Device there = Device::open(gpu->spec());
  return there_and_back(op, views, there, options) < here ? there : host;
}

PlanReport run_on_host(const Operation& op, Views views, std::span<const std::span<const std::byte>> in,
                       std::span<std::byte> out, const Device& device, const PlanOptions& options) {
  std::vector<HostMemory> memory;
  for (std::span<const std::byte> part : in)  // inputs are only read: the kernels declare them so
    memory.emplace_back(const_cast<std::byte*>(part.data()), part.size());
  memory.push_back(out);
  const std::vector<View> all = complete_views(op, views, memory, device.info());
  if (!fits(device.info(), memory, 0)) return run_in_slices(op, all, memory, device, options);
  const Plan cached = ops::cached_plan(op, all, device, options);
  if (!fits(device.info(), memory, cached.report().workspace_bytes))
    return run_in_slices(op, all, memory, device, options);
  run_slice(cached, device, memory);
  return cached.report();
}

}  // namespace axisloom
