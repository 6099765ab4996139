// Variant "columns": the fastest axis is kept; items stand side by side over the columns. For GPUs.
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"
#include "ops/reduce/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr std::int64_t most_rows = 4096;  // of one running sum
constexpr std::int64_t least_rows = 16;   // of an item: a few rounds of loads
constexpr double step_seconds = 1.5e-6;   // a tree, a ticket and what the last group does, against a bare launch

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items", 256, {128, 256, 512}, "work-items", "group size"},
      {"columns",
       32,
       {4, 8, 16, 32, 64},
       "packets",
       "of a row that a group takes; where a row has up to 16, 8 (4113 GB/s on an H200, with 32 2681), or 4"},
      {"in_flight",
       8,
       {1, 2, 4, 8},
       "rows",
       "loads that an item issues before it adds; columns of 16384 x 16384 floats on an H200: 4201 GB/s with 8, 3728 "
       "with 4"},
      {"parts",
       528,
       {528, 1056, 2112, 4224},
       "groups",
       "that are wanted: what the 132 cores of an H200 hold at once. Columns of 16384 x 16384 floats there: 4201 GB/s, "
       "with 1056, 2112 and 4224 groups 4058, 3934, 3892"},
      launches_tunable()};
  return list;
}

/// How a reduction is cut: packets of a block, blocks of columns, parts of the rows, rows of a part. By shape alone.
struct Cut {
  std::int64_t scalars, columns, outers, blocks, parts, share;
};

/// Whether every packet of every row is aligned and whole.
bool packets_are_wide(const ReduceProblem& problem, std::int64_t scalars) {
  const Reduction& reduction = problem.reduction;
  const std::size_t last = reduction.reduced.size() + reduction.kept.size() - 1;
  return reduction.kept.back().extent * problem.parts_of_element() % scalars == 0 &&
         proven_alignment(reduction, last) >= scalars * problem.scalar_bytes();
}

Cut cut(const ReduceProblem& problem, const Configuration& values) {
  const Reduction& reduction = problem.reduction;
  const std::int64_t row = reduction.kept.back().extent, rows = reduction.count();
  Cut c{};
  c.scalars = std::min<std::int64_t>(4, 16 / problem.scalar_bytes());
  const std::int64_t packets = ceil_div(row * problem.parts_of_element(), c.scalars);
  c.columns = packets > 16 ? values.at("columns") : packets > 4 && packets_are_wide(problem, c.scalars) ? 8 : 4;
  c.outers = reduction.outputs() / row;
  c.blocks = ceil_div(packets, c.columns);
  const std::int64_t slices = values.at("items") / c.columns;
  const std::int64_t parts = ceil_div(values.at("parts"), c.outers * c.blocks);
  c.share = std::clamp(ceil_div(rows, parts), slices * least_rows, slices * most_rows);
  c.parts = ceil_div(rows, c.share);
  return c;
}

Verdict consider(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (problem.portable) return Verdict::refuse("its order of additions is not the portable one");
  const Reduction& reduction = problem.reduction;
  if (reduction.count() == 0) return Verdict::refuse("there is nothing to reduce");
  if (reduction.kept.empty() || reduction.kept.back().in != problem.parts_of_element())
    return Verdict::refuse("the fastest axis of the input is not kept");
  const std::size_t local = tree_bytes(reduction.recipe, values.at("items"));
  if (local > device.local_memory)
    return Verdict::refuse("needs " + std::to_string(local) + " bytes of local memory a group");
  const Cut c = cut(problem, values);
  const double seconds = read_seconds(problem, reduction.kept.back().extent, reduction.kept.back().in, device);
  if (device.kind == Kind::cpu)
    return Verdict::accept(
        8 * seconds + step_seconds +
        items_seconds(static_cast<double>(c.outers * c.parts * c.blocks * values.at("items")), device));
  return Verdict::accept(seconds + (c.parts > 1 ? step_seconds : 0));
}

ReduceLaunches lower(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Reduction& reduction = problem.reduction;
  const Cut c = cut(problem, values);
  const std::int64_t items = values.at("items");
  ReduceLaunch main = reduce_launch(problem, "columns", reduction.kept.size() - 1);
  ReduceParams& params = main.params;
  params.columns = reduction.kept.back().extent;
  params.column_stride = reduction.kept.back().out;
  params.column_blocks = c.blocks;
  params.parts = c.parts;
  params.share = c.share;
  main.defines().set("COLUMNS", c.columns).set("IN_FLIGHT", values.at("in_flight"));
  main.defines().set("SCALARS", c.scalars).set("WIDE", packets_are_wide(problem, c.scalars) ? 1 : 0);
  main.launch.geometry.groups = static_cast<std::uint64_t>(c.outers * c.parts * c.blocks);
  main.launch.geometry.local_bytes = tree_bytes(reduction.recipe, items);
  const Split split = split_of(c.parts, c.outers * c.blocks, values.at("launches"), device);
  return with_parts(std::move(main), problem, split, static_cast<unsigned>(items), c.outers * c.blocks);
}

}  // namespace

ReduceCandidate columns_reduction() {
  return {{"columns", "items side by side over the columns, where the fastest axis is kept", tunables(), true, true},
          consider,
          lower};
}

}  // namespace axisloom::ops
