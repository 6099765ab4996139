// Variant "sheet": the fastest axis is kept; rows are taken whole, in memory's order. For CPUs.
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"
#include "ops/reduce/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr double output_seconds = 4e-9;         // taking an accumulator out of its vector, and finishing it
constexpr double vector_seconds = 1.5e-9;       // a vector of a row that is in the cache
constexpr double few_seconds = 1.5e-9;          // an element where a row is shorter than a vector
constexpr std::int64_t most_rows = 4096;        // of a part: one running sum takes them all
constexpr std::int64_t wanted_tasks = 128;      // enough for the cores to share
constexpr std::int64_t least_elements = 16384;  // of a task: long against a group's start

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"block",
       4096,
       {256, 512, 1024, 2048, 4096, 8192, 16384},
       "columns",
       "that a task takes at once; f32 16384 x 16384, of the speed along rows: 2048 0.70, 4096 0.76, 8192 0.74"},
      launches_tunable()};
  return list;
}

/// How a reduction is cut: blocks of columns, parts of the rows, rows of a part. By shape alone.
struct Cut {
  std::int64_t outers, blocks, parts, share;
  std::int64_t tasks() const { return outers * blocks * parts; }
};

Cut cut(const ReduceProblem& problem, std::int64_t block) {
  const Reduction& reduction = problem.reduction;
  const std::int64_t columns = reduction.kept.back().extent, rows = reduction.count();
  const std::int64_t outers = reduction.outputs() / columns, blocks = ceil_div(columns, block);
  const std::int64_t parts = ceil_div(wanted_tasks, outers * blocks);
  const std::int64_t least = ceil_div(least_elements, std::min(columns, block));
  const std::int64_t share = std::clamp(ceil_div(rows, parts), std::min(least, most_rows), most_rows);
  return {outers, blocks, ceil_div(rows, share), share};
}

Verdict consider(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (problem.portable) return Verdict::refuse("its order of additions is not the portable one");
  if (device.kind != Kind::cpu) return Verdict::refuse("written for CPUs: one item a group");
  const Reduction& reduction = problem.reduction;
  if (reduction.count() == 0) return Verdict::refuse("there is nothing to reduce");
  if (reduction.kept.empty() || reduction.kept.back().in != problem.parts_of_element())
    return Verdict::refuse("the fastest axis of the input is not kept");
  const Cut c = cut(problem, values.at("block"));
  const std::int64_t columns = reduction.kept.back().extent, lanes = 16 / problem.parts_of_element();
  const double rows = static_cast<double>(reduction.count()) * static_cast<double>(c.outers);
  const double row = columns < lanes ? static_cast<double>(columns) * few_seconds
                                     : static_cast<double>(ceil_div(columns, lanes)) * vector_seconds;
  const double finish = static_cast<double>(reduction.outputs()) * static_cast<double>(c.parts) * output_seconds;
  const double loops = (rows * row + finish) / std::max(1u, device.compute_units);
  const double memory = read_seconds(problem, columns, reduction.kept.back().in, device);
  return Verdict::accept(shared_seconds(std::max(memory, loops), c.tasks(), device));
}

ReduceLaunches lower(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Reduction& reduction = problem.reduction;
  const std::int64_t block = values.at("block");
  const Cut c = cut(problem, block);
  ReduceLaunch main = reduce_launch(problem, "sheet", reduction.kept.size() - 1);
  ReduceParams& params = main.params;
  params.columns = reduction.kept.back().extent;
  params.column_stride = reduction.kept.back().out;
  params.column_blocks = c.blocks;
  params.parts = c.parts;
  params.share = c.share;
  params.tasks = c.tasks();
  params.per_group = std::max<std::int64_t>(1, least_elements / (std::min(params.columns, block) * c.share));
  main.defines().set("BLOCK", block + 16);  // the last block of a row may have a vector more
  main.launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(params.tasks, params.per_group));
  const Split split = split_of(c.parts, c.outers * c.blocks, values.at("launches"), device);
  return with_parts(std::move(main), problem, split, 1, c.outers * c.blocks);
}

}  // namespace

ReduceCandidate sheet_reduction() {
  return {{"sheet", "whole rows in memory's order on a CPU, where the fastest axis is kept", tunables(), true, false},
          consider,
          lower};
}

}  // namespace axisloom::ops
