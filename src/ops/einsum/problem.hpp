// An einsum with every name resolved: axes with their extents, and what each array's strides along them are.
#pragma once

#include "core/integers.hpp"
#include "planner/plan_impl.hpp"

#include <axisloom/array.hpp>
#include <axisloom/ops.hpp>

#include <compare>
#include <optional>
#include <string>
#include <vector>

namespace axisloom::ops {

/// A set of axes, a bit each.
using AxisSet = u64;
/// Numbers of axes, in an order that matters.
using AxisList = std::vector<int>;
inline constexpr int most_einsum_axes = 64;
inline constexpr size_t most_einsum_operands = 1024;

/// An array of a contraction. Its axes stay a set with names until a step is lowered to core::Loops: what is summed and
/// kept differs from step to step, and so does what merges. It has only axes along which it is longer than 1; a stride
/// is 0 where an axis is missing and where the user's own view repeats elements. The strides of a diagonal are added
/// up.
struct Term {
  Dtype dtype = Dtype::f32;
  AxisSet axes = 0;
  std::vector<i64> strides;  // by axis, in elements
  i64 offset = 0;            // of the first element from the start of its buffer, in elements
  i64 align = 256;           // of that buffer, bytes
};

/// One product of two arrays: numbers of operands, or of earlier results, which are numbered on from the operands.
struct PathStep {
  int left = 0;
  int right = 0;
  auto operator<=>(const PathStep&) const = default;
};

using Path = std::vector<PathStep>;

/// out = activation(alpha * sum over the axes that out lacks of the product of all operands + beta * addend)
struct Contraction {
  std::vector<i64> extents;        // of the axes; none is 1
  std::vector<std::string> names;  // of the axes, for messages
  std::vector<Term> operands;
  std::optional<Term> addend;  // has the output's axes, with stride 0 along those where it is broadcast
  Term out;
  AxisList out_order;         // the output's axes, slowest first
  Dtype common = Dtype::f32;  // of the operands, promoted
  double alpha = 1, beta = 0;
  bool relu = false;
  std::optional<Path> path;  // of a part of a larger problem: the order of products in that

  i64 extent(int axis) const { return extents[axis]; }
  /// Product of the extents of the axes in a set.
  i64 points(AxisSet axes) const;
  AxisSet all_axes() const;
};

/// The numbers of the axes in a set, ascending.
AxisList axes_of(AxisSet set);
inline bool has(AxisSet set, int axis) {
  return (set >> axis & 1) != 0;
}
/// Those along which a term moves.
AxisSet moving_axes(const Term& term);
/// An array without gaps over some axes, slowest first.
Term dense_term(const Contraction& problem, Dtype dtype, const AxisList& order);
/// "i k" for messages.
std::string names_of(const Contraction& problem, AxisSet set);

/// How many arrays einsum, matmul or dot takes: the operands, and with beta the array to add.
int count_inputs(const Operation& op);
/// Shape and dtype of the result, contiguous. Throws an Error for patterns, shapes, dtypes and options that do not
/// fit.
View contraction_result(const Operation& op, Views inputs);
/// `views`: the inputs, then the output of the shape and dtype that the result has.
Contraction contraction_of(const Operation& op, Views views);

}  // namespace axisloom::ops
