// Writes reductions into the constants and parameters that their kernels share, and adds the launch that folds parts.
#include "ops/reduce/params.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/scalar_type.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

std::string form_of(Dtype dtype) {
  return core::is_small_float(dtype) ? "FORM" + form_suffix(dtype) : "FORM_CAST";
}

/// What is not zero need not become 1 before it is compared with zero.
std::string form_of_element(const Recipe& recipe) {
  if (recipe.bits) return "FORM_CAST";
  return recipe.in == Dtype::boolean ? "FORM_BOOL" : form_of(recipe.in);
}

bool is_inexact(Dtype dtype) {
  return core::unit_roundoff(dtype) != 0;
}

/// Whether values without a sign are compared.
bool compares_unsigned(const Recipe& recipe) {
  const bool compares = recipe.accumulation == Accumulation::extreme || recipe.accumulation == Accumulation::place;
  return compares && core::kind_of(recipe.value) == core::NumberKind::unsigned_integer;
}

/// One kernel serves numbers with a sign and without: those that it compares travel with their highest bit turned over,
/// and sums and products modulo 2^64 have the same bits. Bools become 0 or 1 as unsigned bytes.
std::string kernel_type(Dtype dtype, const Recipe& recipe) {
  const bool modular = recipe.accumulation == Accumulation::total || recipe.accumulation == Accumulation::product;
  const bool wraps = modular && recipe.in == Dtype::u64 && recipe.value == Dtype::u64 && !is_inexact(recipe.out);
  std::string type = scalar_type(dtype);
  if ((wraps || compares_unsigned(recipe)) && dtype != Dtype::boolean && type.front() == 'u') type.front() = 'i';
  return type;
}

void define_recipe(const Recipe& recipe, jit::Defines& defines) {
  static constexpr const char* accumulations[] = {"TOTAL", "COMPENSATED", "PRODUCT", "EXTREME", "PLACE"};
  static constexpr const char* mappings[] = {"IDENTITY", "SQUARE", "MAGNITUDE", "NONZERO"};
  static constexpr const char* finishes[] = {"FINISH_VALUE", "FINISH_MEAN",  "FINISH_ROOT",
                                             "FINISH_PLACE", "FINISH_TRUTH", "FINISH_ACCUMULATOR"};
  const std::string element = kernel_type(recipe.element(), recipe), value = kernel_type(recipe.value, recipe);
  defines.set("ELEMENT", element)
      .set("IN_FORM", form_of_element(recipe))
      .set("ELEMENT_BYTES", size_of(core::component_of(recipe.in)))
      .set("ELEMENT_PARTS", core::components_of(recipe.in))
      .set("HELD", recipe.mapping == Mapping::nonzero ? element : value)
      .set("VALUE", value)
      .set("VALUE_PARTS", recipe.components)
      .set("VALUE_FORMAT", size_of(recipe.value) == 8 ? 64 : 32)
      .set("VALUE_FLOATS", recipe.value_floats())
      .set("OUT_FORM", form_of(recipe.out))
      .set("OUT_BYTES", size_of(core::component_of(recipe.out)))
      .set("OUT_FLOATS", is_inexact(recipe.out))
      .set("CONVERTS", recipe.converts())
      .set("WITH_INITIAL", recipe.initial.has_value())
      .set("ACCUMULATION", accumulations[int(recipe.accumulation)])
      .set("MAPPING", mappings[int(recipe.mapping)])
      .set("UNSIGNED", compares_unsigned(recipe))
      .set("SIGNLESS", recipe.bits && is_inexact(recipe.in))
      .set("FINISH", finishes[int(recipe.finish)])
      .set("SMALLEST", recipe.smallest);
  if (recipe.masked) defines.set("MASKED", 1);
}

/// The same of what has become values already, so that one kernel serves all that become such values.
Recipe of_values(Recipe recipe) {
  const Dtype complex = recipe.value == Dtype::f64 ? Dtype::c128 : Dtype::c64;
  recipe.in = recipe.components == 1 ? recipe.value : complex;
  recipe.mapping = Mapping::identity;
  recipe.bits = false;
  return recipe;
}

size_t rank_class(size_t rank) {
  return rank <= 1 ? 1 : rank <= 3 ? 3 : 0;
}

/// The axes of a walk, those of extent 1 that pad it to its class in front.
Loops walk_over(core::Nest kept, core::Nest reduced, ReduceParams& params, jit::Defines& defines) {
  size_t kept_rank = rank_class(kept.size()), reduced_rank = rank_class(reduced.size());
  const bool compiled_in = kept_rank != 0 && reduced_rank != 0;
  defines.set("KEPT_RANK", compiled_in ? i64(kept_rank) : 0).set("REDUCED_RANK", compiled_in ? i64(reduced_rank) : 0);
  if (!compiled_in) {
    kept_rank = std::max<size_t>(1, kept.size());
    reduced_rank = std::max<size_t>(1, reduced.size());
  }
  if (kept_rank + reduced_rank > REDUCE_AXES)
    throw_too_many_axes("reduction", kept.size() + reduced.size() + 1, REDUCE_AXES);
  params.kept_rank = kept_rank;
  params.reduced_rank = reduced_rank;
  Loops walk(kept_rank - kept.size());
  walk.insert(walk.end(), kept.begin(), kept.end());
  walk.resize(kept_rank + reduced_rank - reduced.size());
  walk.insert(walk.end(), reduced.begin(), reduced.end());
  return walk;
}

constexpr i64 u64_bytes = 8;  // of an accumulator

/// The bits of what accumulate.h takes an initial value as: as values, or, where integers become floats only at the
/// end, as a float of 64 bits and one of 32, for devices that have no other.
void write_initial(const Recipe& recipe, ReduceParams& params) {
  const core::Parts& parts = *recipe.initial;
  const auto write = [&](int word, Dtype dtype, long double number) {
    core::store_number(dtype, reinterpret_cast<std::byte*>(&params.initial[word]), number);
  };
  const bool at_the_end = recipe.accumulation == Accumulation::total && core::unit_roundoff(recipe.out) != 0;
  write(0, at_the_end ? Dtype::f64 : recipe.value, parts[0]);
  write(1, at_the_end ? Dtype::f32 : recipe.value, parts[at_the_end ? 0 : 1]);
}
/// Where the mask lies: in place of the multipliers, for which the arguments of a kernel have no room then.
void write_mask(const ReduceProblem& problem, const Loops& walk, ReduceParams& params) {
  for (size_t d = 0; d < walk.size(); ++d) params.multiplier[d] = u64(walk[d].other);
  params.mask_run_stride = problem.reduced.back().other;
}

std::vector<LaunchBuffer> inputs_of(const ReduceProblem& problem) {
  std::vector<LaunchBuffer> inputs = {{0, problem.in_offset, problem.scalar_bytes()}};
  if (problem.recipe.masked) inputs.push_back({1, problem.mask_offset, 1});
  return inputs;
}

/// Views of a plan: the input, the mask where there is one, the output.
LaunchBuffer result_of(const ReduceProblem& problem) {
  const Recipe& recipe = problem.recipe;
  return {recipe.masked ? 2 : 1, problem.out_offset, i64(size_of(core::component_of(recipe.out)))};
}

}  // namespace

ReduceLaunch::ReduceLaunch(const std::string& kernel, const ReduceProblem& problem, const Group& group, bool columns)
    : OpenLaunch{launch_of("reduce/" + kernel, group)}, problem(problem) {
  define_recipe(problem.recipe, defines());
  const core::Nest outer = core::Nest(problem.reduced).first(problem.reduced.size() - 1);
  const auto walked = std::span(problem.kept).first(problem.kept.size() - columns);
  const Loops walk = walk_over(walked, outer, params, defines());
  write_walk(walk, problem.index_bits, params);
  if (problem.recipe.masked) write_mask(problem, walk, params);
  if (problem.recipe.initial) write_initial(problem.recipe, params);
  params.outputs = problem.outputs();
  params.count = problem.count();
  params.run = problem.reduced.back().extent;
  params.run_stride = problem.reduced.back().in;
  params.reach = core::reach(problem.loops(), &Loop::in).high + problem.parts_of_element();
  params.runs = params.count == 0 ? 0 : core::count(outer);
  params.pieces = params.parts = params.part_pieces = params.part_rows = params.per_group = 1;
  params.tasks = params.outputs;
  if (columns) {
    params.columns = problem.kept.back().extent;
    params.column_stride = problem.kept.back().out;
  }
  defines().set("INDEX_BITS", problem.index_bits).set("AXL_PARAMS_SIZE", sizeof(ReduceParams));
}

void ReduceLaunch::set_pieces(const Pieces& pieces) {
  params.piece = pieces.piece;
  params.pieces = pieces.pieces;
  params.parts = pieces.parts;
  params.part_pieces = pieces.per_part;
  params.tasks = params.outputs * pieces.parts;
}

Split split_of(i64 parts, i64 tickets, i64 launches, const DeviceModel& device) {
  if (parts == 1) return Split::none;
  const bool ordered = device.device_scope_order && tickets <= most_tickets && launches == 1;
  return ordered ? Split::one_launch : Split::two_launches;
}

Split split_of(i64 parts, i64 tickets, Configuration& values, const DeviceModel& device) {
  const Split split = split_of(parts, tickets, values.at("launches"), device);
  values["launches"] = split == Split::two_launches ? 2 : 1;
  return split;
}

Tunable launches_tunable() {
  return {"launches",
          1,
          {1, 2},
          "launches",
          "1: the last group to finish brings the parts together, where groups can be ordered"};
}

Group tree_group(const Recipe& recipe, i64 items) {
  constexpr i64 flag_bytes = 16;  // one word, in a whole packet
  return {items, items * recipe.u64s() * u64_bytes + flag_bytes};
}

// Few parts are taken by one item, so that neighbours read neighbouring outputs. On an H200 columns of 4096 x 4096
// floats, in 17 parts, took 34 us, and 39 with a group for each; of 65536 x 128, in 512 parts, 21 with a group for
// each, else 55.
Launch fold_launch(const ReduceProblem& problem, i64 parts, const char* split, int from, i64 items) {
  constexpr i64 few_parts = 32;
  constexpr i64 cpu_outputs = 64;  // of a CPU's group: long enough against its start
  const i64 team = parts <= few_parts ? 1 : items;
  const Group group = team > 1 ? tree_group(problem.recipe, items) : Group{items};
  ReduceProblem values = problem;
  values.recipe = of_values(problem.recipe);
  ReduceLaunch fold("fold", values, group);
  fold.params.parts = parts;
  fold.params.per_group = items == 1 ? cpu_outputs : items / team;
  fold.defines().set("SPLIT", split).set("TEAM", team);
  if (problem.portable && problem.recipe.order_matters()) {
    fold.params.piece = i64(std::bit_ceil(u64(ceil_div(parts, team))));  // parts that an item takes
    fold.defines().set("IN_PAIRS", 1);
  }
  fold.launch.buffers = {result_of(problem), {from, 0, u64_bytes}};
  if (from != workspace_view) fold.launch.buffers[0].view = from + 1;  // the accumulators are the plan's only input
  return fold.closed(ceil_div(fold.params.outputs, fold.params.per_group));
}

Launches ReduceLaunch::with_parts(i64 groups, Split split, i64 tickets) {
  static constexpr const char* names[] = {"IN_ONE", "ONE_LAUNCH", "TWO_LAUNCHES"};
  const i64 items = launch.geometry.items;
  std::vector<LaunchBuffer>& buffers = launch.buffers;
  Launches launches;
  defines().set("SPLIT", names[int(split)]);
  buffers = inputs_of(problem);
  const LaunchBuffer result = result_of(problem);
  const bool parted = split != Split::none, ordered = split == Split::one_launch;
  if (all_arguments || split != Split::two_launches) buffers.push_back(result);
  if (all_arguments || parted) buffers.push_back(parted ? LaunchBuffer{workspace_view, 0, u64_bytes} : result);
  if (all_arguments || ordered) buffers.push_back(ordered ? LaunchBuffer{tickets_view, 0, sizeof(u32)} : result);
  if (parted) launches.workspace_bytes = params.outputs * params.parts * problem.recipe.u64s() * u64_bytes;
  if (ordered) launches.tickets = tickets;
  launches.list.push_back(closed(groups));
  if (split == Split::two_launches)
    launches.list.push_back(fold_launch(problem, params.parts, names[int(split)], workspace_view, items));
  return launches;
}

Launches ReduceLaunch::without_parts(i64 groups) {
  launch.buffers = inputs_of(problem);
  launch.buffers.push_back(result_of(problem));
  return {.list = {closed(groups)}};
}

}  // namespace axisloom::ops
