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
  i64 block;  // channels in a block; 1: plain
  bool is_blocked() const { return block > 1; }
  int rank() const { return is_blocked() ? 5 : 4; }
};

constexpr std::array layouts = {
    Layout{"NCHW", 0, 1, 2, 3, 1},       Layout{"NHWC", 0, 3, 1, 2, 1},    Layout{"CHWN", 3, 0, 1, 2, 1},
    Layout{"NC/4HW4", 0, 1, 2, 3, 4},    Layout{"NC/8HW8", 0, 1, 2, 3, 8}, Layout{"NC/16HW16", 0, 1, 2, 3, 16},
    Layout{"NC/32HW32", 0, 1, 2, 3, 32},
};

const Layout& layout_of(const std::string& name) {
  const auto found = std::ranges::find(layouts, name, &Layout::name);
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
  if (request.from.is_blocked() && in.shape[4] != block)
    throw Error(Errc::usage, "the last axis of " + std::string(request.from.name) + " is " + std::to_string(block) +
                                 " channels, " + to_string(in) + " has " + std::to_string(in.shape[4]));
  request.channels = core::checked_mul(stored, block, "the number of channels");
  for (const auto& [name, value] : op.lengths) {
    if (name != "channels") throw Error(Errc::usage, "relayout has no length '" + name + "'", "it takes channels=C");
    if (op.lengths.size() > 1) throw Error(Errc::usage, "the length of 'channels' is given twice", "give it once");
    if (value < 0 || value <= (stored - 1) * block || value > request.channels)
      throw Error(Errc::usage, "channels=" + std::to_string(value) + " does not fit " + to_string(in) + " in " +
                                   std::string(request.from.name));
    request.channels = value;
  }
  return request;
}

i64 blocks(i64 channels, i64 block) {
  return channels / block + (channels % block != 0 ? 1 : 0);
}

/// Elements from a channel to the one so many further on: they make up whole blocks, or lie in one.
i64 channel_stride(const Layout& layout, const View& view, i64 channels) {
  const bool inside = channels % layout.block != 0;
  return core::checked_mul(inside ? channels : channels / layout.block, view.strides[inside ? 4 : layout.c],
                           "the stride of a block of channels");
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
  shape[to.c] = blocks(request.channels, to.block);
  if (to.is_blocked()) shape[4] = to.block;
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
  for (const int Layout::*axis : {&Layout::n, &Layout::h, &Layout::w})
    move.axes.push_back({in.shape[from.*axis], in.strides[from.*axis], out.strides[to.*axis]});
  const auto add = [&](i64 extent, i64 channels) {
    move.axes.push_back({extent, channel_stride(from, in, channels), channel_stride(to, out, channels)});
    return int(move.axes.size()) - 1;
  };
  const i64 coarse = std::max(from.block, to.block), fine = std::min(from.block, to.block), ratio = coarse / fine;
  const i64 cells = blocks(request.channels, fine);  // fine blocks, or channels, that exist
  const int a = add(blocks(cells, ratio), coarse), b = add(ratio, fine);
  if (fine > 1) add(fine, 1);
  const bool into_blocks = to.block == coarse && from.block != coarse;
  if (cells % ratio != 0) move.tail = core::ChannelTail{a, b, cells, into_blocks};
  return move;
}

}  // namespace axisloom::ops
