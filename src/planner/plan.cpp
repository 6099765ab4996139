// Plans: made by the operation's registry entry, run by binding buffers to the launches that it lowered to.
#include <axisloom/error.hpp>
#include <axisloom/plan.hpp>

#include "core/integers.hpp"
#include "core/overlap.hpp"
#include "core/text.hpp"
#include "planner/choose.hpp"
#include "planner/plan_cache.hpp"
#include "planner/plan_impl.hpp"
#include "planner/registry.hpp"

#include <algorithm>
#include <optional>

namespace axisloom {
namespace {

Demand demand_of(const View& view) {
  const Bounds bounds = view.bounds();
  if (bounds.low == bounds.high) return {};
  // OpenCL promises no more than the widest access for what a device allocates, and no kernel asks for more.
  return {.bytes = u64(bounds.high) * size_of(view.dtype),
          .alignment = u32(std::min<u64>(u64(view.align), widest_access)),
          .starts_before = bounds.low < 0};
}

}  // namespace

void PlanImpl::set_views(Views of_plan) {
  views.assign(of_plan.begin(), of_plan.end());
  demands.clear();
  for (const View& view : views) demands.push_back(demand_of(view));
}

namespace {

bool takes_addresses_alone(const Launch& launch) {
  constexpr auto most = DirectLaunch::most_buffers;
  return launch.buffers.size() <= most && std::ranges::all_of(launch.buffers, [](const LaunchBuffer& buffer) {
           return buffer.view >= 0 && !buffer.map;
         });
}

DirectLaunch direct_launch(device::Queue& queue, const Launch& launch, device::Program& program) {
  DirectLaunch direct{.ready = queue.ready(program, launch.kernel.kernel, launch.geometry),
                      .params = launch.params.data()};
  for (const LaunchBuffer& buffer : launch.buffers) {
    direct.view[direct.buffers] = u8(buffer.view);
    direct.offset[direct.buffers++] = buffer.offset;
  }
  return direct;
}

}  // namespace

void PlanImpl::set_runs_here() {
  here = Queue(device.impl()->immediate_queue());
  const auto plain = [](const Demand& demand) { return demand.bytes > 0 && !demand.starts_before; };
  const bool alone = demands.size() <= DirectLaunch::most_buffers && std::ranges::all_of(demands, plain) &&
                     std::ranges::all_of(launches, takes_addresses_alone);
  if (!here.impl() || checked || in_place || launches.empty() || !alone) return;
  auto run = std::make_unique<DirectRun>(launches.size());
  std::ranges::copy(demands, run->demands.begin());
  for (size_t i = 0; i < launches.size(); ++i)
    run->launches.push_back(direct_launch(*here.impl(), launches[i], *programs[i]));
  std::ranges::copy(launches[0].params, run->params.begin());
  run->launches[0].params = run->params.data();
  direct = std::move(run);
}

namespace ops {
namespace {

/// "f32[3,4], f32[4,5] -> f32[3,5]"; the output may not be known yet.
std::string shapes_text(Views views, size_t inputs) {
  std::string text;
  for (size_t i = 0; i < views.size(); ++i) text += (i == 0 ? "" : i == inputs ? " -> " : ", ") + to_string(views[i]);
  return text;
}

/// How many of the views are inputs, as far as the operation lets itself be asked.
size_t inputs_among(const Operation& op, Views views) try {
  return std::min(views.size(), size_t(entry(op.name).inputs(op)));
} catch (const std::exception&) {
  return views.size();
}

void check_words(const Operation& op, const OpEntry& entry) {
  if (op.arguments.size() != entry.arguments.size()) {
    std::string names;
    for (const Argument& argument : entry.arguments) names += concat(" <", argument.name, ">");
    throw Error(Errc::usage, "wrong number of arguments", "write " + op.name + names);
  }
  if (!entry.lengths && !op.lengths.empty())
    throw Error(Errc::usage, "takes no lengths, got " + op.lengths.front().first + "=...");
}

void check_options(const Operation& op, const OpEntry& entry) {
  for (const auto& [name, value] : op.options) {
    if (std::ranges::count(op.options, name, &Options::value_type::first) > 1)
      throw Error(Errc::usage, "option '" + name + "' is given twice", "give it once");
    const auto known = std::ranges::find(entry.options, name, &Option::name);
    if (known == entry.options.end()) {
      const std::string names = joined(entry.options, ", ", &Option::name);
      throw Error(Errc::usage, "has no option '" + name + "'",
                  names.empty() ? "it takes no options" : "its options are " + names);
    }
    if (known->length)
      throw Error(Errc::usage, "'" + name + "' is a length, not an option", "give it among the lengths");
    if (known->value.empty() != value.empty())
      throw Error(Errc::usage, "option '" + name + (value.empty() ? "' needs a value" : "' takes no value"));
  }
}

/// The entry of an operation whose arguments and options are as it wants them.
const OpEntry& checked_entry(const Operation& op) {
  const OpEntry& found = entry(op.name);
  check_words(op, found);
  check_options(op, found);
  return found;
}

// Adds what is known about the operation to an error on its way out.
auto in_context(const Operation& op, Views views, const Device* device, auto&& body) {
  try {
    return body();
  } catch (const Error& error) {
    throw error.with({.op = to_string(op),
                      .shapes = shapes_text(views, inputs_among(op, views)),
                      .device = device && *device ? device->info().label() : ""});
  }
}

}  // namespace

void refuse_empty_plan() {
  throw Error(Errc::usage, "this Plan is empty", "make it with plan or warm_up");
}

void check_output(const View& out, const View& result) {
  if (result.dtype != out.dtype || !(result.shape == out.shape))
    throw Error(result.dtype != out.dtype ? Errc::dtype : Errc::shape,
                "the result is " + to_string(result) + ", the output view " + to_string(out),
                "give an output of that dtype and shape");
  if (core::overlaps_itself(out) != core::Overlap::no)
    throw Error(Errc::overlap, "two elements of the output may lie at one address",
                "give an output whose strides keep its elements apart");
}

void append(PlanImpl& plan, const PlanImpl& part, std::span<const Place> places, i64 workspace_begin) {
  for (Launch launch : part.launches) {
    for (LaunchBuffer& buffer : launch.buffers) {
      if (buffer.view == tickets_view) continue;
      const Place place = buffer.view == workspace_view ? Place{workspace_view, workspace_begin} : places[buffer.view];
      if (place.bytes % buffer.element != 0)
        throw Error(Errc::unsupported, "a part of the plan begins within an element of " + launch.kernel.file);
      buffer.view = place.view;
      buffer.offset += place.bytes / buffer.element;
    }
    plan.launches.push_back(std::move(launch));
  }
  plan.programs.insert(plan.programs.end(), part.programs.begin(), part.programs.end());
  plan.tickets = std::max(plan.tickets, part.tickets);
}

void repeat(PlanImpl& plan, std::span<const std::vector<Place>> others) {
  PlanImpl once;
  once.launches = plan.launches;
  once.programs = plan.programs;
  for (const std::vector<Place>& places : others) append(plan, once, places, 0);
  plan.report.expected_seconds *= double(others.size() + 1);
}

void compile(PlanImpl& plan) {
  const device::HeldLines lines;  // other threads may be waiting for the programs that are made here
  for (Launch& launch : plan.launches) {
    launch.kernel.checked = plan.checked;
    const jit::LaunchForm form{launch.geometry.groups, launch.buffers.size(), launch.params.size()};
    plan.programs.push_back(jit::obtain(*plan.device.impl(), launch.kernel, form));
  }
}

}  // namespace ops

const PlanReport& Plan::report() const {
  return ops::impl_of(*this).report;
}
Views Plan::views() const {
  return ops::impl_of(*this).views;
}
const Device& Plan::device() const {
  return ops::impl_of(*this).device;
}

Plan ops::new_plan(const Operation& op, Views views, const Device& device, const PlanOptions& options) {
  return ops::in_context(op, views, &device, [&] {
    device.info();  // an empty one is refused here
    const ops::OpEntry& entry = ops::checked_entry(op);
    const auto inputs = size_t(entry.inputs(op));
    if (views.size() != inputs && views.size() != inputs + 1)
      throw Error(Errc::usage, concat("takes ", inputs, " inputs and at most one output view"));
    for (const View& input : views.first(inputs)) validate(input, "input");
    const View result = entry.result(op, views.first(inputs));
    std::vector<View> all(views.begin(), views.end());
    if (all.size() == inputs) all.push_back(result);
    validate(all.back(), "output");
    if (views.size() > inputs) ops::check_output(all.back(), result);
    SharedPlan made = entry.plan(op, all, device, ops::options_for(device.info(), options));
    PlanReport& report = made->report;
    if (made->tickets > 0) {
      const size_t tickets_begin = (report.workspace_bytes + 3) / 4 * 4;
      report.workspace_bytes = tickets_begin + size_t(made->tickets) * sizeof(u32);
    }
    report.op = to_string(op);
    report.shapes = ops::shapes_text(all, inputs);
    report.device = device.info().label();
    made->set_runs_here();
    return Plan(std::move(made));
  });
}

// A borrowed context may be gone tomorrow, and nobody would thank us for retaining it.
Plan plan(const Operation& op, Views views, const Device& device, const PlanOptions& options) {
  const bool remembered = device.impl() && device.impl()->stays_open;
  return remembered ? ops::cached_plan(op, views, device, options) : ops::new_plan(op, views, device, options);
}

std::vector<Plan> warm_up(std::span<const PlanRequest> requests, const Device& device) {
  std::vector<Plan> plans;
  for (const PlanRequest& request : requests) plans.push_back(plan(request.op, request.views, device, request.options));
  return plans;
}

View result_view(const Operation& op, Views inputs) {
  return ops::in_context(op, inputs, nullptr, [&] {
    const ops::OpEntry& entry = ops::checked_entry(op);
    if (const int takes = entry.inputs(op); inputs.size() != size_t(takes))
      throw Error(Errc::usage, concat("takes ", takes, takes == 1 ? " input" : " inputs"));
    for (const View& view : inputs) validate(view, "input");
    return entry.result(op, inputs);
  });
}

}  // namespace axisloom
