// Variant "portable": one order of additions for all devices, whatever they are. The kernel is that of rows.
//
// The elements of an output are numbered along the reduced axes (largest stride first, as normalised). Runs of the last
// axis are cut into pieces of 65,536; a part is one piece, or as many whole runs as 65,536 elements and 4,096 additions
// allow. In a part, element i of a piece belongs to running sum i mod 256, which takes its elements in order; then sum
// t takes sum t + s for s = 128, 64 ... 1. Up to 32 parts are taken in order; of more, sum t takes parts t, t + 256,
// ... and the sums meet as before. Each sum carries its correction, and a quotient or a root is rounded once, from f64.
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"
#include "ops/reduce/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr std::int64_t items = 256;
constexpr std::int64_t piece = 65536;
constexpr std::int64_t most_additions = 4096;

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"in_flight", 4, {1, 2, 4, 8}, "elements", "loads that an item issues before it adds; the order stays"}};
  return list;
}

Verdict consider(const ReduceProblem& problem, const Configuration&, const DeviceInfo& device) {
  if (!problem.portable) return Verdict::refuse("the order of additions is free: order=portable asks for this one");
  if (const std::size_t local = tree_bytes(problem.reduction.recipe, items); local > device.local_memory)
    return Verdict::refuse("needs " + std::to_string(local) + " bytes of local memory a group");
  const ReduceAxis& run = problem.reduction.reduced.back();
  return Verdict::accept(2 * read_seconds(problem, run.extent, run.in, device));
}

ReduceLaunches lower(const ReduceProblem& problem, const Configuration& values, const DeviceInfo&) {
  ReduceLaunch main = reduce_launch(problem, "rows", problem.reduction.kept.size());
  ReduceParams& params = main.params;
  params.piece = std::min(piece, params.run);
  params.pieces = ceil_div(params.run, params.piece);
  if (params.run < piece)
    params.share =
        std::max<std::int64_t>(1, std::min(piece / params.run, most_additions / ceil_div(params.run, items)));
  params.parts = ceil_div(params.pieces * params.runs, params.share);
  params.tasks = params.outputs * params.parts;
  main.defines().set("TEAM", items).set("IN_FLIGHT", values.at("in_flight"));
  main.defines().set("SCALARS", problem.parts_of_element()).set("WIDE", 0);
  main.launch.geometry.groups = static_cast<std::uint64_t>(params.tasks);
  main.launch.geometry.local_bytes = tree_bytes(problem.reduction.recipe, items);
  const Split split = params.parts == 1 ? Split::none : Split::two_launches;  // not every device has the one launch
  return with_parts(std::move(main), problem, split, items, 0);
}

}  // namespace

ReduceCandidate portable_reduction() {
  return {{"portable", "one order of additions for all devices", tunables(), true, true}, consider, lower};
}

}  // namespace axisloom::ops
