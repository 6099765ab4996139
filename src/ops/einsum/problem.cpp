// From the arguments, options and views of einsum, matmul and dot to a contraction.
#include "ops/einsum/problem.hpp"

#include "core/checked.hpp"
#include "core/integers.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"
#include "ops/einsum/promotion.hpp"
#include "ops/matmul/product.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <bit>
#include <cmath>

namespace axisloom::ops {
namespace {

double number_option(const Operation& op, std::string_view name, double otherwise) {
  const auto text = op.option(name);
  if (!text) return otherwise;
  const auto value = core::whole_number<double>(*text);
  if (!value || !std::isfinite(*value))
    throw Error(Errc::usage, concat(name, " is '", *text, "', which is not a number"), "give a number such as 0.5");
  return *value;
}

bool relu_option(const Operation& op) {
  const auto text = op.option("activation");
  if (text && *text != "relu")
    throw Error(Errc::usage, concat("there is no activation '", *text, "'"), "use relu, or leave it out");
  return text.has_value();
}

Dtype common_dtype(Views operands) {
  Dtype common = operands[0].dtype;
  for (const View& operand : operands) common = promoted(common, operand.dtype);
  return common;
}

Dtype result_dtype(const Operation& op, Views operands) {
  const auto is_byte = [](const View& v) { return size_of(v.dtype) == 1; };
  const Dtype common = common_dtype(operands);
  const bool bytes = std::ranges::all_of(operands, is_byte) && common != Dtype::boolean;
  const auto text = op.option("out-dtype");
  if (!text) return bytes ? Dtype::i32 : common;
  const auto asked = dtype_of(*text);
  if (!asked) throw Error(Errc::dtype, concat("there is no dtype '", *text, "'"), "use a name such as f32");
  if (promoted(common, *asked) != *asked)
    throw Error(Errc::dtype, concat(name(*asked), " cannot hold what is computed from ", name(common)),
                "leave out-dtype out, or give a wider one");
  return *asked;
}

int count_operands(const Operation& op) {
  return op.name == "einsum" ? core::count_operands(op.arguments.at(0)) : 2;
}

Views operands_of(const Operation& op, Views inputs) {
  return inputs.first(count_operands(op));
}

i64 from_the_end(const Dims& shape, int axis) {
  return shape[shape.size() - axis];
}

std::string matmul_pattern(const Operation& op, Views operands) {
  const Dims &a = operands[0].shape, &b = operands[1].shape;
  const bool transposed_a = op.option("transpose-a").has_value(), transposed_b = op.option("transpose-b").has_value();
  if (a.empty() || b.empty())
    throw Error(Errc::shape, "matmul takes arrays of one axis or more", "multiply by a scalar with alpha");
  if ((transposed_a && a.size() < 2) || (transposed_b && b.size() < 2))
    throw Error(Errc::shape, "an array of one axis cannot be transposed", "leave that option out");
  const i64 k_a = from_the_end(a, transposed_a ? 2 : 1), k_b = from_the_end(b, b.size() > 1 && !transposed_b ? 2 : 1);
  if (k_a != k_b)
    throw Error(
        Errc::shape,
        concat("the rows of the first array have length ", k_a, ", the columns of the second have length ", k_b),
        "give arrays whose inner lengths agree");
  const std::string left = a.size() == 1 ? "k" : transposed_a ? "... k m" : "... m k";
  const std::string right = b.size() == 1 ? "k" : transposed_b ? "... n k" : "... k n";
  const bool batch = a.size() > 1 || b.size() > 1;
  return left + ", " + right + " ->" + (batch ? " ..." : "") + (a.size() > 1 ? " m" : "") + (b.size() > 1 ? " n" : "");
}

std::string dot_pattern(Views operands) {
  for (const View& operand : operands)
    if (operand.rank() != 1)
      throw Error(Errc::shape, "dot takes arrays of one axis", "use matmul, or einsum \"i k, j k -> i j\"");
  if (operands[0].shape[0] != operands[1].shape[0])
    throw Error(Errc::shape, "the two arrays have different lengths", "give arrays of equal length");
  return "k, k ->";
}

std::string pattern_of(const Operation& op, Views operands) {
  if (op.name == "einsum") return op.arguments.at(0);
  return op.name == "matmul" ? matmul_pattern(op, operands) : dot_pattern(operands);
}

core::BoundPattern bind_operands(const Operation& op, Views operands) {
  if (operands.size() > most_einsum_operands)
    throw Error(Errc::unsupported,
                concat("an einsum takes at most ", most_einsum_operands, " arrays, ", operands.size(), " were given"),
                "do it in parts");
  std::vector<Dims> shapes;
  for (const View& operand : operands) shapes.push_back(operand.shape);
  return core::bind(core::parse_einsum(pattern_of(op, operands), shapes), shapes, op.lengths, core::OneSided::left,
                    op.option("no-broadcast") ? core::Broadcast::no : core::Broadcast::yes);
}

void check_addend(const View& addend, const View& result) {
  if (addend.dtype != result.dtype)
    throw Error(Errc::dtype, concat("the array to add is ", name(addend.dtype), ", the result ", name(result.dtype)),
                concat("convert it to ", name(result.dtype)));
  bool fits = addend.rank() <= result.rank();
  for (int i = 1; fits && i <= addend.rank(); ++i) {
    const i64 extent = from_the_end(addend.shape, i);
    fits = extent == 1 || extent == from_the_end(result.shape, i);
  }
  if (!fits)
    throw Error(Errc::shape,
                concat("the array to add is ", to_string(addend.shape), ", the result ", to_string(result.shape)),
                "give an array that can be broadcast to the result");
}

/// Numbers the axes that are longer than 1; the others get -1.
AxisList numbered(const core::BoundPattern& bound, Contraction& problem) {
  AxisList numbers;
  for (const core::BoundAxis& axis : bound.axes) {
    numbers.push_back(axis.extent == 1 ? -1 : int(problem.extents.size()));
    if (axis.extent == 1) continue;
    problem.extents.push_back(axis.extent);
    problem.names.push_back(axis.name.empty() ? std::to_string(axis.extent) : axis.name);
  }
  if (problem.extents.size() > most_einsum_axes)
    throw Error(Errc::unsupported, concat("an einsum over more than ", most_einsum_axes, " axes"), "do it in parts");
  return numbers;
}

/// The strides of an array along its numbered axes. An axis that the array repeats by having length 1 is none of it.
Term term_of(const View& view, const core::BoundPattern& bound, const std::vector<AxisList>& side,
             const AxisList& numbers, size_t count) {
  Term term{.dtype = view.dtype, .strides = std::vector<i64>(count), .offset = view.offset, .align = view.align};
  Dims strides = view.strides;
  for (int i = 0; i < view.rank(); ++i)
    if (view.shape[i] == 1) strides[i] = 0;
  const std::vector<i64> elementary = core::elementary_strides(bound, side, strides);
  for (size_t i = 0; i < side.size(); ++i) {
    if (view.shape[int(i)] == 1) continue;
    for (const int axis : side[i]) {
      const int number = numbers[axis];
      if (number < 0) continue;
      term.axes |= AxisSet{1} << number;
      term.strides[number] = elementary[axis];
    }
  }
  return term;
}

}  // namespace

i64 Contraction::points(AxisSet axes) const {
  const AxisList list = axes_of(axes);
  for (const int axis : list)
    if (extent(axis) == 0) return 0;
  i64 product = 1;
  for (const int axis : list) product = core::checked_mul(product, extent(axis), "the number of products of an einsum");
  return product;
}

AxisSet Contraction::all_axes() const {
  AxisSet all = out.axes;
  for (const Term& operand : operands) all |= operand.axes;
  return all;
}

AxisList axes_of(AxisSet set) {
  AxisList axes;
  for (; set != 0; set &= set - 1) axes.push_back(std::countr_zero(set));
  return axes;
}

AxisSet moving_axes(const Term& term) {
  AxisSet moving = 0;
  for (const int axis : axes_of(term.axes))
    if (term.strides[axis] != 0) moving |= AxisSet{1} << axis;
  return moving;
}

Term dense_term(const Contraction& problem, Dtype dtype, const AxisList& order) {
  Term term{.dtype = dtype, .strides = std::vector<i64>(problem.extents.size())};
  i64 stride = 1;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    term.axes |= AxisSet{1} << *axis;
    term.strides[*axis] = stride;
    stride *= problem.extent(*axis);
  }
  return term;
}

std::string names_of(const Contraction& problem, AxisSet set) {
  std::string text;
  for (const int axis : axes_of(set)) text += (text.empty() ? "" : " ") + problem.names[axis];
  return text;
}

int count_inputs(const Operation& op) {
  return count_operands(op) + (op.option("beta") ? 1 : 0);
}

View contraction_result(const Operation& op, Views inputs) {
  const Views operands = operands_of(op, inputs);
  const View result = View::contiguous(result_dtype(op, operands), core::output_shape(bind_operands(op, operands)));
  check_factors(result.dtype, number_option(op, "alpha", 1), number_option(op, "beta", 0), relu_option(op));
  if (op.option("beta")) check_addend(inputs.back(), result);
  return result;
}

Contraction contraction_of(const Operation& op, Views views) {
  const Views inputs = views.first(views.size() - 1), operands = operands_of(op, inputs);
  const core::BoundPattern bound = bind_operands(op, operands);
  Contraction problem;
  problem.common = common_dtype(operands);
  problem.alpha = number_option(op, "alpha", 1);
  problem.beta = number_option(op, "beta", 0);
  problem.relu = relu_option(op);
  const AxisList numbers = numbered(bound, problem);
  const size_t count = problem.extents.size();
  for (size_t i = 0; i < operands.size(); ++i)
    problem.operands.push_back(term_of(operands[i], bound, bound.inputs[i], numbers, count));
  problem.out = term_of(views.back(), bound, bound.output, numbers, count);
  for (const auto& composition : bound.output)
    for (const int axis : composition)
      if (const int number = numbers[axis]; number >= 0) problem.out_order.push_back(number);
  if (op.option("beta")) {
    const View& addend = inputs.back();
    problem.addend = term_of(addend, bound, {bound.output.end() - addend.rank(), bound.output.end()}, numbers, count);
    problem.addend->axes = problem.out.axes;
  }
  return problem;
}

}  // namespace axisloom::ops
