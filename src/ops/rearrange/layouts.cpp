// Lowers relayout: NCHW, NHWC, CHWN and channels in blocks, NC/xHWx. A tail of channels is zero-filled on the way in.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/rearrange/lowering.hpp"

#include "core/checked.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <string>

namespace axisloom::ops {
namespace {

/// Where each of n, c, h, w stands among an array's axes; blocked layouts hold the inside of a block on their last
/// axis.
struct Layout {
  std::string_view name;
  i64 block = 1;  // channels in a block; 1: plain
  int n = 0, c = 1, h = 2, w = 3;
  bool is_blocked() const { return block > 1; }
  int rank() const { return is_blocked() ? 5 : 4; }
};

constexpr Layout layouts[] = {
    {"NCHW"},       {"NHWC", 1, 0, 3, 1, 2}, {"CHWN", 1, 3, 0, 1, 2}, {"NC/4HW4", 4},
    {"NC/8HW8", 8}, {"NC/16HW16", 16},       {"NC/32HW32", 32},
};

const Layout& layout_of(const std::string& name) {
  const auto found = std::ranges::find(layouts, name, &Layout::name);
  if (found != std::end(layouts)) return *found;
  throw Error(Errc::usage, "unknown layout '" + name + "'", "use one of " + joined(layouts, ", ", &Layout::name));
}

struct Request {
  const Layout &from, &to;
  i64 channels;  // true count
};

Request read(const Operation& op, const View& in) {
  const Layout &from = layout_of(op.arguments.at(0)), &to = layout_of(op.arguments.at(1));
  if (in.rank() != from.rank())
    throw Error(Errc::shape, concat(to_string(in), " is not ", from.name, ", which has ", from.rank(), " axes"));
  const i64 stored = in.shape[from.c], block = from.block;
  if (from.is_blocked() && in.shape[4] != block)
    throw Error(Errc::shape, concat("the last axis of ", from.name, " is ", block, " channels, ", to_string(in),
                                    " has ", in.shape[4]));
  i64 channels = core::checked_mul(stored, block, "the number of channels");
  for (const auto& [name, value] : op.lengths) {
    if (name != "channels") throw Error(Errc::usage, "relayout has no length '" + name + "'", "it takes channels=C");
    if (op.lengths.size() > 1) throw Error(Errc::usage, "the length of 'channels' is given twice", "give it once");
    if (value < 0 || value <= (stored - 1) * block || value > channels)
      throw Error(Errc::shape, concat("channels=", value, " does not fit ", to_string(in), " in ", from.name));
    channels = value;
  }
  return {from, to, channels};
}

i64 blocks(i64 channels, i64 block) {
  return channels / block + (channels % block != 0);
}

/// Elements from a channel to the one so many further on: they make up whole blocks, or lie in one.
i64 channel_stride(const Layout& layout, const View& view, i64 channels) {
  const bool inside = channels % layout.block != 0;
  return core::checked_mul(inside ? channels : channels / layout.block, view.strides[inside ? 4 : layout.c],
                           "the stride of a block of channels");
}

}  // namespace

View relayout_result(const Operation& op, Views inputs) {
  const View& in = inputs[0];
  const auto [from, to, channels] = read(op, in);
  Dims shape = Dims::filled(to.rank(), to.block);
  for (const auto axis : {&Layout::n, &Layout::h, &Layout::w}) shape[to.*axis] = in.shape[from.*axis];
  shape[to.c] = blocks(channels, to.block);
  return View::contiguous(in.dtype, shape);
}

// Channels become up to three axes: blocks of the coarser layout, blocks of the finer one within, and a channel within
// that. Where the count does not fill the coarser blocks, a tail says which of the inner ones exist. Between two
// blocked layouts whole blocks are moved, so what the input holds beyond its channels stays what it is.
Move lower_relayout(const Operation& op, Views views) {
  const View &in = views[0], &out = views[1];
  const Request request = read(op, in);
  const Layout &from = request.from, &to = request.to;
  Move move = move_of(in, out);
  for (const auto axis : {&Layout::n, &Layout::h, &Layout::w})
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
