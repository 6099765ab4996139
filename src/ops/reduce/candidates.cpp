// The candidates of the reductions: what variants.inc lists, and what several of them ask.
#include "ops/reduce/candidate.hpp"

#include "core/number.hpp"
#include "core/text.hpp"

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

i64 ReduceProblem::scalar_bytes() const {
  return size_of(core::component_of(recipe.in));
}

i64 ReduceProblem::element_bytes() const {
  return size_of(recipe.in);
}

int ReduceProblem::parts_of_element() const {
  return core::components_of(recipe.in);
}

std::string shape_class(const ReduceProblem& problem) {
  constexpr i64 large_bytes = 64 << 20;  // moved, from which tuned values are kept apart: beyond most caches
  return concat(name(problem.recipe.in), " ", name(problem.recipe.reducer), problem.kept.empty() ? " whole " : " axes ",
                problem.bytes_moved() >= large_bytes ? "large" : "small");
}

std::string unfit(const ReduceProblem& problem) {
  if (problem.portable) return own_order;
  return problem.count() == 0 ? "there is nothing to reduce" : "";
}

bool keeps_fastest(const ReduceProblem& problem) {
  const Loops& kept = problem.kept;
  return !kept.empty() && kept.back().in == problem.parts_of_element();
}

std::string unfit_for_columns(const ReduceProblem& problem) {
  if (std::string why = unfit(problem); !why.empty()) return why;
  return keeps_fastest(problem) ? "" : "the fastest axis of the input is not kept";
}

i64 lanes_of(const ReduceProblem& problem) {
  return vector_lanes / problem.parts_of_element();
}

bool is_contiguous(const ReduceProblem& problem) {
  return problem.reduced.back().in == problem.parts_of_element();
}

}  // namespace axisloom::ops
