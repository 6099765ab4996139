// Modes from the strides that moves, reductions and contractions have.
#include "bench/peers/modes.hpp"

#include <algorithm>

namespace axisloom::bench {
namespace {

void add(ModeTensor& tensor, i32 number, i64 extent, i64 stride) {
  if (extent > 1 && stride != 0) tensor.modes.push_back({number, extent, stride});
}

void sort_by_stride(ModeProblem& problem) {
  const auto nearer = [](const Mode& a, const Mode& b) { return a.stride < b.stride; };
  for (ModeTensor& input : problem.inputs) std::ranges::stable_sort(input.modes, nearer);
  std::ranges::stable_sort(problem.out.modes, nearer);
}

ModeTensor tensor_of(const ops::Contraction& contraction, const ops::Term& term) {
  ModeTensor tensor{term.offset, {}};
  for (const int axis : ops::axes_of(term.axes))
    add(tensor, axis, contraction.extent(axis), term.strides[size_t(axis)]);
  return tensor;
}

}  // namespace

bool ModeProblem::has_negative_strides() const {
  const auto negative = [](const ModeTensor& tensor) {
    return std::ranges::any_of(tensor.modes, [](const Mode& mode) { return mode.stride < 0; });
  };
  return negative(out) || std::ranges::any_of(inputs, negative);
}

ModeProblem modes_of(const core::Move& move) {
  ModeProblem problem{{{move.in_offset, {}}}, {move.out_offset, {}}};
  i32 number = 0;
  for (const core::Loop& axis : move.axes) {
    add(problem.inputs[0], number, axis.extent, axis.in);
    add(problem.out, number, axis.extent, axis.out);
    ++number;
  }
  sort_by_stride(problem);
  return problem;
}

ModeProblem modes_of(const Reduction& r) {
  enum : i32 { outer, reduced, inner };
  ModeProblem problem{{{r.in_offset, {}}}, {r.out_offset, {}}};
  add(problem.inputs[0], inner, r.inner, 1);
  add(problem.inputs[0], reduced, r.reduced, r.inner);
  add(problem.inputs[0], outer, r.outer, r.inner * r.reduced);
  add(problem.out, inner, r.inner, 1);
  add(problem.out, outer, r.outer, r.inner);
  return problem;
}

ModeProblem modes_of(const ops::Contraction& contraction) {
  ModeProblem problem{{}, tensor_of(contraction, contraction.out)};
  for (const ops::Term& operand : contraction.operands) problem.inputs.push_back(tensor_of(contraction, operand));
  sort_by_stride(problem);
  return problem;
}

}  // namespace axisloom::bench
