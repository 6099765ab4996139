// Running an operation on arrays in host memory: in place on devices that share it, through device buffers elsewhere,
// and in slices where an array exceeds the largest allocation.
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include "ops/plan_cache.hpp"
#include "ops/plan_impl.hpp"
#include "ops/registry.hpp"

#include <algorithm>
#include <bit>

namespace axisloom {
namespace {

std::int64_t alignment_of(const void* address, std::int64_t limit) {
  const auto bits = reinterpret_cast<std::uintptr_t>(address);
  return bits == 0 ? limit : std::min<std::int64_t>(limit, std::int64_t{1} << std::countr_zero(bits));
}

/// Bytes of host memory that a device can reach for the length of one run.
class Staged {
 public:
  /// `keep`: the present contents matter, as those of an output with gaps do.
  Staged(const Device& device, const Queue& queue, std::span<std::byte> host, bool keep) : queue_(queue), host_(host) {
    const std::size_t bytes = std::max<std::size_t>(1, host.size());
    if (device.info().unified_memory && !host.empty()) {
      buffer_ = device.wrap(host.data(), bytes);
      in_place_ = true;
      return;
    }
    buffer_ = device.allocate(bytes);
    if (keep && !host.empty()) queue_.write(buffer_, 0, host);
  }
  const Buffer& buffer() const { return buffer_; }
  void fetch() const {
    if (!in_place_ && !host_.empty()) queue_.read(buffer_, 0, host_);
  }

 private:
  Queue queue_;
  std::span<std::byte> host_;
  Buffer buffer_;
  bool in_place_ = false;
};

void run_slice(const Plan& plan, const Device& device, std::span<const std::span<std::byte>> memory) {
  const Queue queue = device.queue();
  std::vector<Staged> staged;
  std::vector<Buffer> buffers;
  for (const std::span<std::byte>& part : memory) staged.emplace_back(device, queue, part, true);
  for (const Staged& stage : staged) buffers.push_back(stage.buffer());
  plan.run(queue, buffers);
  staged.back().fetch();
  queue.finish();
  ops::settle(*plan.impl());
}

bool fits(std::span<const std::span<std::byte>> memory, std::int64_t limit) {
  return std::all_of(memory.begin(), memory.end(),
                     [&](const auto& part) { return static_cast<std::int64_t>(part.size()) <= limit; });
}

/// The views with the alignment that the host memory really has, and the output's view added when it is missing.
std::vector<View> complete_views(const Operation& op, std::span<const View> views,
                                 std::span<const std::span<std::byte>> memory) {
  std::vector<View> all(views.begin(), views.end());
  if (all.size() + 1 == memory.size()) all.push_back(result_view(op, views));
  if (all.size() != memory.size())
    throw Error(Errc::usage, to_string(op) + " needs a view for each array, the output's may be left out");
  for (std::size_t i = 0; i < all.size(); ++i) {
    all[i].align = alignment_of(memory[i].data(), all[i].align);
    const Bounds bounds = all[i].bounds();
    const auto size = static_cast<std::int64_t>(size_of(all[i].dtype));
    if (bounds.low < 0 || bounds.high * size > static_cast<std::int64_t>(memory[i].size()))
      throw Error(Errc::usage, {.message = "an array of " + std::to_string(memory[i].size()) + " bytes does not hold " +
                                           to_string(all[i]),
                                .op = to_string(op)});
  }
  return all;
}

}  // namespace

PlanReport run_on_host(const Operation& op, std::span<const View> views, std::span<const std::span<const std::byte>> in,
                       std::span<std::byte> out, const Device& device, const PlanOptions& options) {
  std::vector<std::span<std::byte>> memory;
  for (std::span<const std::byte> part : in)  // inputs are only read: the kernels declare them so
    memory.emplace_back(const_cast<std::byte*>(part.data()), part.size());
  memory.push_back(out);
  const std::vector<View> all = complete_views(op, views, memory);
  const auto limit = static_cast<std::int64_t>(device.info().max_allocation);
  if (fits(memory, limit)) {
    const Plan cached = ops::cached_plan(op, all, device, options);
    run_slice(cached, device, memory);
    return cached.report();
  }
  const ops::OpEntry& entry = ops::entry(op.name);
  if (!entry.slices)
    throw Error(Errc::out_of_memory,
                {.message = "an array exceeds the largest buffer of " + std::to_string(limit) + " bytes",
                 .op = to_string(op),
                 .device = device.info().label(),
                 .remedy = "split the arrays, or use a device with larger buffers"});
  PlanReport report;
  for (const ops::Slice& slice : entry.slices(op, all, device, options, limit)) {
    std::vector<std::span<std::byte>> parts;
    for (std::size_t i = 0; i < memory.size(); ++i)
      parts.push_back(memory[i].subspan(static_cast<std::size_t>(slice.ranges[i].begin),
                                        static_cast<std::size_t>(slice.ranges[i].bytes)));
    run_slice(Plan(slice.plan), device, parts);
    if (report.candidate.empty()) report = slice.plan->report;
  }
  report.op = to_string(op);
  report.device = device.info().label();
  return report;
}

}  // namespace axisloom
