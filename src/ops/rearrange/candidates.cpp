// The candidates of the moves: what variants.inc lists.
#include "ops/rearrange/candidate.hpp"

namespace axisloom::ops {

#define VARIANT(name) MoveCandidate name##_move();
#include "ops/rearrange/variants.inc"
#undef VARIANT

const Candidates<MoveProblem>& move_candidates() {
  static const Candidates<MoveProblem> candidates = {
#define VARIANT(name) name##_move(),
#include "ops/rearrange/variants.inc"
#undef VARIANT
  };
  return candidates;
}

}  // namespace axisloom::ops
