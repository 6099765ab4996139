// Running a plan: buffers are checked against the views, bound to the launches, and queued.
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include "core/integers.hpp"
#include "core/overlap.hpp"
#include "core/text.hpp"
#include "planner/checked_log.hpp"
#include "planner/plan_impl.hpp"
#include "planner/workspace.hpp"

#include <array>
#include <optional>

namespace axisloom {
namespace {

using core::Overlap;
using ops::Arrays;

/// Buffers of a plan or a launch, usually: a run of those with more allocates.
constexpr size_t usual_buffers = 8;

/// What a launch of a run waits for besides what the caller names: the launch before, or cleared tickets.
constexpr size_t most_own_waits = 1;

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

// Why a buffer does not do for a view.
[[noreturn, gnu::cold]] void refuse_buffer(const PlanImpl& plan, size_t i, const device::Buffer* buffer) {
  if (!buffer) refuse(plan, role(plan, i) + " is empty");
  const View& view = plan.views[i];
  const Demand& demand = plan.demands[i];
  const Bounds bounds = view.bounds();
  if (demand.starts_before || demand.bytes > buffer->bytes())
    refuse(plan, concat(role(plan, i), " has ", buffer->bytes(), " bytes, its view touches elements ", bounds.low,
                        " to ", bounds.high - 1, " of ", size_of(view.dtype), " bytes"));
  refuse(plan,
         concat(role(plan, i), " is aligned to ", buffer->alignment(), " bytes, its view was planned with ", view.align,
                " and needs ", demand.alignment),
         "plan with View::align of the buffer");
}

void check_buffer(const PlanImpl& plan, size_t i, const device::Buffer* buffer) {
  const Demand& demand = plan.demands[i];
  if (demand.bytes == 0 && !demand.starts_before) return;
  const bool will_do =
      buffer && !demand.starts_before && demand.bytes <= buffer->bytes() && demand.alignment <= buffer->alignment();
  if (!will_do) refuse_buffer(plan, i, buffer);
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

// Two buffers with bytes in common will do as long as their views have none.
[[gnu::cold]] void require_apart(const PlanImpl& plan, size_t i, Arrays buffers) {
  const Overlap overlap = shared(plan.views[i], *buffers[i], plan.views.back(), *buffers.back());
  if (overlap == Overlap::no) return;
  refuse(plan,
         overlap == Overlap::yes ? "output and input share memory"
                                 : "whether output and input share memory could not be decided within the work limit",
         "give an output of its own, or plan a square transpose with in_place", Errc::overlap);
}

void check_overlap(const PlanImpl& plan, Arrays buffers) {
  for (size_t i = 0; i + 1 < buffers.size(); ++i) {
    if (!buffers[i] || !buffers.back()) continue;
    if (!plan.in_place) {
      if (meet(*buffers[i], *buffers.back())) require_apart(plan, i, buffers);
    } else if (buffers[i]->location() != buffers.back()->location()) {
      refuse(plan, "planned in place, but input and output are different buffers",
             "give the same buffer twice, or plan without in_place");
    }
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

// The arguments of one launch, with what their addresses point to beside the plan's own.
class Binding {
 public:
  Binding(const Launch& launch, Arrays buffers, const ops::Workspace& workspace, const Buffer* log)
      : numbers_(2 * launch.buffers.size()), maps_(launch.buffers.size()), args_(3 * launch.buffers.size() + 2) {
    for (const LaunchBuffer& argument : launch.buffers)
      if (argument.view >= 0)
        add(argument, bound(buffers, argument.view), argument.offset, log);
      else
        add(argument, workspace.buffer(argument.view),
            number(argument.offset + workspace.begin(argument.view) / argument.element), log);
    if (log) args_.push_back(device::Arg::of(*log->impl()));
    args_.push_back(device::Arg::bytes(launch.params.data(), launch.params.size()));
  }
  std::span<const device::Arg> args() const { return args_; }

 private:
  void add(const LaunchBuffer& argument, device::Buffer& buffer, const i64& offset, const Buffer* log) {
    if (argument.map) {
      device::TensorMap& map = maps_.emplace_back(*argument.map);
      map.begin = size_t(offset * argument.element);
      args_.push_back(device::Arg::of(buffer, map));
      return;
    }
    args_.push_back(device::Arg::of(buffer));
    args_.push_back(device::Arg::value(offset));
    if (log) args_.push_back(device::Arg::value(number(i64(buffer.bytes()) / argument.element)));
  }
  const i64& number(i64 value) { return numbers_.emplace_back(value); }

  core::ShortList<i64, 2 * usual_buffers> numbers_;
  core::ShortList<device::TensorMap, usual_buffers> maps_;
  core::ShortList<device::Arg, 3 * usual_buffers + 2> args_;
};

// Queues the launches one after the other. When one fails, those before it have finished when the error goes on, since
// the caller may free the arrays then.
device::SharedEvent queue_launches(const PlanImpl& plan, device::Queue& queue, Arrays buffers,
                                   const ops::Workspace& memory, const Buffer* log, ops::Events& waits) {
  device::SharedEvent last;
  size_t i = 0;
  try {
    for (; i < plan.launches.size(); ++i) {
      if (last) {
        waits.clear();
        waits.push_back(std::move(last));
      }
      const Launch& launch = plan.launches[i];
      const Binding binding(launch, buffers, memory, log);
      last = queue.launch(*plan.programs[i], launch.kernel.kernel, launch.geometry, binding.args(), waits);
    }
  } catch (...) {
    if (i > 0 || memory.filled()) queue.drain();
    throw;
  }
  return last;
}

void check_arrays(const PlanImpl& plan, Arrays buffers) {
  if (buffers.size() != plan.demands.size())
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

// Whether arrays that begin there are as the plan wants them, and the output plainly apart from the inputs: where one
// may lie within another's gaps, the views have to be looked at.
[[gnu::hot]] bool plainly_right(std::span<const Demand> demands, std::span<const void* const> inputs,
                                const void* output) {
  const auto is_aligned = [](u64 begin, const Demand& demand) {
    return begin != 0 && (begin & (demand.alignment - 1)) == 0;
  };
  const u64 out = u64(output), out_end = out + demands[inputs.size()].bytes;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const u64 begin = u64(inputs[i]);
    if (!is_aligned(begin, demands[i])) return false;
    if (begin < out_end && out < begin + demands[i].bytes) return false;
  }
  return is_aligned(out, demands[inputs.size()]);
}

}  // namespace

namespace ops {

[[gnu::hot]] bool run_direct(const PlanImpl& plan, std::span<const void* const> inputs, void* output) {
  if (!plan.direct || !plainly_right(plan.direct->demands, inputs, output)) return false;
  for (const DirectLaunch& launch : plan.direct->launches) {
    std::array<const void*, 2 * DirectLaunch::most_buffers + 1> values;
    for (size_t i = 0; i < launch.buffers; ++i) {
      const size_t view = launch.view[i];
      values[2 * i] = view < inputs.size() ? &inputs[view] : &output;
      values[2 * i + 1] = &launch.offset[i];
    }
    values[2 * launch.buffers] = launch.params;
    launch.ready->run(values.data());
  }
  return true;
}

void run_here(const PlanImpl& plan, Arrays buffers) {
  check_arrays(plan, buffers);
  Events waits(most_own_waits);
  queue_checked(plan, plan.here, buffers, {}, waits);
}

}  // namespace ops

Event Plan::run(const Queue& queue, std::span<const Buffer> buffers, const Buffer& workspace,
                std::span<const Event> wait) const {
  const PlanImpl& plan = ops::impl_of(*this);
  core::ShortList<device::Buffer*, usual_buffers> arrays(buffers.size());
  for (const Buffer& buffer : buffers) arrays.push_back(buffer.impl().get());
  check_arrays(plan, arrays);
  check_workspace(plan, arrays, workspace);
  if (!queue.impl()) refuse(plan, "the queue is empty", "make it with Device::queue or borrow_queue");
  ops::Events waits(wait.size() + most_own_waits);
  for (const Event& event : wait)
    if (event.impl()) waits.push_back(event.impl());
  return Event(queue_checked(plan, queue, arrays, workspace, waits));
}

}  // namespace axisloom
