// Variant "stripe": runs of memory in whole vectors, by parts that the cores share. For CPUs.
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"
#include "ops/reduce/variants.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

constexpr double piece_seconds = 40e-9;     // bringing the lanes of a piece together; runs of 64: sums 32, maxima 39
constexpr double rest_seconds = 30e-9;      // what is left of a run when whole vectors are taken: rows of 100 floats
constexpr double strided_seconds = 1.2e-9;  // an element that is loaded by itself
constexpr std::int64_t few_chains = 4, many_chains = 8;
constexpr std::int64_t most_additions = 4096;  // of a lane of a chain
constexpr std::int64_t wanted_tasks = 32;     // for the cores to share; 2^20 floats on two of them: 32 175 us, 8 258 us
constexpr std::int64_t least_piece = 131072;  // bytes, where the tasks would be fewer
constexpr std::int64_t most_parts = 4096;     // of an output: one running sum takes them all
constexpr std::int64_t most_pieces = 4096;    // of a part, likewise

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"piece",
       524288,
       {16384, 65536, 131072, 262144, 524288, 1048576},
       "bytes",
       "of a run that a task takes; f32 from memory, of the read-only rate: 0.97, with half or twice as much, too"},
      {"ranges",
       16,
       {4, 8, 16},
       "ranges",
       "of a piece that are read side by side; f32 from memory, of the read-only rate: 16 0.97, 8 0.90; rows of 65536 "
       "0.98, 0.95, 4 0.92"},
      {"ahead",
       1024,
       {0, 512, 1024, 2048, 4096},
       "bytes",
       "how far ahead of the loads memory is asked for; f32, of the read-only rate: 1024 0.97, 512 0.96, 2048 0.93"},
      launches_tunable()};
  return list;
}

/// Elements that are loaded at once.
std::int64_t lanes_of(const ReduceProblem& problem) {
  return 16 / problem.parts_of_element();
}

/// Vectors of running sums, and the ranges of a piece that they take side by side.
struct Width {
  std::int64_t chains, ranges;
};

/// 8 vectors where they fit the registers and a run is long enough for them, else 4. A place is found by one chain,
/// which has to see its elements in order.
Width width(const ReduceProblem& problem, std::int64_t ranges) {
  constexpr std::int64_t registers = 16, register_bytes = 64, long_bytes = 32768;
  const Recipe& recipe = problem.reduction.recipe;
  if (problem.reduction.reduced.back().extent * problem.element_bytes() < long_bytes) return {few_chains, few_chains};
  const std::int64_t vectors =
      ceil_div(lanes_of(problem) * static_cast<std::int64_t>(size_of(recipe.value)), register_bytes);
  const std::int64_t chains = many_chains * vectors * recipe.words() <= registers ? many_chains : few_chains;
  return {chains, recipe.accumulation == Accumulation::place ? chains : ranges};
}

/// How a reduction is cut: elements of a piece, pieces of a run, parts of an output, pieces of a part. By shape alone.
struct Cut {
  std::int64_t piece, pieces, parts, share;
};

/// Bytes of a piece: `most`, or less where the tasks would be too few.
std::int64_t piece_bytes(const ReduceProblem& problem, std::int64_t most) {
  const std::int64_t all = problem.reduction.outputs() * problem.reduction.count() * problem.element_bytes();
  if (all <= most) return most;
  const auto even = static_cast<std::int64_t>(std::bit_floor(static_cast<std::uint64_t>(all / wanted_tasks)));
  return std::min(most, std::max(least_piece, even));
}

Cut cut(const ReduceProblem& problem, std::int64_t most) {
  const Reduction& reduction = problem.reduction;
  const std::int64_t most_elements = most_additions * lanes_of(problem) * few_chains;
  const std::int64_t piece = std::min(piece_bytes(problem, most) / problem.element_bytes(), most_elements);
  const std::int64_t run = reduction.reduced.back().extent;
  const std::int64_t pieces = std::max<std::int64_t>(1, ceil_div(run, piece));
  const std::int64_t all = pieces * std::max<std::int64_t>(1, reduction.count() / std::max<std::int64_t>(1, run));
  const std::int64_t wanted =
      std::min(ceil_div(reduction.count(), piece), std::max<std::int64_t>(1, most_parts / reduction.outputs()));
  const std::int64_t parts = std::clamp<std::int64_t>(std::max(wanted, ceil_div(all, most_pieces)), 1, all);
  const std::int64_t share = ceil_div(all, parts);
  return {piece, pieces, ceil_div(all, share), share};
}

Verdict consider(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (problem.portable) return Verdict::refuse("its order of additions is not the portable one");
  if (device.kind != Kind::cpu) return Verdict::refuse("written for CPUs: one item a group");
  const Reduction& reduction = problem.reduction;
  if (reduction.count() == 0) return Verdict::refuse("there is nothing to reduce");
  const ReduceAxis& run = reduction.reduced.back();
  const Cut c = cut(problem, values.at("piece"));
  const std::int64_t tasks = reduction.outputs() * c.parts;
  const bool contiguous = run.in == problem.parts_of_element();
  const bool whole = !contiguous || run.extent % lanes_of(problem) == 0;
  const double pieces =
      static_cast<double>(tasks) * static_cast<double>(c.share) * (piece_seconds + (whole ? 0 : rest_seconds));
  const double loads =
      contiguous ? 0
                 : static_cast<double>(reduction.count()) * static_cast<double>(reduction.outputs()) * strided_seconds;
  const double loops = (pieces + loads) / std::max(1u, device.compute_units);
  return Verdict::accept(shared_seconds(read_seconds(problem, run.extent, run.in, device) + loops, tasks, device));
}

ReduceLaunches lower(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Reduction& reduction = problem.reduction;
  const Cut c = cut(problem, values.at("piece"));
  ReduceLaunch main = reduce_launch(problem, "stripe", reduction.kept.size());
  ReduceParams& params = main.params;
  params.pieces = c.pieces;
  params.piece = c.piece;
  params.parts = c.parts;
  params.share = c.share;
  params.tasks = params.outputs * c.parts;
  params.per_group = std::max<std::int64_t>(1, c.piece / std::max<std::int64_t>(1, params.count / c.parts));
  const auto [chains, ranges] = width(problem, values.at("ranges"));
  main.defines().set("CHAINS", chains).set("RANGES", ranges);
  main.defines().set("AHEAD", values.at("ahead") / problem.element_bytes());
  main.defines().set("CONTIGUOUS", params.run_stride == problem.parts_of_element() ? 1 : 0);
  main.launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(params.tasks, params.per_group));
  const Split split = split_of(c.parts, params.outputs, values.at("launches"), device);
  return with_parts(std::move(main), problem, split, 1, params.outputs);
}

}  // namespace

ReduceCandidate stripe_reduction() {
  return {{"stripe", "runs of memory in whole vectors on a CPU", tunables(), true, false}, consider, lower};
}

}  // namespace axisloom::ops
