// Variant "lesson": how summing an array is taught, step by step; its configurations are the rungs of a ladder.
#include "core/integers.hpp"
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
  if (wish.at("style") == shuffled && device.platform != "NVIDIA CUDA")
    return "shuffles between the items of a warp are NVIDIA's";
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
  all.list.insert(all.list.begin(), clear.done(1));
  return all;
}

/// How an array is cut: elements of a packet, groups, whose sums of so many lanes are parts. By size alone.
struct Cut {
  i64 elements, groups;
  i64 parts() const { return groups * elements; }
};

Cut cut(const ReduceProblem& problem, const Configuration& values) {
  constexpr i64 most_bytes = 16;  // of a packet
  const i64 elements = std::min(values.at("packet"), std::max<i64>(1, most_bytes / problem.element_bytes()));
  return {elements, ceil_div(problem.count(), values.at("items") * elements * values.at("loads"))};
}

/// A lane of a packet has a tree of its own.
Group group_of(const ReduceProblem& problem, const Cut& c, i64 items) {
  return {items, tree_group(problem.recipe, items * c.elements).local_bytes};
}

Launches launch_lesson(const ReduceProblem& problem, const Cut& c, Split split, const Configuration& values) {
  static constexpr const char* names[] = {"INTERLEAVED", "SEQUENTIAL", "UNROLLED", "SHUFFLED", "ATOMIC"};
  const i64 scalars = c.elements * problem.parts_of_element(), style = values.at("style");
  ReduceLaunch main("lesson", problem, group_of(problem, c, values.at("items")));
  main.launch.kernel.file = "lessons/lesson.kernel";
  const size_t run = problem.loops().size() - 1;
  const bool wide = scalars > 1 && proven_alignment(problem, run) >= scalars * problem.scalar_bytes();
  main.defines().set("STYLE", names[style]).set("LOADS", values.at("loads")).set("SCALARS", scalars).set("WIDE", wide);
  main.params.parts = c.parts();
  if (style == atomic) return around_counter(std::move(main), c.groups);
  return main.with_parts(c.groups, split, 1);
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = refusal(problem, wish, device); !why.empty()) return refuse(std::move(why));
  const core::Loop& run = problem.reduced.back();
  const Cut c = cut(problem, wish);
  const Split split = c.groups == 1 ? Split::none : split_of(c.parts(), 1, wish.at("launches"), device);
  Configuration values = wish;
  values["packet"] = c.elements;
  return {.group = group_of(problem, c, wish.at("items")),
          .seconds = read_seconds(problem, run, device),
          .configuration = values,
          .launches = [=, &problem] { return launch_lesson(problem, c, split, values); }};
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
                {"loads", 2, {1, 2, 4, 8}, "packets", "that an item adds on load; the lesson's two"},
                {"items", 256, {64, 128, 256, 512}, "work-items", "group size; the lesson's 256"},
                {"launches",
                 2,
                 {1, 2},
                 "launches",
                 "1: the last group to finish adds up; 2: a second launch does, as the host did"}},
           .chosen_on = no_kind},
          propose};
}

}  // namespace axisloom::ops
