// Variant "portable": one order of additions for all devices, whatever they are. The kernel is that of rows, on the
// host that of rows_cpu (see there) or one that takes numbers one by one.
//
// The elements of an output are numbered along the reduced axes (largest stride first, as normalised). Runs of the last
// axis are cut into pieces of 65,536; a part is one piece, or as many whole runs as 65,536 elements and 4,096 additions
// allow. In a part, element i of a piece belongs to running sum i mod 256, which takes its elements in order; then sum
// t takes sum t + s for s = 128, 64 ... 1. Up to 32 parts are taken in order; of more, sum t takes parts t, t + 256,
// ... and the sums meet as before. Each sum carries its correction, and a quotient or a root is rounded once, from f64.
#include "core/integers.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr i64 items = 256;
constexpr i64 most_elements = 65536;  // of a piece, and of a part
constexpr i64 most_additions = 4096;
constexpr double element_loads = 1.1;  // time against packets: 2^28 floats took an H200 260 us, "rows" 245

}  // namespace

Pieces portable_pieces(const ReduceProblem& problem) {
  const i64 length = problem.reduced.back().extent;
  const i64 piece = std::min(most_elements, length), pieces = ceil_div(length, piece);
  const i64 per_part = std::max<i64>(1, std::min(most_elements / length, most_additions / ceil_div(length, items)));
  return {piece, pieces, ceil_div(pieces * (problem.count() / length), per_part), per_part};
}

Launches launches_in_turns(const ReduceProblem& problem, const Pieces& pieces, Split split) {
  ReduceLaunch main("scalar", problem);
  main.all_arguments = true;
  main.set_pieces(pieces);
  main.defines().set("IN_TURNS", 1);
  return main.with_parts(main.params.tasks, split, problem.outputs());
}

namespace {

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (!problem.portable) return refuse("only order=portable asks for this order of additions");
  const Loop& run = problem.reduced.back();
  const Pieces pieces = portable_pieces(problem);
  const double seconds = element_loads * read_seconds(problem, run, device);
  if (device::is_host(device)) {
    const Split split = split_of(pieces.parts, problem.outputs(), 1, device);
    if (split == Split::two_launches) return refuse("too many outputs have parts");
    return {.seconds = seconds, .configuration = wish, .launches = [=, &problem] {
              return launches_in_turns(problem, pieces, split);
            }};
  }
  const auto launches = [=, &problem] {
    ReduceLaunch main("rows", problem, tree_group(problem.recipe, items));
    main.set_pieces(pieces);
    main.defines()
        .set("TEAM", items)
        .set("IN_FLIGHT", wish.at("in_flight"))
        .set("SCALARS", problem.parts_of_element())
        .set("WIDE", 0);
    const Split split = pieces.parts == 1 ? Split::none : Split::two_launches;  // not every device has the one launch
    return main.with_parts(main.params.tasks, split, 0);
  };
  return {.group = tree_group(problem.recipe, items), .seconds = seconds, .configuration = wish, .launches = launches};
}

}  // namespace

ReduceCandidate portable_reduction() {
  return {{.name = "portable",
           .summary = "one order of additions for all devices",
           .tunables = {{"in_flight", 4, doublings(1, 8), "elements",
                         "loads that an item issues before it adds; the order stays"}}},
          propose};
}

}  // namespace axisloom::ops
