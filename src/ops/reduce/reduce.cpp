// The reductions: their registry entries, and the plan that all of them share.
#include "ops/reduce/reduce.hpp"

#include "core/overlap.hpp"
#include "ops/reduce/lowering.hpp"
#include "ops/reduce/oracle.hpp"
#include "ops/reduce/slices.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <array>

namespace axisloom::ops {
namespace {

constexpr std::array words = {
    Word{"op", "sum, prod, mean, min, max, argmin, argmax, any, all, count_nonzero or norm"},
    Word{"pattern",
         "einops pattern; an axis that is missing on the right is reduced, such as \"b c (h 2) (w 2) -> b c h w\""}};

constexpr Option order_option = {"order", "ORDER", "of additions: fast, or portable: the same bits on every device"};
constexpr Option axes_option = {"axes", "LIST", "axes to reduce, such as 0,-1 (default: all)"};
constexpr Option keepdims_option = {"keepdims", "", "keep the reduced axes, with length 1"};
constexpr Option ord_option = {"ord", "N", "of the norm: 1, 2 or inf (default: 2)"};
constexpr std::array reduce_options = {ord_option, order_option};
constexpr std::array shorthand_options = {axes_option, keepdims_option, order_option};
constexpr std::array norm_options = {axes_option, keepdims_option, order_option, ord_option};

struct Shorthand {
  std::string_view name, summary;
  std::span<const Option> options = shorthand_options;
};

constexpr std::array shorthands = {
    Shorthand{"sum", "Add elements up; integers become 64 bits wide."},
    Shorthand{"prod", "Multiply elements; integers become 64 bits wide."},
    Shorthand{"mean", "Average of elements; of integers an f64."},
    Shorthand{"min", "Smallest element; NaN if there is one."},
    Shorthand{"max", "Largest element; NaN if there is one."},
    Shorthand{"argmin", "Index of the first smallest element, counted over the reduced axes in order."},
    Shorthand{"argmax", "Index of the first largest element, counted over the reduced axes in order."},
    Shorthand{"any", "Whether an element is not zero."},
    Shorthand{"all", "Whether no element is zero."},
    Shorthand{"count_nonzero", "Number of elements that are not zero."},
    Shorthand{"norm", "Vector norm of the elements.", norm_options},
};

View result(const Operation& op, std::span<const View> inputs) {
  return reduce_result(op, inputs[0]);
}

void oracle(const Operation& op, std::span<const View> views, std::span<const std::byte* const> in, std::byte* out) {
  reduce_on_host(lower_reduce(op, views[0], views[1]), in[0], out);
}

/// The kept axes in the order of the output's, in which the bounds are wanted.
std::vector<double> bound(const Operation& op, std::span<const View> views, std::span<const std::byte* const> in) {
  const View places = View::contiguous(views[1].dtype, views[1].shape);
  Reduction reduction = lower_reduce(op, views[0], places);
  std::erase_if(reduction.kept, [](const ReduceAxis& axis) { return axis.extent == 1; });
  std::stable_sort(reduction.kept.begin(), reduction.kept.end(),
                   [](const ReduceAxis& a, const ReduceAxis& b) { return a.out > b.out; });
  return reduce_bound(reduction, in[0]);
}

std::int64_t bytes(const Operation& op, std::span<const View> views) {
  return lower_reduce(op, views[0], views[1]).bytes_moved();
}

double operations(const Operation& op, std::span<const View> views) {
  const Reduction reduction = lower_reduce(op, views[0], views[1]);
  const double squared = reduction.recipe.mapping == Mapping::square ? 2 : 1;
  return squared * reduction.recipe.components * static_cast<double>(reduction.outputs()) *
         static_cast<double>(reduction.count());
}

std::span<const CandidateInfo> candidate_infos() {
  static const std::vector<CandidateInfo> infos = [] {
    std::vector<CandidateInfo> list;
    for (const ReduceCandidate& candidate : reduce_candidates()) list.push_back(candidate.info);
    return list;
  }();
  return infos;
}

void check_views(const Operation& op, std::span<const View> views) {
  const View expected = result(op, views.first(1)), &out = views[1];
  if (expected.dtype != out.dtype || !(expected.shape == out.shape))
    throw Error(Errc::usage, "the result is " + to_string(expected) + ", the output view " + to_string(out));
  if (core::overlaps_itself(out) != core::Overlap::no)
    throw Error(Errc::overlap, "two elements of the output may lie at one address",
                "give an output whose strides keep its elements apart");
}

void check_device(const Recipe& recipe, const DeviceInfo& device) {
  if (recipe.needs_f64() && !device.f64)
    throw Error(Errc::unsupported,
                "the device has no f64, which the " + std::string(name(recipe.reducer)) + " of " +
                    std::string(name(recipe.in)) + " needs",
                "use another dtype or another device");
}

int index_bits(const Reduction& reduction, IndexWidth width) {
  const bool fits = fits_32_bits(reduction);
  if (width == IndexWidth::bits32 && !fits)
    throw Error(Errc::usage, "32-bit indices cannot address every element of this reduction",
                "leave the index width open");
  return fits && width != IndexWidth::bits64 ? 32 : 64;
}

tune::Key key_of(const ReduceCandidate& candidate, const Reduction& reduction) {
  const std::string what = std::string(name(reduction.recipe.in)) + " " + std::string(name(reduction.recipe.reducer));
  const char* const size = reduction.bytes_moved() >= (64 << 20) ? "large" : "small";
  return {"reduce/" + std::string(candidate.info.name), to_string(reduction),
          what + (reduction.kept.empty() ? " whole " : " axes ") + size};
}

void choose_and_lower(PlanImpl& plan, const ReduceProblem& problem, const PlanOptions& options) {
  PlanReport& report = plan.report;
  const DeviceInfo& device = plan.device.info();
  const auto key = [&](const ReduceCandidate& candidate) { return key_of(candidate, problem.reduction); };
  auto choice = choose(reduce_candidates(), problem, key, device, options, report);
  if (!choice)
    throw Error(Errc::unsupported, "no candidate takes this reduction" + refusals(report, options),
                "leave candidate and configuration open");
  report.candidate = choice->candidate->info.name;
  report.configuration = std::move(choice->configuration.values);
  report.configuration_source = std::move(choice->configuration.source);
  report.expected_seconds = choice->verdict.seconds;
  ReduceLaunches lowered = choice->candidate->lower(problem, report.configuration, device);
  plan.launches = std::move(lowered.launches);
  plan.tickets = lowered.tickets;
  report.workspace_bytes = lowered.workspace_bytes;
}

ReduceProblem problem_of(const Reduction& reduction, bool portable, IndexWidth width) {
  ReduceProblem problem;
  problem.reduction = in_scalars(normalise(reduction));
  problem.index_bits = index_bits(problem.reduction, width);
  problem.portable = portable && reduction.recipe.order_matters() && reduction.count() > 0;  // nothing has no order
  return problem;
}

void check(const Operation& op, std::span<const View> views, const PlanOptions& options) {
  if (options.in_place) throw Error(Errc::usage, "a reduction cannot be done in place", "give an output of its own");
  check_views(op, views);
}

std::shared_ptr<PlanImpl> make_plan(const Operation& op, std::span<const View> views, const Device& device,
                                    const PlanOptions& options) {
  check(op, views, options);
  const Reduction reduction = lower_reduce(op, views[0], views[1]);
  return plan_reduction(reduction, asks_for_portable_order(op), {views.begin(), views.end()}, device, options);
}

Slices slices(const Operation& op, std::span<const View> views, const Device& device, const PlanOptions& options,
              std::int64_t limit) {
  check(op, views, options);
  const ReduceSlicing slicing{lower_reduce(op, views[0], views[1]), asks_for_portable_order(op), device, options};
  check_device(slicing.reduction.recipe, device.info());
  return slice_reduction(slicing, limit);
}

OpEntry entry_of(std::string_view name, std::string_view summary) {
  return {.name = name,
          .summary = summary,
          .result = result,
          .plan = make_plan,
          .oracle = oracle,
          .bound = bound,
          .bytes = bytes,
          .operations = operations,
          .slices = slices,
          .candidates = candidate_infos()};
}

}  // namespace

ReduceProblem reduce_problem(const Operation& op, std::span<const View> views, IndexWidth width) {
  return problem_of(lower_reduce(op, views[0], views[1]), asks_for_portable_order(op), width);
}

std::shared_ptr<PlanImpl> plan_reduction(const Reduction& reduction, bool portable, std::vector<View> views,
                                         const Device& device, const PlanOptions& options) {
  auto plan = std::make_shared<PlanImpl>();
  plan->device = device;
  plan->views = std::move(views);
  plan->checked = options.checked;
  const ReduceProblem problem = problem_of(reduction, portable, options.index);
  check_device(problem.reduction.recipe, device.info());
  plan->report.index = problem.index_bits == 64 ? IndexWidth::bits64 : IndexWidth::bits32;
  plan->report.bytes_moved = reduction.bytes_moved();
  plan->report.candidate = "none";
  if (problem.reduction.outputs() == 0) return plan;
  choose_and_lower(*plan, problem, options);
  compile(*plan);
  return plan;
}

std::span<const OpEntry> reduce_entries() {
  static const std::vector<OpEntry> entries = [] {
    std::vector<OpEntry> list;
    OpEntry reduce = entry_of("reduce", "Reduce axes by an einops pattern.");
    reduce.words = words;
    reduce.options = reduce_options;
    reduce.lengths = true;
    list.push_back(reduce);
    for (const Shorthand& shorthand : shorthands) {
      list.push_back(entry_of(shorthand.name, shorthand.summary));
      list.back().options = shorthand.options;
    }
    return list;
  }();
  return entries;
}

}  // namespace axisloom::ops
