// Asking the candidates, and what follows from the answer.
#include "planner/choose.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "jit/lacking.hpp"
#include "planner/configuration.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <optional>
#include <utility>

namespace axisloom::ops {
namespace {

/// "cpu or gpu"
template <class Enum>
std::string members(const core::EnumSet<Enum>& set) {
  std::string text;
  for (int value = 0; name(Enum(value)) != "unknown"; ++value)
    if (set.contains(Enum(value))) text.append(text.empty() ? "" : " or ").append(name(Enum(value)));
  return text;
}

/// What is wrong with a candidate whatever the problem; empty when nothing is.
std::string refused_unasked(const CandidateInfo& info, const DeviceInfo& device, const PlanOptions& options) {
  const bool forced = !options.candidate.empty();
  if (forced && info.name != options.candidate) return "'" + options.candidate + "' is forced";
  if (!info.runtimes.contains(device.api)) return "its kernel is written for " + members(info.runtimes);
  if (!info.runs_on.contains(device.kind)) return "its kernel is written for a " + members(info.runs_on);
  if (info.in_place != options.in_place) return info.in_place ? "works in place only" : "does not work in place";
  if (options.checked && !info.checkable && device.api != Api::host)
    return "bulk copies bypass the checked accesses of the dialect";
  if (forced) return {};
  if (!info.chosen_on.contains(device.kind)) return "runs here only when it is asked for by name";
  return fault_of(options.configuration, info.tunables);
}

/// Why every candidate refused, "; name: reason" each.
std::string refusals(std::span<const CandidateReport> reports, const PlanOptions& options) {
  std::string why;
  for (const CandidateReport& report : reports)
    if (options.candidate.empty() || report.name == options.candidate) why += "; " + report.name + ": " + report.reason;
  if (why.empty())
    throw Error(Errc::usage, "no candidate is called '" + options.candidate + "'", "do not force a candidate");
  return why;
}

[[noreturn]] void throw_refused(const Request& request, const std::string& why, const PlanOptions& options,
                                const Absent& absent) {
  if (options.in_place)
    throw Error(Errc::usage, concat("this ", request.noun, " cannot be done in place", why),
                "give an output of its own");
  if (options.checked && !absent.empty()) throw Error(Errc::unsupported, jit::no_checked_kernels, jit::compiler_remedy);
  if (!options.candidate.empty() && absent.contains(options.candidate))
    throw Error(Errc::unsupported, concat("no candidate can do this ", request.noun, why), jit::compiler_remedy);
  const bool open = options.candidate.empty() && options.configuration.empty();
  throw Error(Errc::unsupported, concat("no candidate can do this ", request.noun, why),
              open ? "do it in two steps, or on another device" : "do not force candidate or configuration");
}

}  // namespace

std::string beyond_limits(const DeviceInfo& device, const Group& group) {
  if (size_t(group.items) > device.max_group)
    return concat("groups of ", group.items, " exceed the device's ", device.max_group);
  if (size_t(group.local_bytes) > device.local_memory_max)
    return concat("needs ", group.local_bytes, " bytes of local memory, the device has ", device.local_memory_max);
  return {};
}

void require_f64(const DeviceInfo& device, std::string_view noun, std::initializer_list<Dtype> dtypes) {
  const auto needs_it = [](Dtype dtype) { return core::component_of(dtype) == Dtype::f64; };
  if (!device.f64 && std::ranges::any_of(dtypes, needs_it))
    throw Error(Errc::unsupported,
                concat("the device has no f64, which a ", noun, " of ", name(*std::ranges::find_if(dtypes, needs_it)),
                       " needs"),
                "use another dtype, or another device");
}

Proposal refuse(std::string reason) {
  return {.refusal = std::move(reason)};
}

void throw_too_many_axes(std::string_view noun, size_t axes, size_t most) {
  throw Error(Errc::unsupported,
              concat("the ", noun, " walks ", axes, " axes that cannot be merged, and kernels walk at most ", most),
              "do it in two steps, each of which splits fewer axes, or rearrange the arrays first");
}

PlanOptions options_for(const DeviceInfo& device, PlanOptions options) {
  // Of the forms that GPUs run, which a profile asks for, few are compiled with the library anyway.
  if (device::is_host(device)) options.index = IndexWidth::bits64;
  return options;
}

int index_bits(bool fits, IndexWidth wanted, std::string_view noun) {
  if (wanted == IndexWidth::bits32 && !fits)
    throw Error(Errc::usage, concat("32-bit indices cannot address every element of this ", noun),
                "do not force an index width");
  return fits && wanted != IndexWidth::bits64 ? 32 : 64;
}

Choice choose(const Request& request, const DeviceModel& device, const model::Stores& stores,
              const PlanOptions& options, std::vector<CandidateReport>& reports, const Absent& absent) {
  reports.clear();
  reports.reserve(request.candidates.size());
  std::optional<Choice> best;
  for (size_t i = 0; i < request.candidates.size(); ++i) {
    const CandidateInfo& info = request.candidates[i];
    Choice choice{&info, refuse(refused_unasked(info, device, options)), {}};
    Proposal& proposal = choice.proposal;
    if (const auto lacking = absent.find(info.name); lacking != absent.end()) proposal.refusal = lacking->second;
    if (proposal.refusal.empty()) {
      const Key key{concat(request.operation, "/", info.name), request.problem, request.shape_class};
      Found wish = lookup(key, info.tunables, device, options.configuration, stores);
      choice.configuration_source = std::move(wish.source);
      proposal = request.propose(i, wish.values, device);
      if (proposal.refusal.empty()) proposal.refusal = beyond_limits(device, proposal.group);
      if (proposal.refusal.empty() && options.candidate.empty()) proposal.refusal = proposal.by_name_only;
    }
    const bool accepted = proposal.refusal.empty();
    reports.push_back({std::string(info.name), accepted, proposal.refusal, accepted ? proposal.seconds : 0});
    if (accepted && (!best || proposal.seconds < best->proposal.seconds)) best = std::move(choice);
  }
  if (!best) throw_refused(request, refusals(reports, options), options, absent);
  return std::move(*best);
}

SharedPlan empty_plan(Views views, const Device& device, const PlanOptions& options) {
  auto plan = std::make_shared<PlanImpl>();
  plan->device = device;
  plan->set_views(views);
  plan->in_place = options.in_place;
  plan->checked = options.checked;
  plan->report.candidate = "none";
  return plan;
}

SharedPlan plan_of(Launch launch, Views views, const Device& device, const PlanOptions& options) {
  auto plan = empty_plan(views, device, options);
  plan->launches.push_back(std::move(launch));
  compile(*plan);
  return plan;
}

/// Why launches cannot be made of what was compiled with the library; empty when they can.
std::string lacking(const Launches& launches, const PlanImpl& plan) {
  for (const Launch& launch : launches.list) {
    jit::Specialisation kernel = launch.kernel;
    kernel.checked = plan.checked;
    const std::string name = jit::missing(*plan.device.impl(), kernel);
    if (!name.empty()) return concat("its kernel ", name, " was not compiled with the library");
  }
  return {};
}

/// Limits the host's threads to those that have work enough of their own, and says whether they are worth waking: a
/// thread that sleeps takes two cores of an EPYC 9005 4 to 13 us to wake, of which the caller is busy with 3 to 5. One
/// that waits awake is with its caller in about 1 us: two cores of a Xeon copy 256 KiB in 4.3 us, one in 6.7, 156 KiB
/// in 3.9 and 4.1; they transpose 256 x 256 floats in 8.5 us, one in 19, 128 x 128 in 3.4 and 3.1. Where long pauses
/// lie between calls, with caches gone cold, one core of an EPYC 9005 takes 30 us for a product of 128 x 128 floats and
/// both 48; for 160 x 160 51 and 67, for 192 x 192 84 and 77, and for copies of 1 and 2 MiB 44 and 55, 84 and 87.
void limit_threads(PlanImpl& plan, const DeviceModel& device) {
  constexpr double worth_joining = 10e-6;  // of the work of a third thread and any later one
  constexpr double worth_waking_in_a_row = 3e-6, worth_waking = 100e-6;  // of all threads' work
  if (!device::is_host(device)) return;
  const double launching = double(plan.launches.size()) * device.launch;
  const double work = (plan.report.expected_seconds - launching) * device.units();
  for (Launch& launch : plan.launches) {
    const double threads = work >= worth_waking_in_a_row ? 2 + (work - worth_waking_in_a_row) / worth_joining : 1;
    launch.geometry.most_threads = unsigned(std::min(threads, double(device.units())));
    launch.geometry.wakes = work >= worth_waking            ? device::Wakes::always
                            : work >= worth_waking_in_a_row ? device::Wakes::in_a_row
                                                            : device::Wakes::never;
  }
}

void complete(PlanImpl& plan, const Request& request, const PlanOptions& options) {
  const model::Stores stores = model::stores();
  const DeviceModel device = model::model_of(plan.device.info(), *stores.user);
  PlanReport& report = plan.report;
  Absent absent;
  Choice choice;
  Launches launches;
  for (bool complete = false; !complete;) {
    choice = choose(request, device, stores, options, report.candidates, absent);
    launches = choice.proposal.launches();
    const std::string why = lacking(launches, plan);
    complete = why.empty();
    if (!complete) absent.emplace(choice.candidate->name, why);
  }
  Proposal& proposal = choice.proposal;
  report.model = device.source;
  report.candidate = choice.candidate->name;
  report.configuration_source = std::move(choice.configuration_source);
  report.expected_seconds = proposal.seconds;
  report.configuration = std::move(proposal.configuration);
  report.workspace_bytes = launches.workspace_bytes;
  plan.tickets = launches.tickets;
  plan.launches = std::move(launches.list);
  limit_threads(plan, device);
  compile(plan);
}

}  // namespace axisloom::ops
