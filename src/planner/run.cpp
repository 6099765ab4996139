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

namespace axisloom {
namespace {

using Buffers = std::span<const Buffer>;
using core::Overlap;

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

void check_buffer(const PlanImpl& plan, size_t i, const Buffer& buffer) {
  const View& view = plan.views[i];
  const Bounds bounds = view.bounds();
  const auto size = i64(size_of(view.dtype));
  if (bounds.low == bounds.high) return;
  if (!buffer) refuse(plan, role(plan, i) + " is empty");
  if (bounds.low < 0 || bounds.high * size > i64(buffer.bytes()))
    refuse(plan, concat(role(plan, i), " has ", buffer.bytes(), " bytes, its view touches elements ", bounds.low,
                        " to ", bounds.high - 1, " of ", size, " bytes"));
  // OpenCL promises no more than the widest access for what a device allocates, and no kernel asks for more.
  const size_t needed = std::min(size_t(view.align), widest_access);
  if (buffer.impl()->alignment() < needed)
    refuse(plan,
           concat(role(plan, i), " is aligned to ", buffer.impl()->alignment(), " bytes, its view was planned with ",
                  view.align, " and needs ", needed),
           "plan with View::align of the buffer");
}

// Whether two buffers have a byte in common, whoever uses it.
bool meet(const Buffer& a, const Buffer& b) {
  const device::Location first = a.impl()->location(), second = b.impl()->location();
  return first.space == second.space && first.begin < second.begin + b.bytes() &&
         second.begin < first.begin + a.bytes();
}

Overlap shared(const View& a, const Buffer& a_buffer, const View& b, const Buffer& b_buffer) {
  if (!meet(a_buffer, b_buffer)) return Overlap::no;
  return core::shares_memory(a, a_buffer.impl()->location().begin, b, b_buffer.impl()->location().begin);
}

void check_overlap(const PlanImpl& plan, Buffers buffers) {
  const View& out = plan.views.back();
  for (size_t i = 0; i + 1 < buffers.size(); ++i) {
    if (!buffers[i] || !buffers.back()) continue;
    if (plan.in_place) {
      if (buffers[i].impl()->location() != buffers.back().impl()->location())
        refuse(plan, "planned in place, but input and output are different buffers",
               "give the same buffer twice, or plan without in_place");
      continue;
    }
    const Overlap overlap = shared(plan.views[i], buffers[i], out, buffers.back());
    if (overlap == Overlap::no) continue;
    refuse(plan,
           overlap == Overlap::yes ? "output and input share memory"
                                   : "whether output and input share memory could not be decided within the work limit",
           "give an output of its own, or plan a square transpose with in_place", Errc::overlap);
  }
}

void check_workspace(const PlanImpl& plan, Buffers buffers, const Buffer& workspace) {
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
    if (!buffers[i] || !meet(buffers[i], workspace)) continue;
    const View used = View::contiguous(Dtype::u8, {i64(bytes)});
    if (shared(plan.views[i], buffers[i], used, workspace) != Overlap::no)
      refuse(plan, "the workspace and " + role(plan, i) + " share memory", remedy, Errc::overlap);
  }
}

// An array without elements may come without a buffer; its kernel gets the output's, of which it reads nothing.
device::Buffer& bound(Buffers buffers, int view) {
  const Buffer& given = buffers[view];
  return given ? *given.impl() : *buffers.back().impl();
}

// The arguments of one launch, with the storage that their addresses point into.
class Binding {
 public:
  Binding(const Launch& launch, Buffers buffers, const ops::Workspace& workspace, const Buffer* log) {
    numbers_.reserve(2 * launch.buffers.size());
    maps_.reserve(launch.buffers.size());
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
  std::vector<i64> numbers_;
  std::vector<device::TensorMap> maps_;
  std::vector<device::Arg> args_;
};

// Queues the launches one after the other. When one fails, those before it have finished when the error goes on, since
// the caller may free the arrays then.
Event queue_launches(const PlanImpl& plan, device::Queue& queue, Buffers buffers, const ops::Workspace& memory,
                     const Buffer* log, ops::Events& waits) {
  Event last;
  try {
    for (size_t i = 0; i < plan.launches.size(); ++i) {
      const Launch& launch = plan.launches[i];
      const Binding binding(launch, buffers, memory, log);
      last = Event(queue.launch(*plan.programs[i], launch.kernel.kernel, launch.geometry, binding.args(), waits));
      waits = {last.impl()};
    }
  } catch (...) {
    if (last.impl() || memory.filled()) queue.drain();
    throw;
  }
  return last;
}

}  // namespace

Event Plan::run(const Queue& queue, Buffers buffers, const Buffer& workspace, std::span<const Event> wait) const {
  const PlanImpl& plan = ops::impl_of(*this);
  if (buffers.size() != plan.views.size())
    refuse(plan, concat("needs ", plan.views.size(), " buffers, got ", buffers.size()));
  for (size_t i = 0; i < buffers.size(); ++i) check_buffer(plan, i, buffers[i]);
  if (!plan.launches.empty() && !buffers.back()) refuse(plan, "the output buffer is empty");
  check_overlap(plan, buffers);
  check_workspace(plan, buffers, workspace);
  if (!queue.impl()) refuse(plan, "the queue is empty", "make it with Device::queue or borrow_queue");

  ops::Events waits;
  for (const Event& event : wait)
    if (event.impl()) waits.push_back(event.impl());
  ops::Workspace memory(plan, queue, workspace, waits);
  std::optional<ops::CheckedLog> log;
  if (plan.checked) log.emplace(plan.device, queue);
  Event last = queue_launches(plan, *queue.impl(), buffers, memory, log ? &log->buffer() : nullptr, waits);
  memory.queued();
  if (log) log->require_clean(plan.report.op + " (" + plan.report.candidate + ")");
  return last;
}

}  // namespace axisloom
