// Lowers rearrange, repeat, copy, transpose and permute: each names, for every axis, its stride on both sides.
#include "ops/rearrange/lowering.hpp"

#include "core/axes.hpp"
#include "core/pattern.hpp"
#include "ops/rearrange/move_of.hpp"

#include <axisloom/error.hpp>

#include <numeric>

namespace axisloom::ops {
namespace {

core::BoundPattern bind_pattern(const Operation& op, const View& in) {
  const core::Pattern pattern = core::parse(op.words.at(0));
  if (pattern.inputs.size() != 1)
    throw Error(Errc::usage, op.name + " takes one array, the pattern names " + std::to_string(pattern.inputs.size()),
                "use einsum for several operands");
  const auto allowed = op.name == "repeat" ? core::OneSided::right : core::OneSided::none;
  return core::bind(pattern, std::span(&in.shape, 1), op.lengths, allowed);
}

// Output axis i is input axis order[i].
core::Move permuted(const View& in, const View& out, std::span<const int> order) {
  core::Move move = move_of(in, out);
  for (int i = 0; i < static_cast<int>(order.size()); ++i) {
    const int axis = order[static_cast<std::size_t>(i)];
    move.axes.push_back({in.shape[axis], in.strides[axis], out.strides[i]});
  }
  return move;
}

View permuted_result(const View& in, std::span<const int> order) {
  Dims shape;
  for (int axis : order) shape.push_back(in.shape[axis]);
  return View::contiguous(in.dtype, shape);
}

std::vector<int> transpose_order(const View& in) {
  const int rank = in.rank();
  if (rank < 2)
    throw Error(Errc::usage, "transpose exchanges the last two axes, the array has " + std::to_string(rank),
                "use rearrange for arrays of fewer axes");
  std::vector<int> order(static_cast<std::size_t>(rank));
  std::iota(order.begin(), order.end(), 0);
  std::swap(order[order.size() - 1], order[order.size() - 2]);
  return order;
}

std::vector<int> permute_order(const Operation& op, const View& in) {
  const std::string& words = op.words.at(0);
  std::vector<int> order = core::parse_axes(words, in);
  if (static_cast<int>(order.size()) != in.rank())
    throw Error(Errc::usage,
                "'" + words + "' names " + std::to_string(order.size()) + " axes, " + to_string(in) + " has " +
                    std::to_string(in.rank()),
                "name every axis once");
  return order;
}

}  // namespace

core::Move move_of(const View& in, const View& out) {
  core::Move move;
  move.element = static_cast<std::int64_t>(size_of(in.dtype));
  move.in_offset = in.offset;
  move.out_offset = out.offset;
  move.in_align = in.align;
  move.out_align = out.align;
  return move;
}

View rearrange_result(const Operation& op, const View& in) {
  return View::contiguous(in.dtype, core::output_shape(bind_pattern(op, in)));
}

core::Move lower_rearrange(const Operation& op, const View& in, const View& out) {
  const core::BoundPattern bound = bind_pattern(op, in);
  const auto in_strides = core::elementary_strides(bound, bound.inputs[0], in.strides);
  const auto out_strides = core::elementary_strides(bound, bound.output, out.strides);
  core::Move move = move_of(in, out);
  for (std::size_t i = 0; i < bound.axes.size(); ++i)
    move.axes.push_back({bound.axes[i].extent, in_strides[i], out_strides[i]});
  return move;
}

View copy_result(const Operation&, const View& in) {
  return View::contiguous(in.dtype, in.shape);
}

core::Move lower_copy(const Operation&, const View& in, const View& out) {
  std::vector<int> order(static_cast<std::size_t>(in.rank()));
  std::iota(order.begin(), order.end(), 0);
  return permuted(in, out, order);
}

View transpose_result(const Operation&, const View& in) {
  return permuted_result(in, transpose_order(in));
}

core::Move lower_transpose(const Operation&, const View& in, const View& out) {
  return permuted(in, out, transpose_order(in));
}

View permute_result(const Operation& op, const View& in) {
  return permuted_result(in, permute_order(op, in));
}

core::Move lower_permute(const Operation& op, const View& in, const View& out) {
  return permuted(in, out, permute_order(op, in));
}

}  // namespace axisloom::ops
