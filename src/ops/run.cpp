// Running a plan: buffers are checked against the views, bound to the launches, and queued.
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include "core/overlap.hpp"
#include "ops/checked_log.hpp"
#include "ops/plan_impl.hpp"
#include "ops/workspace.hpp"

namespace axisloom {
namespace {

[[noreturn]] void refuse(const PlanImpl& plan, Errc code, std::string message, std::string remedy = {}) {
  throw Error(code, {.message = std::move(message),
                     .op = plan.report.op,
                     .shapes = plan.report.shapes,
                     .device = plan.report.device,
                     .remedy = std::move(remedy)});
}

std::string role(const PlanImpl& plan, std::size_t i) {
  return i + 1 == plan.views.size() ? "the output buffer" : "input buffer " + std::to_string(i);
}

void check_buffer(const PlanImpl& plan, std::size_t i, const Buffer& buffer) {
  const View& view = plan.views[i];
  const Bounds bounds = view.bounds();
  const auto size = static_cast<std::int64_t>(size_of(view.dtype));
  if (bounds.low == bounds.high) return;
  if (!buffer) refuse(plan, Errc::usage, role(plan, i) + " is empty");
  if (bounds.low < 0 || bounds.high * size > static_cast<std::int64_t>(buffer.bytes()))
    refuse(plan, Errc::usage,
           role(plan, i) + " has " + std::to_string(buffer.bytes()) + " bytes, its view touches elements " +
               std::to_string(bounds.low) + " to " + std::to_string(bounds.high - 1) + " of " + std::to_string(size) +
               " bytes");
  if (buffer.impl()->alignment() < static_cast<std::size_t>(view.align))
    refuse(plan, Errc::usage,
           role(plan, i) + " is aligned to " + std::to_string(buffer.impl()->alignment()) +
               " bytes, its view was planned with " + std::to_string(view.align),
           "plan with View::align of the buffer");
}

// Where a buffer begins in an address space that it shares with the other: null when they cannot meet.
std::optional<std::pair<std::uint64_t, std::uint64_t>> addresses(const Device& device, const Buffer& a,
                                                                 const Buffer& b) {
  const auto number = [](void* p) { return reinterpret_cast<std::uint64_t>(p); };
  if (device.info().api == Api::cuda) return std::pair{number(a.impl()->native()), number(b.impl()->native())};
  if (a.impl()->native() == b.impl()->native()) return std::pair<std::uint64_t, std::uint64_t>{0, 0};
  if (a.impl()->host() && b.impl()->host()) return std::pair{number(a.impl()->host()), number(b.impl()->host())};
  return std::nullopt;
}

void check_overlap(const PlanImpl& plan, std::span<const Buffer> buffers) {
  const View& out = plan.views.back();
  for (std::size_t i = 0; i + 1 < buffers.size(); ++i) {
    if (!buffers[i] || !buffers.back()) continue;
    const auto starts = addresses(plan.device, buffers[i], buffers.back());
    if (plan.in_place) {
      if (!starts || starts->first != starts->second)
        refuse(plan, Errc::usage, "planned in place, but input and output are different buffers",
               "give the same buffer twice, or plan without in_place");
      continue;
    }
    if (!starts) continue;
    const core::Overlap overlap = core::shares_memory(plan.views[i], starts->first, out, starts->second);
    if (overlap == core::Overlap::no) continue;
    refuse(plan, Errc::overlap,
           overlap == core::Overlap::yes
               ? "output and input share memory"
               : "whether output and input share memory could not be decided within the work limit",
           "give an output of its own, or plan a square transpose with in_place");
  }
}

// The arguments of one launch, with the storage that their addresses point into.
class Binding {
 public:
  Binding(const Launch& launch, std::span<const Buffer> buffers, const ops::Workspace& workspace, const Buffer* log) {
    numbers_.reserve(2 * launch.buffers.size());
    maps_.reserve(launch.buffers.size());
    for (const LaunchBuffer& argument : launch.buffers) {
      const bool own = argument.view >= 0;
      device::Buffer& buffer =
          own ? *buffers[static_cast<std::size_t>(argument.view)].impl() : workspace.buffer(argument.view);
      const std::int64_t offset = argument.offset + (own ? 0 : workspace.begin(argument.view) / argument.element);
      if (argument.map) {
        map(buffer, *argument.map, static_cast<std::size_t>(offset * argument.element));
        continue;
      }
      args_.push_back(device::Arg::of(buffer));
      number(offset);
      if (log) number(static_cast<std::int64_t>(buffer.bytes()) / argument.element);
    }
    if (log) args_.push_back(device::Arg::of(*log->impl()));
    args_.push_back(device::Arg::bytes(launch.params.data(), launch.params.size()));
  }
  std::span<const device::Arg> args() const { return args_; }

 private:
  void number(std::int64_t value) {
    numbers_.push_back(value);
    args_.push_back(device::Arg::bytes(&numbers_.back(), sizeof(std::int64_t)));
  }
  void map(device::Buffer& buffer, device::TensorMap map, std::size_t begin) {
    map.begin = begin;
    maps_.push_back(map);
    args_.push_back(device::Arg::of(buffer, maps_.back()));
  }
  std::vector<std::int64_t> numbers_;
  std::vector<device::TensorMap> maps_;
  std::vector<device::Arg> args_;
};

}  // namespace

Event Plan::run(const Queue& queue, std::span<const Buffer> buffers, const Buffer& workspace,
                std::span<const Event> wait) const {
  const PlanImpl& plan = *impl_;
  if (buffers.size() != plan.views.size())
    refuse(plan, Errc::usage,
           "needs " + std::to_string(plan.views.size()) + " buffers, got " + std::to_string(buffers.size()));
  for (std::size_t i = 0; i < buffers.size(); ++i) check_buffer(plan, i, buffers[i]);
  check_overlap(plan, buffers);

  std::vector<std::shared_ptr<device::Event>> waits;
  for (const Event& event : wait)
    if (event.impl()) waits.push_back(event.impl());
  ops::Workspace memory(plan, queue, workspace, waits);
  std::optional<ops::CheckedLog> log;
  if (plan.checked) log.emplace(plan.device, queue);
  Event last;
  for (std::size_t i = 0; i < plan.launches.size(); ++i) {
    const Launch& launch = plan.launches[i];
    const Binding binding(launch, buffers, memory, log ? &log->buffer() : nullptr);
    last = Event(queue.impl()->launch(*plan.programs[i], launch.kernel.kernel, launch.geometry, binding.args(), waits));
    waits = {last.impl()};
  }
  memory.queued();
  if (log) log->require_clean(plan.report.op + " (" + plan.report.candidate + ")");
  return last;
}

}  // namespace axisloom
