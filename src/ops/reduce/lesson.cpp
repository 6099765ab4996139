// Variant "lesson": how summing an array is taught, step by step; its configurations are the rungs of a ladder.
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"
#include "ops/reduce/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

enum Style : std::int64_t { interleaved, sequential, unrolled, shuffled, atomic };

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"style",
       sequential,
       {interleaved, sequential, unrolled, shuffled, atomic},
       "",
       "the tree: 0 interleaved, 1 sequential, 2 unrolled, 3 by shuffles, 4 none but an atomic counter"},
      {"packet", 4, {1, 2, 4}, "elements", "that an item loads at once, up to 16 bytes; the lesson's uint4"},
      {"loads", 2, {1, 2, 4, 8}, "packets", "that an item adds on load; the lesson's two"},
      {"items", 256, {64, 128, 256, 512}, "work-items", "group size; the lesson's 256"},
      {"launches",
       2,
       {1, 2},
       "launches",
       "1: the last group to finish adds up; 2: a second launch does, as the host did"}};
  return list;
}

std::int64_t elements_of(const ReduceProblem& problem, const Configuration& values) {
  return std::min(values.at("packet"), std::max<std::int64_t>(1, 16 / problem.element_bytes()));
}

std::size_t local_bytes(const ReduceProblem& problem, const Configuration& values) {
  return tree_bytes(problem.reduction.recipe, values.at("items") * elements_of(problem, values));
}

std::string refusal(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Reduction& reduction = problem.reduction;
  if (problem.portable) return "its order of additions is not the portable one";
  if (reduction.count() == 0) return "there is nothing to reduce";
  if (!reduction.kept.empty() || reduction.reduced.size() != 1 ||
      reduction.reduced.back().in != problem.parts_of_element())
    return "the lesson is about one contiguous array";
  if (values.at("style") == shuffled && device.platform != "NVIDIA CUDA")
    return "shuffles between the items of a warp are NVIDIA's";
  const bool counts = reduction.recipe.accumulation == Accumulation::total && reduction.recipe.words() == 1;
  if (values.at("style") == atomic && !counts)
    return "only sums of integers are the same in any order, as atomic ones are";
  if (values.at("launches") == 1 && !device.device_scope_order)
    return "groups of one launch cannot be ordered on this device, so that none knows that it is the last";
  if (const std::size_t local = local_bytes(problem, values); local > device.local_memory)
    return "needs " + std::to_string(local) + " bytes of local memory a group";
  return {};
}

Verdict consider(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (std::string why = refusal(problem, values, device); !why.empty()) return Verdict::refuse(std::move(why));
  const ReduceAxis& run = problem.reduction.reduced.back();
  // A group has little to do, and a second launch follows; on a CPU the items of a group run one after the other.
  const double detour = device.kind == Kind::cpu ? 12 : 2;
  return Verdict::accept(detour * read_seconds(problem, run.extent, run.in, device));
}

/// The launches around a counter that all items add to: one to clear it, one to turn it into the result.
ReduceLaunches around_counter(ReduceLaunch main, const ReduceProblem& problem, unsigned items) {
  ReduceLaunch clear = reduce_launch(problem, "lesson", 0);
  clear.defines() = main.defines();
  clear.defines().set("SPLIT", "TWO_LAUNCHES");
  clear.launch.kernel.kernel = "clear";
  clear.launch.kernel.items = clear.launch.geometry.items = items;
  clear.launch.geometry.local_bytes = 0;
  clear.launch.buffers = {{workspace_view, 0, 8}};
  clear.launch.params = params_bytes(clear.params);
  main.params.parts = 1;
  ReduceLaunches all = with_parts(std::move(main), problem, Split::two_launches, items, 0);
  all.launches.insert(all.launches.begin(), std::move(clear.launch));
  return all;
}

ReduceLaunches lower(const ReduceProblem& problem, const Configuration& values, const DeviceInfo& device) {
  static constexpr const char* names[] = {"INTERLEAVED", "SEQUENTIAL", "UNROLLED", "SHUFFLED", "ATOMIC"};
  const std::int64_t items = values.at("items"), elements = elements_of(problem, values), style = values.at("style");
  const std::int64_t scalars = elements * problem.parts_of_element(), bytes = scalars * problem.scalar_bytes();
  ReduceLaunch main = reduce_launch(problem, "lesson", 0);
  const std::int64_t groups = ceil_div(main.params.count, items * elements * values.at("loads"));
  const bool wide = scalars > 1 && proven_alignment(problem.reduction, 0) >= bytes;
  main.defines().set("STYLE", names[style]).set("LOADS", values.at("loads"));
  main.defines().set("SCALARS", scalars).set("WIDE", wide ? 1 : 0);
  main.params.parts = groups * elements;
  main.launch.geometry.groups = static_cast<std::uint64_t>(groups);
  main.launch.geometry.local_bytes = local_bytes(problem, values);
  if (style == atomic) return around_counter(std::move(main), problem, static_cast<unsigned>(items));
  const Split split = groups == 1 ? Split::none : split_of(main.params.parts, 1, values.at("launches"), device);
  return with_parts(std::move(main), problem, split, static_cast<unsigned>(items), 1);
}

}  // namespace

ReduceCandidate lesson_reduction() {
  return {{"lesson", "an array's sum as it is taught: local memory, then a second step", tunables(), true, true},
          consider,
          lower};
}

}  // namespace axisloom::ops
