// Variant "rows": runs of memory in 16-byte packets, by parts that groups share. For GPUs.
#include "core/integers.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr i64 packet_bytes = 16;
constexpr i64 most_additions = 4096;   // of one running sum
constexpr i64 least_bytes = 32 << 10;  // of a part: several rounds of loads of every item
constexpr i64 most_singles = 16;       // single elements that an item loads before it adds: a register each
constexpr i64 most_joined = 4;         // packets at once, each of which takes the registers of two
constexpr i64 most_pieces = 64;        // of one of many runs: what is tried before a plan runs
constexpr i64 small_team = 8, warp_team = 32;
// Of a load's latency, a team's part however little there is to read: its place, its loads, its tree. On an H200 sums
// of 1757829 rows of 2 halves took 222 us, of 502766 of 9 doubles 60, places in 148272 of 9 integers 25.
constexpr double team_latencies = 6.5;

/// How a reduction is cut, and the items of a team. By shape alone.
struct Cut : Pieces {
  i64 team;
};

/// What an item takes at once: `scalars` side by side, as wide as the strides leave all runs aligned; or 16 bytes that
/// begin anywhere; or as many single elements. By strides alone: where the array begins does not change the order of
/// the additions.
struct PacketForm {
  i64 scalars;
  bool single, joined;
};

/// Whether packets that begin anywhere may be put together from aligned ones: single elements are so small that they do
/// not fill the width of a warp's loads.
bool can_join_packets(const ReduceProblem& problem) {
  constexpr i64 widest = 2;
  return problem.scalar_bytes() <= widest && problem.parts_of_element() == 1 && begins_lowest(problem);
}

PacketForm form_of(const ReduceProblem& problem) {
  if (!is_contiguous(problem) || problem.recipe.masked) return {problem.parts_of_element(), true, false};
  const i64 bytes = std::min(packet_bytes, alignment_of_strides(problem, problem.loops().size() - 1));
  constexpr i64 least_elements = 4;  // of a narrower packet, for which it is worth a kernel of its own
  const bool single = bytes < packet_bytes && bytes < least_elements * problem.element_bytes();
  if (single && can_join_packets(problem)) return {packet_bytes / problem.scalar_bytes(), false, true};
  const i64 scalars = (single ? packet_bytes : bytes) / problem.scalar_bytes();
  return {std::max<i64>(problem.parts_of_element(), scalars), single, false};
}

/// Items of a team: of few outputs as many as have a packet each; of many, as many as keep all their loads in flight.
/// On an H200 1048576 rows of 256 floats take 8 items each, and are read at 4356 GB/s; with 32 items it was 1600.
i64 team_of(i64 count, i64 elements, bool many, const Configuration& values) {
  const i64 items = values.at("items"), in_flight = values.at("in_flight");
  if (many) {
    if (count >= in_flight * items * elements) return items;
    return count >= in_flight * warp_team * elements ? warp_team : small_team;
  }
  if (count >= small_team * warp_team * elements) return items;
  return count > small_team * elements ? warp_team : small_team;
}

/// Pieces of each of `runs` runs, up to `most`: as few as let nearly `parts` parts, and no fewer than `least`, have as
/// many pieces each. On an H200 means of 32 x 3 x 512 x 512 floats over batch and image took 32.6 us where 291 groups
/// had two pieces each and 237 had none.
i64 pieces_of_run(i64 runs, i64 parts, i64 least, i64 most) {
  constexpr double nearly = 0.9;
  i64 best = 1, used = 0;
  for (i64 pieces = std::max<i64>(1, parts / runs); pieces <= most; ++pieces) {
    const i64 now = ceil_div(pieces * runs, ceil_div(pieces * runs, parts));
    if (now > used) best = pieces, used = now;
    if (now >= least && now >= nearly * parts) break;
  }
  return best;
}

Cut cut(const ReduceProblem& problem, const Configuration& values) {
  const i64 count = problem.count(), run = problem.reduced.back().extent, runs = count / run;
  const i64 elements = form_of(problem).scalars / problem.parts_of_element(), sums = std::min<i64>(4, elements);
  Cut c{};
  c.team = team_of(count, elements, problem.outputs() > values.at("parts"), values);
  const i64 wanted = std::min(parts_of_task(values.at("parts"), problem.outputs()),
                              ceil_div(count * problem.element_bytes(), least_bytes));
  const i64 least = ceil_div(count, most_additions * c.team * sums), parts = std::max(wanted, least);
  const i64 round = c.team * elements;
  const i64 most_rounds = 4 * values.at("in_flight");  // of a run; longer ones leave few items without a packet
  if (runs > 1 && run < most_rounds * round && !problem.recipe.masked) {
    c.piece = 0;  // runs are taken as if they were one
    c.pieces = 1;
    c.per_part = ceil_div(runs, parts);
    c.parts = ceil_div(runs, c.per_part);
    return c;
  }
  const i64 most = std::max(ceil_div(parts, runs), std::min(run / round, most_pieces));
  c.piece = ceil_div(ceil_div(run, pieces_of_run(runs, parts, least, most)), round) * round;
  c.pieces = ceil_div(run, c.piece);
  c.per_part = ceil_div(c.pieces * runs, parts);
  c.parts = ceil_div(c.pieces * runs, c.per_part);
  return c;
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = unfit_for_order(problem); !why.empty()) return refuse(std::move(why));
  const Loop& run = problem.reduced.back();
  const i64 items = wish.at("items"), outputs = problem.outputs();
  const Cut c = cut(problem, wish);
  Configuration values = wish;
  // Only whole groups take tickets, and a mask's kernel has no room for the arguments of one launch.
  if (c.team != items || problem.recipe.masked) values["launches"] = 2;
  const Split split = split_of(c.parts, outputs, values, device);
  const double all_items = double(outputs) * (c.parts * c.team);
  const double rounds = device.is_cpu() ? 0 : all_items / (device.units() * resident_items);
  const double teams = device.launch + rounds * team_latencies * device.latency;
  const double read = std::max(teams, read_seconds(problem, run, device));
  const auto launches = [=, &problem] {
    ReduceLaunch main("rows", problem, tree_group(problem.recipe, items));
    main.set_pieces(c);
    const auto [scalars, single, joined] = form_of(problem);
    const i64 elements = scalars / problem.parts_of_element();
    const bool interleaved = single && elements > 1;
    const i64 in_flight = values.at("in_flight");
    const i64 alignment = proven_alignment(problem, problem.loops().size() - 1);
    const bool wide = scalars > 1 && alignment >= scalars * problem.scalar_bytes();
    main.launch.kernel.resident = resident_items / items;
    main.defines()
        .set("TEAM", c.team)
        .set("IN_FLIGHT", interleaved ? std::clamp<i64>(most_singles / elements, 1, in_flight)
                          : joined    ? std::min(in_flight, most_joined)
                                      : in_flight)
        .set("INTERLEAVED", interleaved)
        .set("SCALARS", scalars)
        .set("JOINED", joined)
        .set("WIDE", wide && !joined);
    return main.with_parts(ceil_div(main.params.tasks, items / c.team), split, outputs);
  };
  return {.group = tree_group(problem.recipe, items),
          .seconds = gpu_kernel_seconds(problem, read, c.parts > 1, all_items, device),
          .configuration = values,
          .launches = launches};
}

}  // namespace

ReduceCandidate rows_reduction() {
  return {
      {.name = "rows",
       .summary = "runs of memory in 16-byte packets, a team of items to each",
       .tunables = {{"items", 256, doublings(64, 512), "work-items", "group size"},
                    {"in_flight", 8, doublings(1, 8), "packets",
                     "loads that an item issues before it adds; 2^28 floats on an H200: 4369 GB/s with 8, 4343 with 4"},
                    {"parts", 528, doublings(528, 4224), "parts",
                     "of all outputs that are wanted: what the 132 cores of an H200 hold at once, for a second round "
                     "never ends "
                     "even. "
                     "2^28 floats there: 4369 GB/s, with 1056, 2112 and 4224 parts 4351, 4324 and 4262"},
                    launches_tunable()}},
      propose};
}

}  // namespace axisloom::ops
