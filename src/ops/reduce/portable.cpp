// Variant "portable": one order of additions for all devices, whatever they are. The kernel is that of rows.
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
constexpr i64 piece = 65536;
constexpr i64 most_additions = 4096;
constexpr double element_loads = 2;  // time of loads by the element, against packets (an estimate)

const std::vector<Tunable>& tunables() {
  static const std::vector<Tunable> list = {
      {"in_flight", 4, {1, 2, 4, 8}, "elements", "loads that an item issues before it adds; the order stays"}};
  return list;
}

Launches launch_portable(const ReduceProblem& problem, const Configuration& values) {
  ReduceLaunch main("rows", problem, tree_group(problem.recipe, items));
  ReduceParams& params = main.params;
  params.piece = std::min(piece, params.run);
  params.pieces = ceil_div(params.run, params.piece);
  params.part_pieces = std::max<i64>(1, std::min(piece / params.run, most_additions / ceil_div(params.run, items)));
  params.parts = ceil_div(params.pieces * params.runs, params.part_pieces);
  params.tasks = params.outputs * params.parts;
  main.defines().set("TEAM", items).set("IN_FLIGHT", values.at("in_flight"));
  main.defines().set("SCALARS", problem.parts_of_element()).set("WIDE", 0);
  const Split split = params.parts == 1 ? Split::none : Split::two_launches;  // not every device has the one launch
  return main.with_parts(params.tasks, split, 0);
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (!problem.portable) return refuse("only order=portable asks for this order of additions");
  const core::Loop& run = problem.reduced.back();
  return {.group = tree_group(problem.recipe, items),
          .seconds = element_loads * read_seconds(problem, run, device),
          .configuration = wish,
          .launches = [=, &problem] { return launch_portable(problem, wish); }};
}

}  // namespace

ReduceCandidate portable_reduction() {
  return {{.name = "portable", .summary = "one order of additions for all devices", .tunables = tunables()}, propose};
}

}  // namespace axisloom::ops
