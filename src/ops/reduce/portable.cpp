// Variant "portable": one order of additions for all devices, whatever they are. The kernel is `pairs`, on the host
// that of rows_cpu (see there) or one that takes numbers one by one.
//
// The elements of an output are numbered along the reduced axes (largest stride first, as normalised). Neighbours come
// together: 0 and 1, 2 and 3 and so on, then what these came to, until one is left; what has no neighbour waits. There
// are no corrections, and a quotient or a root is rounded once, from f64. So a block of 2^k elements that begins at a
// multiple of 2^k has a sum of its own, and parts are such blocks: how long they are shows in no bit.
#include "core/integers.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

constexpr i64 items = 256;
constexpr i64 unit = 16;                    // elements that an item takes at once
constexpr i64 long_unit = 32;               // of one long run: 2^28 floats 309 us on an H200, and 319 with 16
constexpr i64 wanted_items = i64{1} << 17;  // as many as an H200 holds at once; parts double
constexpr i64 host_part = 65536;            // elements
constexpr i64 together = 16;                // outputs that the kernel `scalar` takes, as there
constexpr double element_loads = 1.1;       // time against a copy's rate of reading

i64 power_of_two(i64 least) {
  return i64(std::bit_ceil(u64(least)));
}

/// Items of a team: along runs of memory so many that each has a unit or two. Across them one, whose neighbours take
/// neighbouring outputs.
i64 team_of(const ReduceProblem& problem) {
  if (keeps_fastest(problem) && !is_contiguous(problem)) return 1;
  const i64 count = problem.count();
  for (const i64 team : {items, i64{32}, i64{8}})
    if (count >= team * unit / 2) return team;
  return 1;
}

/// Elements that an item takes at once: 64 or 128 bytes. On an H200 2^26 complex numbers of 8 bytes took 177 us by 16
/// of them, and 205 by 32; means of 32 x 3 x 512 x 512 floats over batch and image, which lie in many runs, 79 and 151.
i64 unit_of(const ReduceProblem& problem, i64 team) {
  constexpr i64 widest = 4;  // bytes of an element of long units
  const bool is_long = problem.reduced.size() == 1 && team == items && problem.count() >= items * long_unit;
  return is_long && is_contiguous(problem) && problem.element_bytes() <= widest ? long_unit : unit;
}

Pieces pieces_of(const ReduceProblem& problem, i64 piece) {
  const i64 parts = ceil_div(problem.count(), piece);
  return {piece, parts, parts, 1};
}

/// Shorter parts as long as there are too few items for the loads, and each has a round.
Pieces pieces_of_teams(const ReduceProblem& problem, i64 team) {
  const i64 round = team * unit_of(problem, team);
  i64 piece = power_of_two(std::max(problem.count(), round));
  while (piece > round && problem.outputs() * ceil_div(problem.count(), piece) * team < wanted_items) piece /= 2;
  return pieces_of(problem, piece);
}

i64 scalars_of(const ReduceProblem& problem) {
  constexpr i64 packet_bytes = 16;
  const bool side_by_side = is_contiguous(problem) && problem.reduced.size() == 1 && !problem.recipe.masked;
  return side_by_side ? packet_bytes / problem.scalar_bytes() : problem.parts_of_element();
}

}  // namespace

std::pair<Pieces, Split> host_parts(const ReduceProblem& problem, const DeviceModel& device, i64 tickets) {
  const Pieces pieces = pieces_of(problem, host_part);
  const Split split = split_of(pieces.parts, tickets, 1, device);
  if (split != Split::two_launches) return {pieces, split};
  return {pieces_of(problem, power_of_two(problem.count())), Split::none};  // so many outputs are tasks enough
}

Launches launches_in_pairs(const ReduceProblem& problem, const Pieces& pieces, Split split) {
  constexpr i64 least_elements = 16384;  // of a group: long against its start
  ReduceLaunch main("scalar", problem);
  main.all_arguments = true;
  main.set_pieces(pieces);
  main.params.tasks = ceil_div(main.params.outputs, together) * pieces.parts;
  main.params.per_group = std::max<i64>(1, least_elements / (together * std::min(pieces.piece, problem.count())));
  main.defines().set("IN_PAIRS", 1);
  return main.with_parts(ceil_div(main.params.tasks, main.params.per_group), split, problem.outputs());
}

namespace {

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (!problem.portable) return refuse("only order=portable asks for this order of additions");
  const double seconds = element_loads * read_seconds(problem, problem.reduced.back(), device);
  if (device::is_host(device)) {
    const auto [pieces, split] = host_parts(problem, device, problem.outputs());
    return {.seconds = seconds, .configuration = wish, .launches = [pieces = pieces, split = split, &problem] {
              return launches_in_pairs(problem, pieces, split);
            }};
  }
  const i64 team = team_of(problem);
  const Pieces pieces = pieces_of_teams(problem, team);
  const Group group = team > 1 ? tree_group(problem.recipe, items) : Group{items};
  const auto launches = [=, &problem] {
    ReduceLaunch main("pairs", problem, group);
    main.set_pieces(pieces);
    const i64 scalars = scalars_of(problem);
    const bool wide =
        scalars > 1 && proven_alignment(problem, problem.loops().size() - 1) >= scalars * problem.scalar_bytes();
    main.defines()
        .set("UNIT", unit_of(problem, team))
        .set("TEAM", team)
        .set("SCALARS", scalars)
        .set("WIDE", wide)
        .set("ONE_RUN", problem.reduced.size() == 1)
        .set("ONE_ROUND", std::min(pieces.piece, problem.count()) <= team * unit_of(problem, team));
    const Split split = pieces.parts == 1 ? Split::none : Split::two_launches;  // not every device has the one launch
    return main.with_parts(ceil_div(main.params.tasks, items / team), split, 0);
  };
  return {.group = group, .seconds = seconds, .configuration = wish, .launches = launches};
}

}  // namespace

ReduceCandidate portable_reduction() {
  return {{.name = "portable", .summary = "one order of additions for all devices", .tunables = {}}, propose};
}

}  // namespace axisloom::ops
