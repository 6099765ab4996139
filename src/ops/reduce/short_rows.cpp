// Variant "short_rows": short runs that lie one behind the other, by way of local memory. For GPUs.
#include "core/integers.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr i64 packet_bytes = 16;
constexpr i64 most_team = 8;
constexpr i64 wanted_groups = 1056;  // that fill the 132 cores of an H200 twice, before a group takes more runs

/// How a reduction is cut: items of a run, runs of a group, a multiple of a round. By shape alone.
struct Cut {
  i64 team, runs, block;
  i64 groups(i64 outputs) const { return ceil_div(outputs, runs); }
};

/// No runs: they are too long.
Cut cut(const ReduceProblem& problem, const Configuration& values) {
  const i64 run_bytes = problem.count() * problem.element_bytes(), items = values.at("items");
  Cut c{.team = 1, .runs = 0, .block = values.at("block") / problem.scalar_bytes()};
  while (c.team < most_team && items / c.team * run_bytes > values.at("block")) c.team *= 2;
  const i64 round = items / c.team, rounds = values.at("block") / (round * run_bytes);
  c.runs = round * std::min(rounds, std::max<i64>(1, problem.outputs() / (wanted_groups * round)));
  return c;
}

/// Whether all runs are one block of memory, in the order of the outputs.
bool is_one_block(const ReduceProblem& problem) {
  const Loops& kept = problem.kept;
  return problem.reduced.size() == 1 && is_contiguous(problem) && kept.size() == 1 &&
         kept[0].in == problem.count() * problem.parts_of_element();
}

/// Of where the block begins.
i64 alignment_of(const ReduceProblem& problem) {
  Reduction start = problem;
  start.kept.clear();
  start.reduced = {{}};
  return proven_alignment(start, 0);
}

/// Whether the items of neighbouring runs, one to each, meet in the banks of local memory and have enough to take to
/// notice: rows of 8 floats took an H200 47 us, and 43 by plain, of 10 52 and 50, of 12 44 and 43; of 6 37 and 39, of
/// 24 halves 49 and 71.
bool meets_in_pairs(const ReduceProblem& problem) {
  constexpr i64 least = 32, end = 64, word = 4, two_words = 8;
  const i64 run_bytes = problem.count() * problem.element_bytes();
  return problem.scalar_bytes() >= word && run_bytes >= least && run_bytes < end && run_bytes % two_words == 0;
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = unfit(problem); !why.empty()) return refuse(std::move(why));
  if (problem.recipe.accumulation == Accumulation::place) return refuse("places are looked for in order");
  // An H200, us, and by plain: rows of 3 floats 51 and 67, of 5 45 and 54, of 2 halves 84 and 111. By rows: of 256
  // bytes 76 and 133, of 1024 278 and 251.
  constexpr i64 longest_run = 512;
  const i64 run_bytes = problem.count() * problem.element_bytes();
  if (!is_one_block(problem)) return refuse("the runs do not lie one behind the other");
  const Cut c = cut(problem, wish);
  if (c.runs == 0) return refuse("the runs are too long");
  const i64 items = wish.at("items"), groups = c.groups(problem.outputs());
  const i64 words = c.team == 1 ? 2 : items * problem.recipe.u64s();
  const Group group = {items, wish.at("block") + words * i64(sizeof(u64))};
  const double read = read_seconds(problem, problem.reduced.back(), device);
  const auto launches = [=, &problem] {
    ReduceLaunch main("short_rows", problem, group);
    const i64 scalars = std::max<i64>(problem.parts_of_element(), packet_bytes / problem.scalar_bytes());
    main.launch.kernel.resident = resident_items / items;
    main.params.per_group = c.runs;
    main.defines()
        .set("TEAM", c.team)
        .set("IN_FLIGHT", wish.at("in_flight"))
        .set("BLOCK", c.block)
        .set("SCALARS", scalars)
        .set("WIDE", scalars > 1 && alignment_of(problem) >= scalars * problem.scalar_bytes());
    return main.without_parts(groups);
  };
  return {.by_name_only =
              meets_in_pairs(problem) || run_bytes > longest_run ? "other ways are faster for runs this long" : "",
          .group = group,
          .seconds = gpu_kernel_seconds(problem, read, false, double(groups) * items, device),
          .configuration = wish,
          .launches = launches};
}

}  // namespace

ReduceCandidate short_rows_reduction() {
  return {{.name = "short_rows",
           .summary = "short runs one behind the other, brought into local memory in 16-byte packets",
           .tunables = {{"items", 128, doublings(64, 256), "work-items", "group size"},
                        {"in_flight", 8, doublings(1, 8), "packets", "that an item loads before it stores the first"},
                        {"block", 16384, doublings(8192, 32768), "bytes", "of runs that a group has in local memory"}},
           .chosen_on = gpus},
          propose};
}

}  // namespace axisloom::ops
