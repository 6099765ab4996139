// The loops behind oracle and bound: all axes at once, on dense copies of the operands' values.
#pragma once

#include "core/integers.hpp"
#include "ops/einsum/problem.hpp"

#include <cstddef>
#include <vector>

namespace axisloom::ops {

using Strides = std::vector<std::vector<i64>>;  // of several arrays, by axis of the contraction

/// Calls visit() at every point of `axes`, the last one fastest, while `places` holds the arrays' offsets there.
template <class Visit>
void for_each_point(const Contraction& problem, std::span<const int> axes, const Strides& strides,
                    std::vector<i64>& places, const Visit& visit) {
  if (axes.empty()) return visit();
  const int axis = axes.front();
  const auto move = [&](i64 steps) {
    for (size_t i = 0; i < places.size(); ++i) places[i] += steps * strides[i][axis];
  };
  for (i64 step = 0; step < problem.extent(axis); ++step, move(1))
    for_each_point(problem, axes.subspan(1), strides, places, visit);
  move(-problem.extent(axis));
}

/// The values of all operands, with the strides by which the loops find them.
template <class T>
struct Operands {
  std::vector<std::vector<T>> values;
  Strides strides;
};

/// Values are value_at(dtype, address); `in` are the starts of the buffers.
template <class T, class ValueAt>
Operands<T> operands_of(const Contraction& problem, HostBuffers in, const ValueAt& value_at) {
  Operands<T> operands;
  for (const Term& term : problem.operands) {
    const std::byte* const start = in[operands.values.size()];
    AxisList axes = axes_of(term.axes & problem.out.axes);
    const AxisList summed = axes_of(term.axes & ~problem.out.axes);
    axes.insert(axes.end(), summed.begin(), summed.end());  // they lie close together
    operands.strides.push_back(dense_term(problem, term.dtype, axes).strides);
    std::vector<T>& values = operands.values.emplace_back();
    if (problem.points(term.axes) == 0) continue;  // strides of no elements may be any
    std::vector<i64> place{term.offset};
    for_each_point(problem, axes, {term.strides}, place,
                   [&] { values.push_back(value_at(term.dtype, start + place[0] * i64(size_of(term.dtype)))); });
  }
  return operands;
}

/// Calls visit(sum, offset in the output, offset in the addend) for every element of the output, in row-major order.
template <class T, class Visit>
void for_each_sum(const Contraction& problem, const Operands<T>& operands, const Visit& visit) {
  if (problem.points(problem.out.axes) == 0) return;
  const size_t count = operands.values.size();
  AxisList summed = axes_of(problem.all_axes() & ~problem.out.axes);
  std::vector<i64> steps(count);  // along the last of these, whose sum is a plain loop
  i64 row = 1;
  if (!summed.empty()) {
    row = problem.extent(summed.back());
    for (size_t i = 0; i < count; ++i) steps[i] = operands.strides[i][summed.back()];
    summed.pop_back();
  }
  const Term& addend = problem.addend ? *problem.addend : problem.out;
  Strides strides = operands.strides;
  strides.insert(strides.end(), {problem.out.strides, addend.strides});
  std::vector<i64> places(count);
  places.insert(places.end(), {problem.out.offset, addend.offset});
  for_each_point(problem, problem.out_order, strides, places, [&] {
    T sum{};
    std::vector<i64> at(places.begin(), places.end() - 2);
    for_each_point(problem, summed, operands.strides, at, [&] {
      T here = sum;
      for (i64 k = 0; k < row; ++k) {
        T product = operands.values[0][at[0] + k * steps[0]];
        for (size_t i = 1; i < count; ++i) product = product * operands.values[i][at[i] + k * steps[i]];
        here = here + product;
      }
      sum = here;
    });
    visit(sum, places[count], places[count + 1]);
  });
}

}  // namespace axisloom::ops
