// Running a plan: buffers are checked against the views, bound to the launches, and queued.
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include "core/integers.hpp"
#include "core/overlap.hpp"
#include "core/text.hpp"
#include "planner/checked_log.hpp"
#include "planner/plan_impl.hpp"
#include "planner/workspace.hpp"

#include <algorithm>
#include <array>
#include <cstddef>
#include <memory_resource>

namespace axisloom {
namespace {

using core::Overlap;
using ops::Arrays;

/// Memory for the length of a run: on the stack, as long as it lasts.
class Arena {
 public:
  std::pmr::memory_resource* get() { return &resource_; }

 private:
  static constexpr size_t bytes = 2048;  // two launches of eight buffers each
  alignas(std::max_align_t) std::array<std::byte, bytes> memory_;
  std::pmr::monotonic_buffer_resource resource_{memory_.data(), bytes};
};

[[noreturn]] void refuse(const PlanImpl& plan, std::string message, std::string remedy = {}, Errc code = Errc::usage) {
  throw Error(code, {.message = std::move(message),
                     .op = plan.report.op,
                     .shapes = plan.report.shapes,
                     .device = plan.report.device,
                     .remedy = std::move(remedy)});
}

std::string role(const PlanImpl& plan, size_t i) {
  return i + 1 == plan.views.size() ? "the output buffer" : concat("input buffer ", i);
}

void check_buffer(const PlanImpl& plan, size_t i, const device::Buffer* buffer) {
  const View& view = plan.views[i];
  const Bounds bounds = view.bounds();
  const auto size = i64(size_of(view.dtype));
  if (bounds.low == bounds.high) return;
  if (!buffer) refuse(plan, role(plan, i) + " is empty");
  if (bounds.low < 0 || bounds.high * size > i64(buffer->bytes()))
    refuse(plan, concat(role(plan, i), " has ", buffer->bytes(), " bytes, its view touches elements ", bounds.low,
                        " to ", bounds.high - 1, " of ", size, " bytes"));
  // OpenCL promises no more than the widest access for what a device allocates, and no kernel asks for more.
  const size_t needed = std::min(size_t(view.align), widest_access);
  if (buffer->alignment() < needed)
    refuse(plan,
           concat(role(plan, i), " is aligned to ", buffer->alignment(), " bytes, its view was planned with ",
                  view.align, " and needs ", needed),
           "plan with View::align of the buffer");
}

// Whether two buffers have a byte in common, whoever uses it.
bool meet(const device::Buffer& a, const device::Buffer& b) {
  const device::Location first = a.location(), second = b.location();
  return first.space == second.space && first.begin < second.begin + b.bytes() &&
         second.begin < first.begin + a.bytes();
}

Overlap shared(const View& a, const device::Buffer& a_buffer, const View& b, const device::Buffer& b_buffer) {
  if (!meet(a_buffer, b_buffer)) return Overlap::no;
  return core::shares_memory(a, a_buffer.location().begin, b, b_buffer.location().begin);
}

void check_overlap(const PlanImpl& plan, Arrays buffers) {
  const View& out = plan.views.back();
  for (size_t i = 0; i + 1 < buffers.size(); ++i) {
    if (!buffers[i] || !buffers.back()) continue;
    if (plan.in_place) {
      if (buffers[i]->location() != buffers.back()->location())
        refuse(plan, "planned in place, but input and output are different buffers",
               "give the same buffer twice, or plan without in_place");
      continue;
    }
    const Overlap overlap = shared(plan.views[i], *buffers[i], out, *buffers.back());
    if (overlap == Overlap::no) continue;
    refuse(plan,
           overlap == Overlap::yes ? "output and input share memory"
                                   : "whether output and input share memory could not be decided within the work limit",
           "give an output of its own, or plan a square transpose with in_place", Errc::overlap);
  }
}

void check_workspace(const PlanImpl& plan, Arrays buffers, const Buffer& workspace) {
  const size_t bytes = plan.report.workspace_bytes;
  if (bytes == 0 || !workspace) return;
  constexpr const char* remedy = "give a buffer of PlanReport::workspace_bytes as Device::allocate makes them, or none";
  if (workspace.bytes() < bytes)
    refuse(plan, concat("needs a workspace of ", bytes, " bytes, got ", workspace.bytes()), remedy);
  if (workspace.impl()->alignment() < widest_access)
    refuse(plan,
           concat("needs a workspace that is aligned to ", widest_access, " bytes, got one aligned to ",
                  workspace.impl()->alignment()),
           remedy);
  for (size_t i = 0; i < buffers.size(); ++i) {
    if (!buffers[i] || !meet(*buffers[i], *workspace.impl())) continue;
    const View used = View::contiguous(Dtype::u8, {i64(bytes)});
    if (shared(plan.views[i], *buffers[i], used, *workspace.impl()) != Overlap::no)
      refuse(plan, "the workspace and " + role(plan, i) + " share memory", remedy, Errc::overlap);
  }
}

// An array without elements may come without a buffer; its kernel gets the output's, of which it reads nothing.
device::Buffer& bound(Arrays buffers, int view) {
  return buffers[view] ? *buffers[view] : *buffers.back();
}

// The arguments of one launch, with the storage that their addresses point into.
class Binding {
 public:
  Binding(const Launch& launch, Arrays buffers, const ops::Workspace& workspace, const Buffer* log,
          std::pmr::memory_resource* memory)
      : numbers_(memory), maps_(memory), args_(memory) {
    numbers_.reserve(2 * launch.buffers.size());
    maps_.reserve(launch.buffers.size());
    args_.reserve(3 * launch.buffers.size() + 2);
    for (const LaunchBuffer& argument : launch.buffers) {
      const bool own = argument.view >= 0;
      device::Buffer& buffer = own ? bound(buffers, argument.view) : workspace.buffer(argument.view);
      const i64 offset = argument.offset + (own ? 0 : workspace.begin(argument.view) / argument.element);
      if (argument.map) {
        map(buffer, *argument.map, size_t(offset * argument.element));
        continue;
      }
      args_.push_back(device::Arg::of(buffer));
      number(offset);
      if (log) number(i64(buffer.bytes()) / argument.element);
    }
    if (log) args_.push_back(device::Arg::of(*log->impl()));
    args_.push_back(device::Arg::bytes(launch.params.data(), launch.params.size()));
  }
  std::span<const device::Arg> args() const { return args_; }

 private:
  void number(i64 value) {
    numbers_.push_back(value);
    args_.push_back(device::Arg::value(numbers_.back()));
  }
  void map(device::Buffer& buffer, device::TensorMap map, size_t begin) {
    map.begin = begin;
    maps_.push_back(map);
    args_.push_back(device::Arg::of(buffer, maps_.back()));
  }
  std::pmr::vector<i64> numbers_;
  std::pmr::vector<device::TensorMap> maps_;
  std::pmr::vector<device::Arg> args_;
};

// Queues the launches one after the other. When one fails, those before it have finished when the error goes on, since
// the caller may free the arrays then.
device::SharedEvent queue_launches(const PlanImpl& plan, device::Queue& queue, Arrays buffers,
                                   const ops::Workspace& memory, const Buffer* log, ops::Events& waits) {
  device::SharedEvent last;
  try {
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      if (last) waits.assign(1, last);
      const Launch& launch = plan.launches[i];
      const Binding binding(launch, buffers, memory, log, waits.get_allocator().resource());
      last = queue.launch(*plan.programs[i], launch.kernel.kernel, launch.geometry, binding.args(), waits);
    }
  } catch (...) {
    if (last || memory.filled()) queue.drain();
    throw;
  }
  return last;
}

void check_arrays(const PlanImpl& plan, Arrays buffers) {
  if (buffers.size() != plan.views.size())
    refuse(plan, concat("needs ", plan.views.size(), " buffers, got ", buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i) check_buffer(plan, i, buffers[i]);
  if (!plan.launches.empty() && !buffers.back()) refuse(plan, "the output buffer is empty");
  check_overlap(plan, buffers);
}

device::SharedEvent queue_checked(const PlanImpl& plan, const Queue& queue, Arrays buffers, const Buffer& workspace,
                                  ops::Events& waits) {
  ops::Workspace memory(plan, *queue.impl(), workspace, waits);
  std::optional<ops::CheckedLog> log;
  if (plan.checked) log.emplace(plan.device, queue);
  device::SharedEvent last =
      queue_launches(plan, *queue.impl(), buffers, memory, log ? &log->buffer() : nullptr, waits);
  memory.queued();
  if (log) log->require_clean(plan.report.op + " (" + plan.report.candidate + ")");
  return last;
}

}  // namespace

namespace ops {

void run_here(const PlanImpl& plan, Arrays buffers) {
  check_arrays(plan, buffers);
  Arena arena;
  Events waits(arena.get());
  queue_checked(plan, plan.here, buffers, {}, waits);
}

}  // namespace ops

Event Plan::run(const Queue& queue, std::span<const Buffer> buffers, const Buffer& workspace,
                std::span<const Event> wait) const {
  const PlanImpl& plan = ops::impl_of(*this);
  Arena arena;
  std::pmr::vector<device::Buffer*> arrays(arena.get());
  arrays.reserve(buffers.size());
  for (const Buffer& buffer : buffers) arrays.push_back(buffer.impl().get());
  check_arrays(plan, arrays);
  check_workspace(plan, arrays, workspace);
  if (!queue.impl()) refuse(plan, "the queue is empty", "make it with Device::queue or borrow_queue");
  ops::Events waits(arena.get());
  for (const Event& event : wait)
    if (event.impl()) waits.push_back(event.impl());
  return Event(queue_checked(plan, queue, arrays, workspace, waits));
}

}  // namespace axisloom
