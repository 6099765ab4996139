// Variant "columns_cpu": the fastest axis is kept; rows are taken whole, in memory's order. For CPUs.
#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr double output_seconds = 4e-9;    // taking an accumulator out of its vector, and finishing it
constexpr double vector_seconds = 1.5e-9;  // a vector of a row that is in the cache
constexpr i64 most_rows = 4096;            // of a part: one running sum takes them all
constexpr i64 wanted_tasks = 128;          // enough for the cores to share
constexpr i64 few_together = 4;            // tasks of few columns that the kernel takes at once
constexpr i64 least_elements = 16384;      // of a task: long against a group's start
constexpr i64 most_ahead = 2048;           // bytes of a row, from what is read to what is asked for
constexpr i64 part_share = 32;             // of the host's reading: what its parts write and read once more
constexpr i64 host_tasks = 16;             // there: for these blocks are cut further,
constexpr i64 host_block_bytes = 4096;     // of a row, at least; of 1 KiB they take 1.3 times as long in small pages

/// How a reduction is cut: blocks of columns, parts of the rows, rows of a part. By shape and runtime alone.
struct Cut {
  i64 outers, blocks, parts, per_part;
  i64 tasks() const { return outers * blocks * parts; }
};

Cut cut(const ReduceProblem& problem, i64 block, const DeviceModel& device) {
  const i64 columns = problem.kept.back().extent, rows = problem.count();
  const i64 outers = problem.outputs() / columns, blocks = ceil_div(columns, block);
  const i64 wanted = ceil_div(wanted_tasks, outers * blocks);
  const bool host = device.api == Api::host;
  const i64 part_bytes = problem.recipe.u64s() * i64(sizeof(u64));
  const i64 rows_worth = host ? ceil_div(part_share * part_bytes, problem.element_bytes()) : 1;
  const i64 least = std::max(ceil_div(least_elements, std::min(columns, block)), rows_worth);
  const i64 per_part = std::clamp(ceil_div(rows, wanted), std::min(least, most_rows), most_rows);
  const i64 parts = ceil_div(rows, per_part);
  const i64 more = std::min(columns * problem.element_bytes() / host_block_bytes, ceil_div(host_tasks, outers * parts));
  return {outers, host ? std::max(blocks, more) : blocks, parts, per_part};
}

/// A row of fewer columns than a vector has lanes: floats of two cores of an EPYC 9005, rows in one run or in several.
double few_seconds(const ReduceProblem& problem, const DeviceModel& device) {
  constexpr double together_seconds = 0.6e-9, single_seconds = 3e-9;
  if (problem.reduced.size() > 1) return single_seconds * model::vector_times(device);
  const i64 room = problem.kept.back().extent * vector_lanes / lanes_of(problem, device);  // of a vector's 16
  return together_seconds * (room <= 4 ? 1 : room <= 8 ? 1.5 : 2) * model::vector_times(device);
}

double predicted_seconds(const ReduceProblem& problem, const Cut& c, const DeviceModel& device) {
  const Loop& column = problem.kept.back();
  const i64 columns = column.extent, lanes = lanes_of(problem, device);
  const double rows = double(problem.count()) * c.outers;
  const double row = columns < lanes ? few_seconds(problem, device) : ceil_div(columns, lanes) * vector_seconds;
  const double finish = double(problem.outputs()) * c.parts * output_seconds;
  const double loops = device.on_cores(rows * row + finish);
  const double read = read_seconds(problem, column, device) - device.launch;
  return device.launch + shared_seconds(std::max(read, loops), c.tasks(), device);
}

/// On the host, sums in the portable order.
Proposal in_pairs(const ReduceProblem& problem, Configuration values, const DeviceModel& device) {
  if (problem.recipe.masked) return refuse(no_masks);
  if (problem.recipe.accumulation != Accumulation::compensated) return refuse(own_order);
  if (!keeps_fastest(problem)) return refuse("the fastest axis of the input is not kept");
  const i64 block = values.at("block"), columns = problem.kept.back().extent, lanes = lanes_of(problem, device);
  if (columns < lanes) return refuse("its columns do not fill a vector");
  const i64 outers = problem.outputs() / columns;
  // Each block has two vectors at least, so that the last one, which may be short, has one.
  const i64 blocks = std::clamp<i64>(ceil_div(host_tasks, outers), ceil_div(columns, block),
                                     std::max(ceil_div(columns, block), columns / (2 * lanes)));
  const auto [pieces, split] = host_parts(problem, device, outers * blocks);
  values["launches"] = 1;
  return {.seconds = read_seconds(problem, problem.kept.back(), device),
          .configuration = values,
          .launches = [=, pieces = pieces, split = split, &problem] {
            ReduceLaunch main("columns_cpu", problem, {}, true);
            main.all_arguments = true;
            ReduceParams& params = main.params;
            params.column_blocks = blocks;
            params.parts = pieces.parts;
            params.part_rows = pieces.piece;
            params.tasks = outers * blocks * pieces.parts;
            const i64 rows = std::min(pieces.piece, problem.count());
            params.per_group = std::max<i64>(1, least_elements / (ceil_div(columns, blocks) * rows));
            main.defines()
                .set("BLOCK", block + std::max(vector_lanes, lanes))
                .set("AHEAD", ahead_bytes(problem, most_ahead, device) / problem.scalar_bytes())
                .set("IN_PAIRS", 1);
            return main.with_parts(ceil_div(params.tasks, params.per_group), split, outers * blocks);
          }};
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (problem.portable && device::is_host(device)) return in_pairs(problem, wish, device);
  if (std::string why = unfit_for_columns(problem); !why.empty()) return refuse(std::move(why));
  const i64 block = wish.at("block");
  const Cut c = cut(problem, block, device);
  Configuration values = wish;
  const Split split = split_of(c.parts, c.outers * c.blocks, values, device);
  const auto launches = [=, &problem] {
    ReduceLaunch main("columns_cpu", problem, {}, true);
    main.all_arguments = true;
    ReduceParams& params = main.params;
    params.column_blocks = c.blocks;
    params.parts = c.parts;
    params.part_rows = c.per_part;
    params.tasks = c.tasks();
    const i64 lanes = lanes_of(problem, device);
    const bool few = problem.kept.back().extent < lanes;
    const i64 least_tasks = few && c.tasks() >= wanted_tasks ? few_together : 1;
    params.per_group = std::max(least_tasks, least_elements / (std::min(params.columns, block) * c.per_part));
    main.defines()
        .set("BLOCK", block + std::max(vector_lanes, lanes))  // the last block of a row may have a vector more
        .set("AHEAD", ahead_bytes(problem, most_ahead, device) / problem.scalar_bytes())
        .set("IN_PAIRS", 0);
    return main.with_parts(ceil_div(params.tasks, params.per_group), split, c.outers * c.blocks);
  };
  return {.seconds = predicted_seconds(problem, c, device), .configuration = values, .launches = launches};
}

}  // namespace

ReduceCandidate columns_cpu_reduction() {
  return {
      {.name = "columns_cpu",
       .summary = "whole rows in memory's order on a CPU, where the fastest axis is kept",
       .tunables =
           {{"block", 4096, doublings(256, 16384), "columns",
             "that a task takes at once; f32 16384 x 16384, of the speed along rows: 2048 0.70, 4096 0.76, 8192 0.74"},
            launches_tunable()},
       .runtimes = {Api::opencl, Api::host},
       .runs_on = cpus},
      propose};
}

}  // namespace axisloom::ops
