// Variant "lesson": how summing an array is taught, step by step; its configurations are the rungs of a ladder.
#include "core/integers.hpp"
#include "ops/nvidia/nvidia.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

enum Style : i64 { interleaved, sequential, unrolled, shuffled, atomic };

std::string refusal(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = unfit(problem); !why.empty()) return why;
  if (!problem.kept.empty() || problem.reduced.size() != 1 || !is_contiguous(problem))
    return "the lesson is about one contiguous array";
  if (wish.at("style") == shuffled && !has_warps(device)) return "shuffles between the items of a warp are NVIDIA's";
  const bool counts = problem.recipe.accumulation == Accumulation::total && problem.recipe.u64s() == 1;
  if (wish.at("style") == atomic && !counts)
    return "only sums of integers are the same in any order, as atomic ones are";
  if (wish.at("launches") == 1 && !device.device_scope_order)
    return "this device cannot order the groups of one launch, so no group can tell whether it is the last";
  return {};
}

/// The launches around a counter that all items add to: one to clear it, one to turn it into the result.
Launches around_counter(ReduceLaunch main, i64 groups) {
  ReduceLaunch clear("lesson", main.problem, {main.launch.geometry.items});
  clear.launch.kernel = main.launch.kernel;
  clear.launch.kernel.kernel = "clear";
  clear.defines().set("SPLIT", "TWO_LAUNCHES");
  clear.launch.buffers = {{workspace_view, 0, 8}};
  main.params.parts = 1;
  Launches all = main.with_parts(groups, Split::two_launches, 0);
  all.list.insert(all.list.begin(), clear.closed(1));
  return all;
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = refusal(problem, wish, device); !why.empty()) return refuse(std::move(why));
  constexpr i64 most_bytes = 16;  // of a packet
  const i64 elements = std::min(wish.at("packet"), std::max<i64>(1, most_bytes / problem.element_bytes()));
  const i64 items = wish.at("items"), loads = wish.at("loads"), style = wish.at("style");
  // How an array is cut, by size alone: groups, whose sums of so many lanes are parts.
  const i64 groups = ceil_div(problem.count(), items * elements * loads), parts = groups * elements;
  const Split split = groups == 1 ? Split::none : split_of(parts, 1, wish.at("launches"), device);
  // A lane of a packet has a tree of its own.
  const Group group{items, tree_group(problem.recipe, items * elements).local_bytes};
  Configuration values = wish;
  values["packet"] = elements;
  const auto launches = [=, &problem] {
    static constexpr const char* names[] = {"INTERLEAVED", "SEQUENTIAL", "UNROLLED", "SHUFFLED", "ATOMIC"};
    const i64 scalars = elements * problem.parts_of_element();
    ReduceLaunch main("lesson", problem, group);
    main.launch.kernel.file = "lessons/lesson.kernel";
    main.all_arguments = true;
    const size_t run = problem.loops().size() - 1;
    const bool wide = scalars > 1 && proven_alignment(problem, run) >= scalars * problem.scalar_bytes();
    main.defines().set("STYLE", names[style]).set("LOADS", loads).set("SCALARS", scalars).set("WIDE", wide);
    main.params.parts = parts;
    return style == atomic ? around_counter(std::move(main), groups) : main.with_parts(groups, split, 1);
  };
  return {.group = group,
          .seconds = read_seconds(problem, problem.reduced.back(), device),
          .configuration = values,
          .launches = launches};
}

}  // namespace

ReduceCandidate lesson_reduction() {
  return {{.name = "lesson",
           .summary = "an array's sum as it is taught: local memory, then a second step",
           .tunables =
               {{"style",
                 sequential,
                 {interleaved, sequential, unrolled, shuffled, atomic},
                 "",
                 "the tree: 0 interleaved, 1 sequential, 2 unrolled, 3 by shuffles, 4 none but an atomic counter"},
                {"packet", 4, {1, 2, 4}, "elements", "that an item loads at once, up to 16 bytes; the lesson's uint4"},
                {"loads", 2, doublings(1, 8), "packets", "that an item adds on load; the lesson's two"},
                {"items", 256, doublings(64, 512), "work-items", "group size; the lesson's 256"},
                {"launches",
                 2,
                 {1, 2},
                 "launches",
                 "1: the last group to finish adds up; 2: a second launch does, as the host did"}},
           .chosen_on = no_kind},
          propose};
}

}  // namespace axisloom::ops
