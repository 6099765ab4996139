// The reductions: their registry entries, and the plan that all of them share.
#include "ops/reduce/reduce.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/reduce/lowering.hpp"
#include "ops/reduce/oracle.hpp"
#include "ops/reduce/params.hpp"
#include "planner/choose.hpp"

#include <axisloom/call.hpp>
#include <axisloom/error.hpp>

#include <algorithm>
#include <array>
#include <functional>

namespace axisloom::ops {
namespace {

constexpr Argument arguments[] = {
    {"op", "sum, prod, mean, min, max, argmin, argmax, any, all, count_nonzero or norm"},
    {"pattern",
     "einops pattern; an axis that is missing on the right is reduced, such as \"b c (h 2) (w 2) -> b c h w\""}};

constexpr Option order_option = {"order", "ORDER",
                                 "order of additions: fast, or portable (the same bits on every device)"};
constexpr Option axes_option = {"axes", "LIST", "axes to reduce, such as 0,-1, or none (default: all)"};
constexpr Option keepdims_option = {"keepdims", "", "keep the reduced axes, with length 1"};
constexpr Option ord_option = {
    "ord", "N", "order of the norm of all elements: 1, 2 (Frobenius: fro is the same) or inf (default: 2)"};
constexpr Option initial_option = {"initial", "NUMBER", "one more element, of sum, prod, min and max"};
constexpr Option dtype_option = {
    "compute-dtype", "DTYPE",
    "dtype to compute in and of the result, of sum, prod and mean: integers in any integers "
    "or floats, others in wider ones"};
constexpr Option where_option = {"where", "",
                                 "the last input is a mask, bools of the array's shape or broadcast to it: elements "
                                 "count where it is true; min and max then need an initial value"};
constexpr Option reduce_options[] = {ord_option, order_option, initial_option, dtype_option, where_option};
constexpr Option shorthand_options[] = {axes_option, keepdims_option, order_option};
constexpr Option norm_options[] = {axes_option, keepdims_option, order_option, ord_option};
constexpr Option mask_options[] = {axes_option, keepdims_option, order_option, where_option};
constexpr Option mean_options[] = {axes_option, keepdims_option, order_option, dtype_option, where_option};
constexpr Option extreme_options[] = {axes_option, keepdims_option, order_option, initial_option, where_option};
constexpr Option sum_options[] = {axes_option,    keepdims_option, order_option,
                                  initial_option, dtype_option,    where_option};

struct Shorthand {
  std::string_view name, summary, examples;
  bool known = false;  // to other libraries
  std::span<const Option> options = shorthand_options;
};

constexpr std::array shorthands = {
    Shorthand{"sum", "Add elements up; integers become 64 bits wide.",
              "axisloom sum in.npy\naxisloom sum --axes 0,2 --keepdims in.npy -o out.npy --verify\n"
              "axisloom sum --where in.npy mask.npy --compute-dtype f64",
              true, sum_options},
    Shorthand{"prod", "Multiply elements; integers become 64 bits wide.",
              "axisloom prod in.npy\naxisloom prod --axes 0 in.npy -o out.npy", false, sum_options},
    Shorthand{"mean", "Average of elements; f64 for integers.", "axisloom mean --axes 0,1 photo.jpg -o colour.npy",
              true, mean_options},
    Shorthand{"min", "Smallest element; NaN if there is one.", "axisloom min photo.png --axes 0,1 -o darkest.npy", true,
              extreme_options},
    Shorthand{"max", "Largest element; NaN if there is one.",
              "axisloom max in.npy\naxisloom max --axes -1 --keepdims in.npy -o out.npy --verify", true,
              extreme_options},
    Shorthand{"argmin", "Index of the first smallest element, counted over the reduced axes in order.",
              "axisloom argmin --axes -1 in.npy -o nearest.npy", true},
    Shorthand{"argmax", "Index of the first largest element, counted over the reduced axes in order.",
              "axisloom argmax --axes -1 in.npy -o labels.npy", true},
    Shorthand{"any", "Whether any element is not zero.", "axisloom any --axes 0 mask.npy -o touched.npy", false,
              mask_options},
    Shorthand{"all", "Whether no element is zero.", "axisloom all mask.npy", false, mask_options},
    Shorthand{"count_nonzero", "Number of elements that are not zero.", "axisloom count_nonzero mask.npy"},
    Shorthand{"norm", "Vector norm of the elements; of matrices the Frobenius norm.", "axisloom norm --ord 1 in.npy",
              false, norm_options},
};

void oracle(const Operation& op, Views views, HostBuffers in, std::byte* out) {
  reduce_on_host(lower_reduce(op, views), in, out);
}

/// The kept axes in the order of the output's, in which the bounds are wanted.
std::vector<double> bound(const Operation& op, Views views, HostBuffers in) {
  std::vector<View> contiguous(views.begin(), views.end());
  contiguous.back() = View::contiguous(views.back().dtype, views.back().shape);
  Reduction reduction = lower_reduce(op, contiguous);
  core::drop_single_steps(reduction.kept);
  std::ranges::stable_sort(reduction.kept, std::greater(), &Loop::out);
  return reduce_bound(reduction, in);
}

i64 bytes(const Operation& op, Views views) {
  return lower_reduce(op, views).bytes_moved();
}

double operations(const Operation& op, Views views) {
  const Reduction reduction = lower_reduce(op, views);
  const double squared = reduction.recipe.mapping == Mapping::square ? 2 : 1;
  return squared * reduction.recipe.components * reduction.elements();
}

void check_device(const Recipe& recipe, const DeviceInfo& device) {
  require_f64(device, "reduction", {recipe.in, recipe.value, recipe.out});
}

void check(const PlanOptions& options) {
  if (options.in_place) throw Error(Errc::usage, "a reduction cannot be done in place", "give an output of its own");
}

SharedPlan make_plan(const Operation& op, Views views, const Device& device, const PlanOptions& options) {
  check(options);
  return plan_reduction(lower_reduce(op, views), views, device, options);
}

Slices slices(const Operation& op, Views views, const Device& device, const PlanOptions& options, i64 limit) {
  check(options);
  const Reduction reduction = lower_reduce(op, views);
  check_device(reduction.recipe, device.info());
  return slice_reduction(reduction, device, options, limit);
}

/// `own`: what is an operation's own, its name and texts.
OpEntry entry_of(OpEntry own) {
  own.inputs = [](const Operation& op) { return has_mask(op) ? 2 : 1; };
  own.result = reduce_result;
  own.plan = make_plan;
  own.oracle = oracle;
  own.bound = bound;
  own.bytes = bytes;
  own.operations = operations;
  own.slices = slices;
  own.candidates = reduce_candidates().infos();
  return own;
}

}  // namespace

ReduceProblem reduce_problem(const Reduction& reduction, IndexWidth width) {
  Reduction normal = in_scalars(normalise(reduction));
  if (!normal.recipe.order_matters() || normal.count() == 0) normal.portable = false;  // nothing has no order
  return {normal, index_bits(fits_32_bits(normal), width, "reduction")};
}

/// How many kept axes kernels walk beside the reduced ones, of which the last is the run.
size_t most_kept(const Reduction& reduction) {
  const size_t reduced = std::max<size_t>(1, reduction.reduced.size() - 1);
  return most_reduce_axes - std::min(most_reduce_axes, reduced);
}

/// A reduction of more axes than kernels walk: the shortest of those that are kept become a loop over launches.
SharedPlan plan_in_launches(Reduction reduction, Views views, const Device& device, const PlanOptions& options) {
  const Recipe& recipe = reduction.recipe;
  const size_t axes = reduction.kept.size() + reduction.reduced.size();
  const size_t left = most_kept(reduction);
  const core::Loops outer = core::take_shortest(reduction.kept, left);
  if (left == 0 || core::count(outer) > most_repeats) throw_too_many_axes("reduction", axes, most_reduce_axes + 1);
  const i64 in = size_of(recipe.in), out = recipe.out_scalars() * i64(size_of(core::component_of(recipe.out)));
  for (const Loop& loop : outer)  // each launch begins where all may
    reduction.in_align = core::common_alignment(reduction.in_align, loop.in * in);
  std::vector<std::vector<Place>> others;
  for (const Loop& at : core::points_of(outer)) {
    std::vector<Place>& places = others.emplace_back();
    places.push_back({0, at.in * in});
    if (recipe.masked) places.push_back({1, at.other});
    places.push_back({int(places.size()), at.out * out});
  }
  others.erase(others.begin());
  auto plan = plan_reduction(reduction, views, device, options);
  repeat(*plan, others);
  return plan;
}

SharedPlan plan_reduction(const Reduction& reduction, Views views, const Device& device, const PlanOptions& options) {
  const Reduction normal = normalise(reduction);
  if (normal.kept.size() > most_kept(normal)) {
    auto plan = plan_in_launches(normal, views, device, options);
    plan->report.bytes_moved = reduction.bytes_moved();
    return plan;
  }
  auto plan = empty_plan(views, device, options);
  const ReduceProblem problem = reduce_problem(reduction, options.index);
  check_device(problem.recipe, device.info());
  plan->report.index = width_of(problem.index_bits);
  plan->report.bytes_moved = reduction.bytes_moved();
  if (problem.outputs() == 0) return plan;
  complete(*plan, request("reduce", "reduction", reduce_candidates(), problem), options);
  return plan;
}

std::span<const OpEntry> reduce_entries() {
  static const std::vector<OpEntry> entries = [] {
    std::vector<OpEntry> list = {
        entry_of({.name = "reduce",
                  .summary = "Reduce axes by an einops pattern.",
                  .examples = "axisloom reduce sum \"h w ->\" in.npy\n"
                              "axisloom reduce max \"b c (h h2) (w w2) -> b c h w\" h2=2 w2=2 in.npy -o pooled.npy",
                  .arguments = arguments,
                  .options = reduce_options,
                  .lengths = true,
                  .draw = Draw::reduced_pattern})};
    for (const Shorthand& s : shorthands)
      list.push_back(entry_of({.name = s.name,
                               .summary = s.summary,
                               .examples = s.examples,
                               .options = s.options,
                               .draw = Draw::reduced_axes,
                               .known_as = s.known ? s.name : std::string_view()}));
    return list;
  }();
  return entries;
}

}  // namespace axisloom::ops

namespace axisloom {

Operation reduce(std::string_view name, std::string_view pattern, const Options& options, const Lengths& lengths) {
  return {"reduce", {std::string(name), std::string(pattern)}, lengths, options};
}

Operation reduction(std::string_view name, const Options& options) {
  return {std::string(name), {}, {}, options};
}

Array reduce(const InputArray& in, std::string_view name, std::string_view pattern, const Lengths& lengths,
             const ReduceOptions& options, const Device& device) {
  return run(reduce(name, pattern, options, lengths), {in}, device);
}

Array sum(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("sum", options), {in}, device);
}

Array prod(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("prod", options), {in}, device);
}

Array mean(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("mean", options), {in}, device);
}

Array min(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("min", options), {in}, device);
}

Array max(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("max", options), {in}, device);
}

Array argmin(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("argmin", options), {in}, device);
}

Array argmax(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("argmax", options), {in}, device);
}

Array any(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("any", options), {in}, device);
}

Array all(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("all", options), {in}, device);
}

Array count_nonzero(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("count_nonzero", options), {in}, device);
}

Array norm(const InputArray& in, const ReduceOptions& options, const Device& device) {
  return run(reduction("norm", options), {in}, device);
}

}  // namespace axisloom
