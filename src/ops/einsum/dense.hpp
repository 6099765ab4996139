// The loops behind oracle and bound: all axes at once, on dense copies of the operands' values.
#pragma once

#include "core/integers.hpp"
#include "ops/einsum/problem.hpp"

#include <cstddef>
#include <vector>

namespace axisloom::ops {

/// An operand's values with the strides by which the loops find them.
template <class T>
struct Dense {
  std::vector<T> values;
  std::vector<i64> strides;  // by axis of the contraction
};

/// Calls visit(offset) with the element offset in a term of every point of `axes`, the last axis fastest.
template <class Visit>
void for_each_point(const Contraction& problem, const Term& term, const std::vector<int>& axes, const Visit& visit) {
  for (const int axis : axes)
    if (problem.extent(axis) == 0) return;  // strides of no elements may be any
  const auto walk = [&](const auto& self, std::size_t depth, i64 offset) -> void {
    if (depth == axes.size()) return visit(offset);
    const int axis = axes[depth];
    for (i64 i = 0; i < problem.extent(axis); ++i) self(self, depth + 1, offset + i * term.strides[axis]);
  };
  walk(walk, 0, term.offset);
}

/// The values of a term by `value_at(address)`.
template <class T, class ValueAt>
Dense<T> dense(const Contraction& problem, const Term& term, const std::byte* start, const ValueAt& value_at) {
  Dense<T> copy{{}, std::vector<i64>(problem.extents.size())};
  const std::vector<int> axes = axes_of(term.axes);
  i64 stride = 1;
  for (auto axis = axes.rbegin(); axis != axes.rend(); ++axis) {
    copy.strides[*axis] = stride;
    stride *= problem.extent(*axis);
  }
  const auto size = i64(size_of(term.dtype));
  for_each_point(problem, term, axes, [&](i64 offset) { copy.values.push_back(value_at(start + offset * size)); });
  return copy;
}

/// One sum of products: over `axes`, beginning at the given places of the operands.
template <class T>
class SumOfProducts {
 public:
  SumOfProducts(const Contraction& problem, const std::vector<Dense<T>>& operands, std::vector<int> axes)
      : problem_(problem), operands_(operands), axes_(std::move(axes)) {}

  T at(const std::vector<i64>& places) const {
    T sum{};
    add(0, places, sum);
    return sum;
  }

 private:
  void add(std::size_t depth, const std::vector<i64>& places, T& sum) const {
    if (depth == axes_.size()) return add_product(places, sum);
    const auto axis = static_cast<std::size_t>(axes_[depth]);
    if (depth + 1 == axes_.size() && operands_.size() == 2) return add_row(axis, places, sum);
    std::vector<i64> here = places;
    for (i64 i = 0; i < problem_.extents[axis]; ++i) {
      add(depth + 1, here, sum);
      for (std::size_t o = 0; o < here.size(); ++o) here[o] += operands_[o].strides[axis];
    }
  }
  void add_product(const std::vector<i64>& places, T& sum) const {
    T product = value(0, places[0]);
    for (std::size_t o = 1; o < operands_.size(); ++o) product = product * value(o, places[o]);
    sum = sum + product;
  }
  void add_row(std::size_t axis, const std::vector<i64>& places, T& sum) const {
    const i64 step_0 = operands_[0].strides[axis], step_1 = operands_[1].strides[axis];
    for (i64 i = 0; i < problem_.extents[axis]; ++i)
      sum = sum + value(0, places[0] + i * step_0) * value(1, places[1] + i * step_1);
  }
  const T& value(std::size_t operand, i64 place) const { return operands_[operand].values[place]; }

  const Contraction& problem_;
  const std::vector<Dense<T>>& operands_;
  std::vector<int> axes_;
};

/// Calls visit(sum, offset in the output, offset in the addend) for every element of the output, in row-major order.
template <class T, class Visit>
void for_each_sum(const Contraction& problem, const std::vector<Dense<T>>& operands, const Visit& visit) {
  const SumOfProducts<T> sums(problem, operands, axes_of(problem.all_axes() & ~problem.out.axes));
  std::vector<i64> places(operands.size());
  const auto walk = [&](const auto& self, std::size_t depth, i64 out, i64 addend) -> void {
    if (depth == problem.out_order.size()) return visit(sums.at(places), out, addend);
    const auto axis = static_cast<std::size_t>(problem.out_order[depth]);
    const std::vector<i64> before = places;
    for (i64 i = 0; i < problem.extents[axis]; ++i) {
      self(self, depth + 1, out + i * problem.out.strides[axis],
           problem.addend ? addend + i * problem.addend->strides[axis] : 0);
      for (std::size_t o = 0; o < places.size(); ++o) places[o] += operands[o].strides[axis];
    }
    places = before;
  };
  if (problem.points(problem.out.axes) != 0)
    walk(walk, 0, problem.out.offset, problem.addend ? problem.addend->offset : 0);
}

}  // namespace axisloom::ops
