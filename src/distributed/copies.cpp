// Boxes as moves in their normal form, and moves as pairs of views.
#include "distributed/copies.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/move.hpp"

namespace axisloom::distributed {
namespace {

constexpr const char* offset_name = "an element offset of a transfer";

/// How a box lies in one of the two buffers: where it begins, and the stride of each of its loops.
struct Lie {
  i64 offset = 0;
  std::vector<i64> strides;
};

Lie in_array(const TransferBox& box, const View& view, bool output) {
  Lie lie{.offset = view.offset, .strides = {}};
  const Dims& first = output ? box.to : box.from;
  const auto add = [&lie](i64 steps, i64 stride) {
    lie.offset = core::checked_add(lie.offset, core::checked_mul(steps, stride, offset_name), offset_name);
  };
  for (int axis = 0; axis < view.rank(); ++axis) add(first[axis], view.strides[axis]);
  for (const TransferLoop& loop : box.loops) {
    const int axis = output ? loop.to_axis : loop.from_axis;
    const i64 steps = output ? loop.to : loop.from;
    lie.strides.push_back(axis < 0 ? 0 : core::checked_mul(steps, view.strides[axis], offset_name));
  }
  return lie;
}

Lie in_message(const TransferBox& box, i64 at) {
  Lie lie{.offset = at, .strides = std::vector<i64>(box.loops.size(), 0)};
  i64 stride = 1;
  for (size_t i = box.loops.size(); i-- > 0;) {
    if (box.loops[i].from_axis < 0) continue;
    lie.strides[i] = stride;
    stride *= box.loops[i].extent;
  }
  return lie;
}

/// A view of so many elements of the loops of a move.
View view_of(const core::Loops& loops, core::Operand operand, i64 offset, Dtype dtype, i64 align) {
  View view{.dtype = dtype, .shape = {}, .strides = {}, .offset = offset, .align = align};
  for (const core::Loop& loop : loops) {
    view.shape.push_back(loop.extent);
    view.strides.push_back(loop.*operand);
  }
  return view;
}

/// Appends a copy; where the move has more axes than an array may have, one for each point of the shortest.
void add_copies(const TransferBox& box, const Lie& from, const Lie& to, const View& in, const View& out,
                std::vector<TransferCopy>& copies) {
  core::Move move{.element = i64(size_of(in.dtype)), .axes = {}, .in_offset = from.offset, .out_offset = to.offset};
  for (size_t i = 0; i < box.loops.size(); ++i)
    move.axes.push_back({box.loops[i].extent, from.strides[i], to.strides[i]});
  move = core::normalise(move);
  const core::Loops spelled = core::take_shortest(move.axes, max_rank);
  for (const core::Loop& point : core::points_of(spelled))
    copies.push_back({view_of(move.axes, &core::Loop::in, move.in_offset + point.in, in.dtype, in.align),
                      view_of(move.axes, &core::Loop::out, move.out_offset + point.out, in.dtype, out.align)});
}

/// A buffer of messages, as far as a view says something of it.
View message_buffer(Dtype dtype) {
  return {.dtype = dtype, .shape = {}, .strides = {}};
}

}  // namespace

std::vector<TransferCopy> copies(const Transfer& transfer, const View& in, const View& out) {
  std::vector<TransferCopy> made;
  for (const TransferBox& box : transfer.boxes)
    add_copies(box, in_array(box, in, false), in_array(box, out, true), in, out, made);
  return made;
}

std::vector<TransferCopy> packing(const Transfer& transfer, const View& in, i64 at) {
  std::vector<TransferCopy> made;
  for (const TransferBox& sent : transfer.boxes) {
    TransferBox box = sent;
    std::erase_if(box.loops, [](const TransferLoop& loop) { return loop.from_axis < 0; });
    add_copies(box, in_array(box, in, false), in_message(box, at), in, message_buffer(in.dtype), made);
    at += box.elements();
  }
  return made;
}

std::vector<TransferCopy> unpacking(const Transfer& transfer, const View& out, i64 at) {
  std::vector<TransferCopy> made;
  for (const TransferBox& box : transfer.boxes) {
    add_copies(box, in_message(box, at), in_array(box, out, true), message_buffer(out.dtype), out, made);
    at += box.elements();
  }
  return made;
}

}  // namespace axisloom::distributed

namespace axisloom {

i64 TransferBox::elements() const {
  i64 elements = 1;
  for (const TransferLoop& loop : loops)
    if (loop.from_axis >= 0) elements *= loop.extent;
  return elements;
}

}  // namespace axisloom
