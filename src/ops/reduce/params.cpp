// Writes reductions into the constants and parameters that their kernels share, and adds the launch that folds parts.
#include "ops/reduce/params.hpp"

#include "core/move.hpp"
#include "core/number.hpp"
#include "ops/scalar_type.hpp"

#include <axisloom/error.hpp>

#include <algorithm>

namespace axisloom::ops {
namespace {

bool is_small_float(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16;
}

std::string format_of(Dtype dtype) {
  return dtype == Dtype::f16 ? "FORMAT_F16" : dtype == Dtype::bf16 ? "FORMAT_BF16" : "FORMAT_SAME";
}

/// What is not zero need not become 1 before it is compared with zero.
std::string element_format(const Recipe& recipe) {
  const bool counts = recipe.in == Dtype::boolean && recipe.mapping != Mapping::nonzero;
  return counts ? "FORMAT_BOOL" : format_of(recipe.in);
}

std::string held_type(const Recipe& recipe) {
  if (recipe.mapping != Mapping::nonzero) return scalar_type(recipe.value);
  return is_small_float(recipe.in) ? "f32" : scalar_type(recipe.in);
}

/// The value that every other one is preferred to.
std::string last_choice(Dtype value, bool smallest) {
  switch (value) {
    case Dtype::f32:
      return smallest ? "F32_INFINITE" : "(-F32_INFINITE)";
    case Dtype::f64:
      return smallest ? "F64_INFINITE" : "(-F64_INFINITE)";
    case Dtype::i8:
      return smallest ? "127" : "(-128)";
    case Dtype::i16:
      return smallest ? "32767" : "(-32768)";
    case Dtype::i32:
      return smallest ? "2147483647" : "(-2147483647 - 1)";
    case Dtype::i64:
      return smallest ? "((i64)0x7fffffffffffffffl)" : "(-(i64)0x7fffffffffffffffl - 1)";
    case Dtype::u8:
      return smallest ? "255" : "0";
    case Dtype::u16:
      return smallest ? "65535" : "0";
    case Dtype::u32:
      return smallest ? "0xffffffffu" : "0";
    default:
      return smallest ? "((u64)0xfffffffffffffffful)" : "0";
  }
}

std::pair<std::string, std::string> starts_of(const Recipe& recipe) {
  if (recipe.accumulation == Accumulation::product) return {"1", "0"};
  if (recipe.accumulation == Accumulation::total || recipe.accumulation == Accumulation::compensated) return {"0", "0"};
  if (recipe.mapping == Mapping::nonzero) return {recipe.smallest ? "1" : "0", "0"};
  const std::string start = last_choice(recipe.value, recipe.smallest);
  return {start, start};
}

void define_recipe(const Recipe& recipe, jit::Defines& defines) {
  static constexpr const char* accumulations[] = {"TOTAL", "COMPENSATED", "PRODUCT", "EXTREME", "PLACE"};
  static constexpr const char* mappings[] = {"IDENTITY", "SQUARE", "MAGNITUDE", "NONZERO"};
  static constexpr const char* finishes[] = {"FINISH_VALUE", "FINISH_MEAN", "FINISH_ROOT", "FINISH_PLACE",
                                             "FINISH_WORDS"};
  const auto [start, second_start] = starts_of(recipe);
  const bool floats = recipe.value == Dtype::f32 || recipe.value == Dtype::f64;
  defines.set("ELEMENT", scalar_type(recipe.in)).set("ELEMENT_FORMAT", element_format(recipe));
  defines.set("ELEMENT_BYTES", static_cast<std::int64_t>(size_of(core::component_of(recipe.in))));
  defines.set("ELEMENT_PARTS", core::components_of(recipe.in));
  defines.set("HELD", held_type(recipe));
  defines.set("VALUE", scalar_type(recipe.value)).set("VALUE_PARTS", recipe.components);
  defines.set("VALUE_FORMAT", size_of(recipe.value) == 8 ? 64 : 32).set("VALUE_FLOATS", floats ? 1 : 0);
  defines.set("RESULT", scalar_type(recipe.out)).set("RESULT_FORMAT", format_of(recipe.out));
  defines.set("ACCUMULATION", accumulations[static_cast<int>(recipe.accumulation)]);
  defines.set("MAPPING", mappings[static_cast<int>(recipe.mapping)]);
  defines.set("FINISH", finishes[static_cast<int>(recipe.finish)]);
  defines.set("SMALLEST", recipe.smallest ? 1 : 0).set("START0", start).set("START1", second_start);
}

void write_axis(const ReduceAxis& axis, std::size_t d, int index_bits, ReduceParams& params) {
  const core::Divider divider = core::divider(static_cast<std::uint64_t>(axis.extent), index_bits);
  params.in_stride[d] = axis.in;
  params.out_stride[d] = axis.out;
  params.extent[d] = axis.extent;
  params.multiplier[d] = divider.multiplier;
  params.shift[d] = divider.shift;
}

std::size_t rank_class(std::size_t rank) {
  return rank <= 1 ? 1 : rank <= 3 ? 3 : 0;
}

/// The axes of a walk, those of extent 1 that pad it to its class in front.
void write_walk(std::span<const ReduceAxis> kept, std::span<const ReduceAxis> reduced, int index_bits,
                ReduceParams& params, jit::Defines& defines) {
  std::size_t kept_rank = rank_class(kept.size()), reduced_rank = rank_class(reduced.size());
  if (kept_rank == 0 || reduced_rank == 0) {
    kept_rank = std::max<std::size_t>(1, kept.size());
    reduced_rank = std::max<std::size_t>(1, reduced.size());
    defines.set("KEPT_RANK", 0).set("REDUCED_RANK", 0);
  } else {
    defines.set("KEPT_RANK", static_cast<std::int64_t>(kept_rank));
    defines.set("REDUCED_RANK", static_cast<std::int64_t>(reduced_rank));
  }
  if (kept_rank + reduced_rank > REDUCE_AXES) throw_too_many_axes(kept.size() + reduced.size() + 1);
  params.kept_rank = static_cast<i32>(kept_rank);
  params.reduced_rank = static_cast<i32>(reduced_rank);
  const auto write = [&](std::span<const ReduceAxis> axes, std::size_t begin, std::size_t rank) {
    const std::size_t padding = rank - axes.size();
    for (std::size_t d = 0; d < rank; ++d)
      write_axis(d < padding ? ReduceAxis{} : axes[d - padding], begin + d, index_bits, params);
  };
  write(kept, 0, kept_rank);
  write(reduced, kept_rank, reduced_rank);
}

std::int64_t extents_of(std::span<const ReduceAxis> axes) {
  std::int64_t all = 1;
  for (const ReduceAxis& axis : axes) all *= axis.extent;
  return all;
}

}  // namespace

void throw_too_many_axes(std::size_t axes) {
  throw Error(Errc::unsupported,
              "the reduction walks " + std::to_string(axes) + " axes that cannot be merged, and kernels walk at most " +
                  std::to_string(REDUCE_AXES),
              "do it in two steps, each of which splits fewer axes");
}

ReduceLaunch reduce_launch(const ReduceProblem& problem, const char* kernel, std::size_t kept) {
  const Reduction& reduction = problem.reduction;
  ReduceLaunch result;
  result.launch.kernel.file = "reduce/" + std::string(kernel) + ".kernel";
  result.launch.kernel.kernel = kernel;
  define_recipe(reduction.recipe, result.defines());
  const std::span<const ReduceAxis> outer = std::span(reduction.reduced).first(reduction.reduced.size() - 1);
  write_walk(std::span(reduction.kept).first(kept), outer, problem.index_bits, result.params, result.defines());
  ReduceParams& params = result.params;
  params.outputs = reduction.outputs();
  params.count = reduction.count();
  params.run = reduction.reduced.back().extent;
  params.run_stride = reduction.reduced.back().in;
  params.reach = reduction.last() + problem.parts_of_element();
  params.runs = params.count == 0 ? 0 : extents_of(outer);
  params.pieces = params.parts = params.share = params.per_group = 1;
  params.tasks = params.outputs;
  result.defines().set("INDEX_BITS", problem.index_bits);
  result.defines().set("AXL_PARAMS_SIZE", static_cast<std::int64_t>(sizeof(ReduceParams)));
  return result;
}

Split split_of(std::int64_t parts, std::int64_t tickets, std::int64_t launches, const DeviceInfo& device) {
  if (parts == 1) return Split::none;
  const bool ordered = device.device_scope_order && tickets <= most_tickets && launches == 1;
  return ordered ? Split::one_launch : Split::two_launches;
}

tune::Tunable launches_tunable() {
  return {"launches",
          1,
          {1, 2},
          "launches",
          "1: the last group to finish brings the parts together, where groups can be ordered"};
}

std::size_t tree_bytes(const Recipe& recipe, std::int64_t items) {
  return static_cast<std::size_t>(items * recipe.words() * 8 + 16);
}

namespace {

std::int64_t result_bytes(const ReduceProblem& problem) {
  return static_cast<std::int64_t>(size_of(core::component_of(problem.reduction.recipe.out)));
}

}  // namespace

// Few parts are taken by one item, so that neighbours read neighbouring outputs.
Launch fold_launch(const ReduceProblem& problem, std::int64_t parts, const char* split, int from, unsigned items) {
  constexpr std::int64_t few_parts = 32;
  ReduceLaunch fold = reduce_launch(problem, "fold", problem.reduction.kept.size());
  const std::int64_t team = parts <= few_parts ? 1 : items;
  fold.params.parts = parts;
  fold.params.per_group = items == 1 ? 64 : items / team;  // outputs of a CPU's group: long enough against its start
  fold.defines().set("SPLIT", split).set("TEAM", team);
  fold.launch.kernel.items = fold.launch.geometry.items = items;
  fold.launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(fold.params.outputs, fold.params.per_group));
  if (team > 1) fold.launch.geometry.local_bytes = tree_bytes(problem.reduction.recipe, items);
  fold.launch.buffers = {{1, problem.reduction.out_offset, result_bytes(problem)}, {from, 0, 8}};
  fold.launch.params = params_bytes(fold.params);
  return std::move(fold.launch);
}

ReduceLaunches with_parts(ReduceLaunch main, const ReduceProblem& problem, Split split, unsigned items,
                          std::int64_t ticket_slots) {
  static constexpr const char* names[] = {"IN_ONE", "ONE_LAUNCH", "TWO_LAUNCHES"};
  const Reduction& reduction = problem.reduction;
  main.defines().set("SPLIT", names[static_cast<int>(split)]);
  main.launch.kernel.items = main.launch.geometry.items = items;
  main.launch.buffers = {{0, reduction.in_offset, problem.scalar_bytes()}};
  if (split != Split::two_launches) main.launch.buffers.push_back({1, reduction.out_offset, result_bytes(problem)});
  if (split != Split::none) main.launch.buffers.push_back({workspace_view, 0, 8});
  if (split == Split::one_launch) main.launch.buffers.push_back({tickets_view, 0, 4});
  main.launch.params = params_bytes(main.params);
  ReduceLaunches result;
  if (split != Split::none)
    result.workspace_bytes =
        static_cast<std::size_t>(main.params.outputs * main.params.parts * reduction.recipe.words() * 8);
  if (split == Split::one_launch) result.tickets = static_cast<int>(ticket_slots);
  result.launches.push_back(std::move(main.launch));
  if (split == Split::two_launches)
    result.launches.push_back(
        fold_launch(problem, main.params.parts, names[static_cast<int>(split)], workspace_view, items));
  return result;
}

}  // namespace axisloom::ops
