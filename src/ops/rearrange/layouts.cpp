// Lowers relayout: NCHW, NHWC, CHWN and channels in blocks, NC/xHWx. A tail of channels is zero-filled on the way in.
#include "core/integers.hpp"
#include "ops/rearrange/lowering.hpp"

#include "core/checked.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <array>
#include <string>

namespace axisloom::ops {
namespace {

/// Where each of n, c, h, w stands among an array's axes; blocked layouts hold the inside of a block on their last
/// axis.
struct Layout {
  std::string_view name;
  int n, c, h, w;
  i64 block;  // channels in a block; 0: plain
  int rank() const { return block == 0 ? 4 : 5; }
};

constexpr std::array layouts = {
    Layout{"NCHW", 0, 1, 2, 3, 0},       Layout{"NHWC", 0, 3, 1, 2, 0},    Layout{"CHWN", 3, 0, 1, 2, 0},
    Layout{"NC/4HW4", 0, 1, 2, 3, 4},    Layout{"NC/8HW8", 0, 1, 2, 3, 8}, Layout{"NC/16HW16", 0, 1, 2, 3, 16},
    Layout{"NC/32HW32", 0, 1, 2, 3, 32},
};

const Layout& layout_of(const std::string& name) {
  const auto found = std::find_if(layouts.begin(), layouts.end(), [&](const Layout& l) { return l.name == name; });
  if (found != layouts.end()) return *found;
  std::string known;
  for (const Layout& layout : layouts) known += (known.empty() ? "" : ", ") + std::string(layout.name);
  throw Error(Errc::usage, "unknown layout '" + name + "'", "use one of " + known);
}

struct Request {
  Layout from, to;
  i64 channels;  // true count
};

Request read(const Operation& op, const View& in) {
  Request request{layout_of(op.arguments.at(0)), layout_of(op.arguments.at(1)), 0};
  if (in.rank() != request.from.rank())
    throw Error(Errc::usage, to_string(in) + " is not " + std::string(request.from.name) + ", which has " +
                                 std::to_string(request.from.rank()) + " axes");
  const i64 stored = in.shape[request.from.c];
  const i64 block = request.from.block;
  if (block != 0 && in.shape[4] != block)
    throw Error(Errc::usage, "the last axis of " + std::string(request.from.name) + " is " + std::to_string(block) +
                                 " channels, " + to_string(in) + " has " + std::to_string(in.shape[4]));
  request.channels = block == 0 ? stored : core::checked_mul(stored, block, "the number of channels");
  for (const auto& [name, value] : op.lengths) {
    if (name != "channels") throw Error(Errc::usage, "relayout has no length '" + name + "'", "it takes channels=C");
    if (op.lengths.size() > 1) throw Error(Errc::usage, "the length of 'channels' is given twice", "give it once");
    const bool fits = block == 0 ? value == stored : value > (stored - 1) * block && value <= request.channels;
    if (value < 0 || !fits)
      throw Error(Errc::usage, "channels=" + std::to_string(value) + " does not fit " + to_string(in) + " in " +
                                   std::string(request.from.name));
    request.channels = value;
  }
  return request;
}

i64 blocks(i64 channels, i64 block) {
  return channels / block + (channels % block != 0 ? 1 : 0);
}

/// Strides of the blocks of channels and of one channel; a plain layout is cut into blocks of `cut`.
struct ChannelStrides {
  i64 outer, inner;
};
ChannelStrides channel_strides(const Layout& layout, const View& view, i64 cut) {
  const i64 stride = view.strides[layout.c];
  if (layout.block != 0) return {stride, view.strides[4]};
  return {core::checked_mul(stride, cut, "the stride of a block of channels"), stride};
}

}  // namespace

View relayout_result(const Operation& op, std::span<const View> inputs) {
  const View& in = inputs[0];
  const Request request = read(op, in);
  const Layout& to = request.to;
  Dims shape = Dims::filled(to.rank(), 0);
  shape[to.n] = in.shape[request.from.n];
  shape[to.h] = in.shape[request.from.h];
  shape[to.w] = in.shape[request.from.w];
  shape[to.c] = to.block == 0 ? request.channels : blocks(request.channels, to.block);
  if (to.block != 0) shape[4] = to.block;
  return View::contiguous(in.dtype, shape);
}

// Channels become up to three axes: blocks of the coarser layout, blocks of the finer one within, and a channel within
// that. Where the count does not fill the coarser blocks, a tail says which of the inner ones exist. Between two
// blocked layouts whole blocks are moved, so what the input holds beyond its channels stays what it is.
core::Move lower_relayout(const Operation& op, std::span<const View> views) {
  const View &in = views[0], &out = views[1];
  const Request request = read(op, in);
  const Layout &from = request.from, &to = request.to;
  core::Move move = move_of(in, out);
  const auto add = [&](i64 extent, i64 in_stride, i64 out_stride) {
    move.axes.push_back({extent, in_stride, out_stride});
    return int(move.axes.size()) - 1;
  };
  add(in.shape[from.n], in.strides[from.n], out.strides[to.n]);
  add(in.shape[from.h], in.strides[from.h], out.strides[to.h]);
  add(in.shape[from.w], in.strides[from.w], out.strides[to.w]);
  if (from.block == 0 && to.block == 0) {
    add(request.channels, in.strides[from.c], out.strides[to.c]);
    return move;
  }
  const i64 coarse = std::max(from.block, to.block);
  const i64 fine = from.block != 0 && to.block != 0 ? std::min(from.block, to.block) : 1;
  const ChannelStrides in_c = channel_strides(from, in, coarse), out_c = channel_strides(to, out, coarse);
  const i64 cells = blocks(request.channels, fine);  // fine blocks, or channels, that exist
  const i64 ratio = coarse / fine;
  // A step of one cell: whole fine blocks on the finer side, `fine` channels inside a block on the coarser one.
  const auto times = [](i64 count, i64 stride) {
    return core::checked_mul(count, stride, "the stride of a block of channels");
  };
  const auto outer = [&](const Layout& side, const ChannelStrides& c) {
    return side.block == coarse || fine == 1 ? c.outer : times(ratio, c.outer);
  };
  const auto cell = [&](const Layout& side, const ChannelStrides& c) {
    return fine == 1 ? c.inner : side.block == coarse && ratio > 1 ? times(fine, c.inner) : c.outer;
  };
  const int a = add(blocks(cells, ratio), outer(from, in_c), outer(to, out_c));
  const int b = add(ratio, cell(from, in_c), cell(to, out_c));
  if (fine > 1) add(fine, in_c.inner, out_c.inner);
  const bool into_blocks = to.block == coarse && from.block != coarse;
  if (cells % ratio != 0) move.tail = core::ChannelTail{a, b, cells, into_blocks};
  return move;
}

}  // namespace axisloom::ops
