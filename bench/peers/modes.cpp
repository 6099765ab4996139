// Modes from the strides that moves, reductions and contractions have.
#include "bench/peers/modes.hpp"

#include <algorithm>

namespace axisloom::bench {
namespace {

void add(ModeTensor& tensor, i32 number, i64 extent, i64 stride) {
  if (extent > 1 && stride != 0) tensor.modes.push_back({number, extent, stride});
}

ModeTensor sorted(ModeTensor tensor) {
  std::ranges::stable_sort(tensor.modes, {}, &Mode::stride);
  return tensor;
}

ModeTensor tensor_of(const core::Move& move, core::Operand stride, i64 offset) {
  ModeTensor tensor{offset, {}};
  for (size_t i = 0; i < move.axes.size(); ++i) add(tensor, i, move.axes[i].extent, move.axes[i].*stride);
  return sorted(tensor);
}

ModeTensor tensor_of(const ops::Contraction& contraction, const ops::Term& term) {
  ModeTensor tensor{term.offset, {}};
  for (const int axis : ops::axes_of(term.axes)) add(tensor, axis, contraction.extent(axis), term.strides[axis]);
  return sorted(tensor);
}

}  // namespace

bool ModeProblem::has_negative_strides() const {
  const auto negative = [](const ModeTensor& tensor) {
    return std::ranges::any_of(tensor.modes, [](const Mode& mode) { return mode.stride < 0; });
  };
  return negative(out) || std::ranges::any_of(inputs, negative);
}

ModeProblem modes_of(const core::Move& move) {
  return {{tensor_of(move, &core::Loop::in, move.in_offset)}, tensor_of(move, &core::Loop::out, move.out_offset)};
}

ModeProblem modes_of(const Reduction& r) {
  enum : i32 { outer, reduced, inner, lead };
  ModeTensor in{r.in_offset, {}}, out{r.out_offset, {}};
  add(in, inner, r.inner, 1);
  add(in, reduced, r.reduced, r.inner);
  add(in, outer, r.outer, r.inner * r.reduced);
  add(in, lead, r.lead, r.inner * r.reduced * r.outer);
  add(out, inner, r.inner, 1);
  add(out, outer, r.outer, r.inner);
  return {{in}, out};
}

ModeProblem modes_of(const ops::Contraction& contraction) {
  ModeProblem problem{{}, tensor_of(contraction, contraction.out)};
  for (const ops::Term& operand : contraction.operands) problem.inputs.push_back(tensor_of(contraction, operand));
  return problem;
}

}  // namespace axisloom::bench
