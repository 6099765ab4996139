// The candidates of the reductions: what variants.inc lists, and what several of them ask.
#include "ops/reduce/candidate.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace axisloom::ops {

#define VARIANT(name) ReduceCandidate name##_reduction();
#include "ops/reduce/variants.inc"
#undef VARIANT

const Candidates<ReduceProblem>& reduce_candidates() {
  static const Candidates<ReduceProblem> candidates = {
#define VARIANT(name) name##_reduction(),
#include "ops/reduce/variants.inc"
#undef VARIANT
  };
  return candidates;
}

std::string shape_class(const ReduceProblem& problem) {
  constexpr i64 large_bytes = 64 << 20;  // moved, from which tuned values are kept apart: beyond most caches
  return concat(problem.recipe.masked ? "masked " : "", name(problem.recipe.in), " ", name(problem.recipe.reducer),
                problem.kept.empty() ? " whole " : " axes ", problem.bytes_moved() >= large_bytes ? "large" : "small");
}

std::string unfit_for_order(const ReduceProblem& problem) {
  if (problem.portable) return own_order;
  return problem.count() == 0 ? "there is nothing to reduce" : "";
}

std::string unfit(const ReduceProblem& problem) {
  return problem.recipe.masked ? no_masks : unfit_for_order(problem);
}

i64 lanes_of(const ReduceProblem& problem, const DeviceModel& device) {
  constexpr i64 register_bytes = 64;
  const Recipe& recipe = problem.recipe;
  const bool filled = device::is_host(device) && recipe.accumulation == Accumulation::extreme &&
                      problem.parts_of_element() == 1 && !recipe.value_floats();
  if (filled) return std::max(vector_lanes, register_bytes / problem.scalar_bytes());
  return vector_lanes / problem.parts_of_element();
}

i64 parts_of_task(i64 wanted, i64 tasks) {
  const i64 fewer = wanted / tasks;
  return 4 * fewer * tasks >= 3 * wanted ? fewer : fewer + 1;
}

i64 alignment_of_strides(const ReduceProblem& problem, size_t run) {
  Reduction at_zero = problem;
  at_zero.in_offset = 0;
  return proven_alignment(at_zero, run);
}

bool begins_lowest(const ReduceProblem& problem) {
  return std::ranges::all_of(problem.loops(), [](const Loop& loop) { return loop.in >= 0; });
}

bool keeps_fastest(const ReduceProblem& problem) {
  const Loops& kept = problem.kept;
  return !kept.empty() && kept.back().in == problem.parts_of_element();
}

std::string unfit_for_columns(const ReduceProblem& problem) {
  if (std::string why = unfit(problem); !why.empty()) return why;
  return keeps_fastest(problem) ? "" : "the fastest axis of the input is not kept";
}

}  // namespace axisloom::ops
