// Variant "rows": runs of memory in 16-byte packets, by parts that groups share. For GPUs.
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"
#include "ops/reduce/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr std::int64_t most_additions = 4096;   // of one running sum
constexpr std::int64_t least_bytes = 32 << 10;  // of a part: several rounds of loads of every item
constexpr std::int64_t resident_items = 1024;  // of a compute unit: with more, CUDA's compiler spills what is in flight
constexpr double step_seconds = 1.5e-6;        // a tree, a ticket and what the last group does, against a bare launch

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items", 256, {64, 128, 256, 512}, "work-items", "group size"},
      {"in_flight",
       8,
       {1, 2, 4, 8},
       "packets",
       "loads that an item issues before it adds; 2^28 floats on an H200: 4369 GB/s with 8, 4343 with 4"},
      {"parts",
       528,
       {528, 1056, 2112, 4224},
       "parts",
       "of all outputs that are wanted: what the 132 cores of an H200 hold at once, for a second round never ends "
       "even. "
       "2^28 floats there: 4369 GB/s, with 1056, 2112 and 4224 parts 4351, 4324 and 4262"},
      launches_tunable()};
  return list;
}

/// How a reduction is cut: items of a team, pieces of a run, parts of an output, pieces of a part. By shape alone.
struct Cut {
  std::int64_t team, piece, pieces, parts, share;
};

std::int64_t scalars_of(const ReduceProblem& problem) {
  const bool contiguous = problem.reduction.reduced.back().in == problem.parts_of_element();
  return contiguous ? 16 / problem.scalar_bytes() : problem.parts_of_element();
}

/// Items of a team: of few outputs as many as have a packet each; of many, as many as keep all their loads in flight.
/// On an H200 1048576 rows of 256 floats take 8 items each, and are read at 4356 GB/s; with 32 items it was 1600.
std::int64_t team_of(std::int64_t count, std::int64_t elements, bool many, const Configuration& values) {
  const std::int64_t items = values.at("items"), in_flight = values.at("in_flight");
  if (many) {
    if (count >= in_flight * items * elements) return items;
    return count >= in_flight * 32 * elements ? 32 : 8;
  }
  if (count >= 8 * 32 * elements) return items;
  return count > 8 * elements ? 32 : 8;
}

Cut cut(const ReduceProblem& problem, const Configuration& values) {
  const Reduction& reduction = problem.reduction;
  const std::int64_t count = reduction.count(), run = reduction.reduced.back().extent, runs = count / run;
  const std::int64_t elements = scalars_of(problem) / problem.parts_of_element(),
                     sums = std::min<std::int64_t>(4, elements);
  Cut c{};
  c.team = team_of(count, elements, reduction.outputs() > values.at("parts"), values);
  const std::int64_t wanted = std::min(ceil_div(values.at("parts"), reduction.outputs()),
                                       ceil_div(count * problem.element_bytes(), least_bytes));
  const std::int64_t parts = std::max(wanted, ceil_div(count, most_additions * c.team * sums));
  const std::int64_t round = c.team * elements;
  c.piece = ceil_div(ceil_div(run, ceil_div(parts, runs)), round) * round;
  c.pieces = ceil_div(run, c.piece);
  c.share = ceil_div(c.pieces * runs, parts);
  c.parts = ceil_div(c.pieces * runs, c.share);
  return c;
}

Verdict consider(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (problem.portable) return Verdict::refuse("its order of additions is not the portable one");
  const Reduction& reduction = problem.reduction;
  if (reduction.count() == 0) return Verdict::refuse("there is nothing to reduce");
  const std::size_t local = tree_bytes(reduction.recipe, values.at("items"));
  if (local > device.local_memory)
    return Verdict::refuse("needs " + std::to_string(local) + " bytes of local memory a group");
  const ReduceAxis& run = reduction.reduced.back();
  const Cut c = cut(problem, values);
  const double idle = std::max(1.0, static_cast<double>(c.team * scalars_of(problem)) /
                                        static_cast<double>(run.extent * problem.parts_of_element()));
  const double seconds = read_seconds(problem, run.extent, run.in, device) * std::min(idle, 8.0);
  if (device.kind == Kind::cpu)
    return Verdict::accept(
        8 * seconds + step_seconds +
        items_seconds(static_cast<double>(reduction.outputs()) * static_cast<double>(c.parts * c.team), device));
  return Verdict::accept(seconds + (c.parts > 1 ? step_seconds : 0));
}

ReduceLaunches lower(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Reduction& reduction = problem.reduction;
  const Cut c = cut(problem, values);
  const std::int64_t items = values.at("items"), scalars = scalars_of(problem);
  ReduceLaunch main = reduce_launch(problem, "rows", reduction.kept.size());
  ReduceParams& params = main.params;
  params.piece = c.piece;
  params.pieces = c.pieces;
  params.parts = c.parts;
  params.share = c.share;
  params.tasks = params.outputs * c.parts;
  const bool wide =
      scalars > 1 && proven_alignment(reduction, reduction.reduced.size() - 1) >= scalars * problem.scalar_bytes();
  main.launch.kernel.resident = static_cast<unsigned>(std::max<std::int64_t>(1, resident_items / items));
  main.defines().set("TEAM", c.team).set("IN_FLIGHT", values.at("in_flight"));
  main.defines().set("SCALARS", scalars).set("WIDE", wide ? 1 : 0);
  main.launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(params.tasks, items / c.team));
  main.launch.geometry.local_bytes = tree_bytes(reduction.recipe, items);
  const std::int64_t launches = c.team == items ? values.at("launches") : 2;  // only whole groups take tickets
  const Split split = split_of(c.parts, params.outputs, launches, device);
  return with_parts(std::move(main), problem, split, static_cast<unsigned>(items), params.outputs);
}

}  // namespace

ReduceCandidate rows_reduction() {
  return {
      {"rows", "runs of memory in 16-byte packets, a team of items to each", tunables(), true, true}, consider, lower};
}

}  // namespace axisloom::ops
