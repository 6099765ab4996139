// Lowers `reduce` with its pattern, and the shorthands with their axes: each names the axes that are kept and where
// they go.
#include "ops/reduce/lowering.hpp"

#include "core/axes.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <numeric>

namespace axisloom::ops {
namespace {

Reducer norm_of(const Operation& op) {
  const std::string_view ord = op.option("ord").value_or("2");
  if (ord == "1") return Reducer::norm_1;
  if (ord == "2" || ord == "fro") return Reducer::norm_2;
  if (ord == "inf") return Reducer::norm_inf;
  throw Error(Errc::usage, concat("there is no norm of order '", ord, "'"), "use ord 1, 2 or inf; fro is 2");
}

Reducer reducer_of(const Operation& op) {
  const std::string_view asked = op.name == "reduce" ? op.arguments.at(0) : op.name;
  if (asked == "norm") return norm_of(op);
  if (op.option("ord")) throw Error(Errc::usage, concat("only norm has an order ord, not ", asked));
  for (int number = 0; number < int(Reducer::norm_1); ++number)  // norms have an order in their names
    if (name(Reducer(number)) == asked) return Reducer(number);
  throw Error(Errc::usage, concat("unknown reduction '", asked, "'"),
              "use one of sum, prod, mean, min, max, argmin, argmax, any, all, count_nonzero, norm");
}

/// Whether one order of additions for all devices was asked for.
bool asks_for_portable_order(const Operation& op) {
  const std::string_view order = op.option("order").value_or("fast");
  if (order != "fast" && order != "portable")
    throw Error(Errc::usage, concat("there is no order '", order, "'"), "use portable or fast");
  return order == "portable";
}

bool is_reduced(const core::BoundPattern& bound, int axis) {
  return core::contains(bound.removed, axis);
}

/// What a pattern would say of the shorthands' axes.
core::BoundPattern bind_axes(const Operation& op, const View& in) {
  core::BoundPattern bound;
  bound.removed.resize(in.rank());
  std::iota(bound.removed.begin(), bound.removed.end(), 0);
  if (const auto given = op.option("axes")) bound.removed = core::parse_axes(*given, in);
  bound.inputs.resize(1);
  for (int i = 0; i < in.rank(); ++i) {
    bound.axes.push_back({"", in.shape[i]});
    bound.inputs[0].push_back({i});
    if (!is_reduced(bound, i))
      bound.output.push_back({i});
    else if (op.option("keepdims"))
      bound.output.emplace_back();
  }
  return bound;
}

core::BoundPattern bind(const Operation& op, const View& in) {
  if (op.name != "reduce") return bind_axes(op, in);
  return core::bind_one(op, op.arguments.at(1), in.shape, core::OneSided::left);
}

void require_result(Reducer reducer, const core::BoundPattern& bound, const View& in) {
  const bool empty = std::ranges::any_of(bound.removed, [&](int axis) { return bound.axes[axis].extent == 0; });
  if (empty && !has_identity(reducer))
    throw Error(Errc::shape,
                concat("the ", name(reducer), " of no elements is not defined, ", to_string(in),
                       " has none along the axes that are reduced"),
                "give an array with elements, or reduce over other axes");
}

}  // namespace

View reduce_result(const Operation& op, Views inputs) {
  const View& in = inputs[0];
  const Reducer reducer = reducer_of(op);
  asks_for_portable_order(op);
  const core::BoundPattern bound = bind(op, in);
  require_result(reducer, bound, in);
  return View::contiguous(result_dtype(reducer, in.dtype), core::output_shape(bound));
}

Reduction lower_reduce(const Operation& op, Views views) {
  const View &in = views[0], &out = views[1];
  const core::BoundPattern bound = bind(op, in);
  Reduction reduction;
  reduction.in_offset = in.offset;
  reduction.out_offset = out.offset;
  reduction.in_align = in.align;
  reduction.portable = asks_for_portable_order(op);
  int axis = 0;
  for (const Loop& loop : core::loops_over(bound, in.strides, out.strides))
    (is_reduced(bound, axis++) ? reduction.reduced : reduction.kept).push_back(loop);
  reduction.recipe = recipe(reducer_of(op), in.dtype, reduction.count());
  return reduction;
}

}  // namespace axisloom::ops
