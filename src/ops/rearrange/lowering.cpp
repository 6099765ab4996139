// Lowers rearrange, repeat, copy, transpose and permute: each names, for every axis, its stride on both sides.
#include "ops/rearrange/lowering.hpp"

#include "core/axes.hpp"
#include "core/integers.hpp"
#include "core/pattern.hpp"
#include "core/text.hpp"

#include <axisloom/error.hpp>

#include <numeric>

namespace axisloom::ops {
namespace {

core::BoundPattern bind_pattern(const Operation& op, const View& in) {
  const auto allowed = op.name == "repeat" ? core::OneSided::right : core::OneSided::none;
  return core::bind_one(op, op.arguments.at(0), in.shape, allowed);
}

/// Of copy, transpose and permute: the input axis of each output axis.
std::vector<int> order_of(const Operation& op, const View& in) {
  const int rank = in.rank();
  if (op.name == "permute") {
    const std::string& text = op.arguments.at(0);
    std::vector<int> order = core::parse_axes(text, in);
    if (int(order.size()) == rank) return order;
    throw Error(Errc::axis, concat("'", text, "' names ", order.size(), " axes, ", to_string(in), " has ", rank),
                "name every axis once");
  }
  std::vector<int> order(rank);
  std::iota(order.begin(), order.end(), 0);
  if (op.name == "copy") return order;
  if (rank < 2)
    throw Error(Errc::shape, concat("transpose exchanges the last two axes, the array has ", rank),
                "use rearrange for arrays of fewer axes");
  std::swap(order[rank - 1], order[rank - 2]);
  return order;
}

}  // namespace

Move move_of(const View& in, const View& out) {
  return {.element = i64(size_of(in.dtype)),
          .in_offset = in.offset,
          .out_offset = out.offset,
          .in_align = in.align,
          .out_align = out.align};
}

View rearrange_result(const Operation& op, Views inputs) {
  return View::contiguous(inputs[0].dtype, core::output_shape(bind_pattern(op, inputs[0])));
}

Move lower_rearrange(const Operation& op, Views views) {
  const View &in = views[0], &out = views[1];
  Move move = move_of(in, out);
  move.axes = core::loops_over(bind_pattern(op, in), in.strides, out.strides);
  return move;
}

View reordered_result(const Operation& op, Views inputs) {
  Dims shape;
  for (const int axis : order_of(op, inputs[0])) shape.push_back(inputs[0].shape[axis]);
  return View::contiguous(inputs[0].dtype, shape);
}

Move lower_reordered(const Operation& op, Views views) {
  const View &in = views[0], &out = views[1];
  Move move = move_of(in, out);
  for (const int axis : order_of(op, in))
    move.axes.push_back({in.shape[axis], in.strides[axis], out.strides[int(move.axes.size())]});
  return move;
}

}  // namespace axisloom::ops
