// Lowers `reduce` with its pattern, and the shorthands with their axes: each names the axes that are kept and where
// they go.
#include "ops/reduce/lowering.hpp"

#include "core/axes.hpp"
#include "core/number.hpp"
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

/// The dtype that was asked for, as a result of what is `in`.
std::optional<Dtype> asked_dtype(const Operation& op, Reducer reducer, Dtype in) {
  const auto text = op.option("compute-dtype");
  if (!text) return std::nullopt;
  const auto asked = dtype_of(*text);
  if (!asked) throw Error(Errc::dtype, concat("there is no dtype '", *text, "'"), "use a name such as f64");
  if (offers_dtype(reducer, in, *asked)) return asked;
  std::string offered;
  for (const Dtype dtype : all_dtypes())
    if (offers_dtype(reducer, in, dtype)) offered += concat(offered.empty() ? "" : ", ", name(dtype));
  if (offered.empty())
    throw Error(Errc::dtype, concat(name(reducer), " has no option compute-dtype"), "only sum, prod and mean have");
  throw Error(Errc::dtype, concat("a ", name(reducer), " of ", name(in), " is not computed in ", name(*asked)),
              concat("use one of ", offered, ", or copy the array as ", name(*asked), " first"));
}

std::optional<core::Parts> initial_of(const Operation& op, Reducer reducer, Dtype result) {
  const auto text = op.option("initial");
  if (!text) return std::nullopt;
  if (!takes_initial(reducer))
    throw Error(Errc::usage, concat(name(reducer), " takes no initial value"), "only sum, prod, min and max do");
  const auto number = core::number_of(result, *text);
  if (!number)
    throw Error(Errc::usage,
                concat("the initial value '", *text, "' is no number of the result's dtype, ", name(result)),
                "give one that is");
  return number;
}

Recipe recipe_of(const Operation& op, Dtype in, i64 count) {
  const Reducer reducer = reducer_of(op);
  Recipe made = recipe(reducer, in, count, asked_dtype(op, reducer, in));
  made.initial = initial_of(op, reducer, made.out);
  made.masked = has_mask(op);
  return made;
}

/// The mask's strides along the axes of the array, to which it is broadcast.
Dims mask_strides(const View& mask, const View& in) {
  const int more = in.rank() - mask.rank();
  const auto refuse = [&] {
    throw Error(Errc::shape,
                concat("the mask ", to_string(mask.shape), " cannot be broadcast to ", to_string(in.shape)),
                "give one of the array's shape, or with axes of length 1");
  };
  if (more < 0) refuse();
  Dims strides = Dims::filled(in.rank(), 0);
  for (int i = 0; i < mask.rank(); ++i) {
    if (mask.shape[i] == in.shape[more + i])
      strides[more + i] = mask.strides[i];
    else if (mask.shape[i] != 1)
      refuse();
  }
  return strides;
}

void check_mask(const Recipe& recipe, const View& mask, const View& in) {
  if (!takes_mask(recipe.reducer))
    throw Error(Errc::usage, concat(name(recipe.reducer), " takes no mask"),
                "only sum, prod, mean, min, max, any and all do");
  if (mask.dtype != Dtype::boolean)
    throw Error(Errc::dtype, concat("the mask is ", name(mask.dtype)), "give a bool: a byte that is not 0 is true");
  if (!has_identity(recipe.reducer) && !recipe.initial)
    throw Error(Errc::usage, concat("a ", name(recipe.reducer), " of masked elements may be one of none"),
                "give an initial value, which it then is");
  mask_strides(mask, in);
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

void require_result(const Recipe& recipe, const core::BoundPattern& bound, const View& in) {
  const bool empty = std::ranges::any_of(bound.removed, [&](int axis) { return bound.axes[axis].extent == 0; });
  if (empty && !has_identity(recipe.reducer) && !recipe.initial)
    throw Error(Errc::shape,
                concat("the ", name(recipe.reducer), " of no elements is not defined, ", to_string(in),
                       " has none along the axes that are reduced"),
                takes_initial(recipe.reducer) ? "give an initial value, or reduce over other axes"
                                              : "give an array with elements, or reduce over other axes");
}

}  // namespace

bool has_mask(const Operation& op) {
  return op.option("where").has_value();
}

View reduce_result(const Operation& op, Views inputs) {
  const View& in = inputs[0];
  const Recipe recipe = recipe_of(op, in.dtype, 1);
  asks_for_portable_order(op);
  if (recipe.masked) check_mask(recipe, inputs[1], in);
  const core::BoundPattern bound = bind(op, in);
  require_result(recipe, bound, in);
  return View::contiguous(recipe.out, core::output_shape(bound));
}

Reduction lower_reduce(const Operation& op, Views views) {
  const View &in = views[0], &out = views.back();
  const core::BoundPattern bound = bind(op, in);
  Reduction reduction;
  reduction.in_offset = in.offset;
  reduction.out_offset = out.offset;
  reduction.in_align = in.align;
  reduction.portable = asks_for_portable_order(op);
  Loops loops = core::loops_over(bound, in.strides, out.strides);
  if (has_mask(op)) {
    const auto strides = core::elementary_strides(bound, bound.inputs[0], mask_strides(views[1], in));
    for (size_t axis = 0; axis < loops.size(); ++axis) loops[axis].other = strides[axis];
    reduction.mask_offset = views[1].offset;
  }
  int axis = 0;
  for (const Loop& loop : loops) (is_reduced(bound, axis++) ? reduction.reduced : reduction.kept).push_back(loop);
  reduction.recipe = recipe_of(op, in.dtype, reduction.count());
  return reduction;
}

}  // namespace axisloom::ops
