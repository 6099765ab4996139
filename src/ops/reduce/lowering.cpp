// Lowers `reduce` with its pattern, and the shorthands with their axes: each names the axes that are kept and where
// they go.
#include "ops/reduce/lowering.hpp"

#include "core/axes.hpp"
#include "core/checked.hpp"
#include "core/integers.hpp"
#include "core/pattern.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <numeric>

namespace axisloom::ops {
namespace {

Reducer norm_of(const Operation& op) {
  const std::string_view ord = op.option("ord").value_or("2");
  if (ord == "1") return Reducer::norm_1;
  if (ord == "2") return Reducer::norm_2;
  if (ord == "inf") return Reducer::norm_inf;
  throw Error(Errc::usage, "there is no norm of order '" + std::string(ord) + "'", "use ord 1, 2 or inf");
}

Reducer reducer_of(const Operation& op) {
  const std::string_view asked = op.name == "reduce" ? std::string_view(op.arguments.at(0)) : std::string_view(op.name);
  if (asked == "norm") return norm_of(op);
  if (op.option("ord")) throw Error(Errc::usage, "only norm has an order ord, not " + std::string(asked));
  for (int number = 0; number < int(Reducer::norm_1); ++number)  // norms have an order in their names
    if (name(Reducer(number)) == asked) return Reducer(number);
  throw Error(Errc::usage, "unknown reduction '" + std::string(asked) + "'",
              "use one of sum, prod, mean, min, max, argmin, argmax, any, all, count_nonzero, norm");
}

/// Whether one order of additions for all devices was asked for.
bool asks_for_portable_order(const Operation& op) {
  const std::string_view order = op.option("order").value_or("fast");
  if (order != "fast" && order != "portable")
    throw Error(Errc::usage, "there is no order '" + std::string(order) + "'", "use portable or fast");
  return order == "portable";
}

/// Axes in input order, and the shape of the result.
struct Lowered {
  struct Axis {
    i64 extent, in;
    bool reduced;
    int out = -1;       // axis of the output that it is, or is part of
    i64 out_inner = 1;  // in how small a part: the extents of the faster parts multiplied
  };
  std::vector<Axis> axes;
  Dims shape;
};

Lowered by_pattern(const Operation& op, const View& in) {
  const core::Pattern pattern = core::parse(op.arguments.at(1));
  if (pattern.inputs.size() != 1)
    throw Error(Errc::usage, "reduce takes one array, the pattern names " + std::to_string(pattern.inputs.size()),
                "use einsum for several operands");
  const core::BoundPattern bound = core::bind(pattern, std::span(&in.shape, 1), op.lengths, core::OneSided::left);
  const auto strides = core::elementary_strides(bound, bound.inputs[0], in.strides);
  Lowered lowered{{}, core::output_shape(bound)};
  for (std::size_t i = 0; i < bound.axes.size(); ++i) lowered.axes.push_back({bound.axes[i].extent, strides[i], true});
  for (std::size_t k = 0; k < bound.output.size(); ++k) {
    i64 inner = 1;
    for (auto part = bound.output[k].rbegin(); part != bound.output[k].rend(); ++part) {
      Lowered::Axis& axis = lowered.axes[*part];
      axis.reduced = false;
      axis.out = int(k);
      axis.out_inner = inner;
      inner = core::checked_mul(inner, axis.extent, "the extent of a composed axis");
    }
  }
  return lowered;
}

Lowered by_axes(const Operation& op, const View& in) {
  std::vector<int> axes(std::size_t(in.rank()));
  std::iota(axes.begin(), axes.end(), 0);
  if (const auto given = op.option("axes")) axes = core::parse_axes(*given, in);
  const bool keep = op.option("keepdims").has_value();
  Lowered lowered;
  for (int i = 0; i < in.rank(); ++i) {
    const bool reduced = std::find(axes.begin(), axes.end(), i) != axes.end();
    lowered.axes.push_back({in.shape[i], in.strides[i], reduced, reduced ? -1 : lowered.shape.size()});
    if (!reduced || keep) lowered.shape.push_back(reduced ? 1 : in.shape[i]);
  }
  return lowered;
}

Lowered lower(const Operation& op, const View& in) {
  return op.name == "reduce" ? by_pattern(op, in) : by_axes(op, in);
}

void require_result(Reducer reducer, const Lowered& lowered, const View& in) {
  const bool empty = std::any_of(lowered.axes.begin(), lowered.axes.end(),
                                 [](const Lowered::Axis& axis) { return axis.reduced && axis.extent == 0; });
  if (empty && !has_identity(reducer))
    throw Error(Errc::usage,
                "the " + std::string(name(reducer)) + " of no elements is not defined, " + to_string(in) +
                    " has none along the axes that are reduced",
                "give an array with elements, or reduce over other axes");
}

}  // namespace

View reduce_result(const Operation& op, const View& in) {
  const Reducer reducer = reducer_of(op);
  asks_for_portable_order(op);
  const Lowered lowered = lower(op, in);
  require_result(reducer, lowered, in);
  return View::contiguous(result_dtype(reducer, in.dtype), lowered.shape);
}

Reduction lower_reduce(const Operation& op, const View& in, const View& out) {
  const Lowered lowered = lower(op, in);
  Reduction reduction;
  reduction.in_offset = in.offset;
  reduction.out_offset = out.offset;
  reduction.in_align = in.align;
  reduction.portable = asks_for_portable_order(op);
  for (const Lowered::Axis& axis : lowered.axes) {
    if (axis.reduced)
      reduction.reduced.push_back({axis.extent, axis.in, 0});
    else
      reduction.kept.push_back(
          {axis.extent, axis.in, core::checked_mul(out.strides[axis.out], axis.out_inner, "a stride of the output")});
  }
  reduction.recipe = recipe(reducer_of(op), in.dtype, reduction.count());
  return reduction;
}

}  // namespace axisloom::ops
