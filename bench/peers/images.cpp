// Which axis of a move are the channels.
#include "bench/peers/images.hpp"

#include "planner/registry.hpp"

#include <algorithm>
#include <functional>
#include <limits>
#include <string_view>

namespace axisloom::bench {
namespace {

constexpr i64 most = std::numeric_limits<int>::max();
constexpr size_t image_axes = 4, channels = 1;

bool can_be_told(const core::Move& move) {
  if (move.tail || move.axes.empty() || core::in_bounds(move).high > most || core::out_bounds(move).high > most)
    return false;
  return std::ranges::all_of(move.axes, [](const core::Loop& axis) { return axis.in >= 1 && axis.out >= 1; });
}

/// (a) is 1 1 1 a; (a b) is 1 a 1 b; (a b c) is a b 1 c. What is put in has the strides that it has in packed tensors.
core::Loops filled_up(core::Loops axes) {
  const auto wrap_last = [&] {
    const core::Loop& last = axes.back();
    axes.insert(axes.end() - 1, {1, last.extent * last.in, last.extent * last.out});
  };
  if (axes.size() == 1) wrap_last();
  if (axes.size() < image_axes) wrap_last();
  if (axes.size() < image_axes) {
    core::Loop images{1, 1, 1};
    for (const core::Loop& axis : axes) {
      images.in = std::max(images.in, axis.extent * axis.in);
      images.out = std::max(images.out, axis.extent * axis.out);
    }
    axes.insert(axes.begin(), images);
  }
  return axes;
}

StridedImages listed(const core::Loops& axes) {
  StridedImages images;
  for (const core::Loop& axis : axes) {
    images.extents.push_back(axis.extent);
    // Of an axis of extent 1 the stride may be one beyond.
    images.from.push_back(std::min(axis.in, most));
    images.to.push_back(std::min(axis.out, most));
  }
  return images;
}

}  // namespace

std::optional<StridedImages> strided_images(const core::Move& merged) {
  if (!can_be_told(merged)) return std::nullopt;
  auto by_input = merged.axes;
  std::ranges::stable_sort(by_input, std::greater(), &core::Loop::in);
  // In the order of the output the input may have its channels last, and the other way round. Where both are true the
  // shorter axis is the channels: a picture has more pixels.
  const auto to_planes = filled_up(merged.axes), to_pixels = filled_up(by_input);
  const bool planes = to_planes[channels].in == 1, pixels = to_pixels[channels].out == 1;
  const bool shorter = to_pixels[channels].extent < to_planes[channels].extent;
  return listed(pixels && (!planes || shorter) ? to_pixels : to_planes);
}

std::optional<BlockedImages> blocked_images(const Operation& op, std::span<const View> views) {
  if (ops::entry(op.name).known_as != "layouts") return std::nullopt;
  const auto block_of = [](std::string_view layout) {
    return layout == "NC/4HW4" ? 4 : layout == "NC/32HW32" ? 32 : 0;
  };
  const bool to_blocks = block_of(op.arguments[1]) != 0;
  const size_t plain = to_blocks ? 0 : 1;
  const int block = block_of(op.arguments[1 - plain]);
  const bool channels_last = op.arguments[plain] == "NHWC";
  const Dims& shape = views[plain].shape;
  if (block == 0 || (op.arguments[plain] != "NCHW" && !channels_last) || *std::ranges::max_element(shape) > most ||
      !std::ranges::all_of(views, &View::is_contiguous))
    return std::nullopt;
  const auto extent = [&](int axis) { return int(shape[axis]); };
  const int c = extent(channels_last ? 3 : 1), h = extent(channels_last ? 1 : 2), w = extent(channels_last ? 2 : 3);
  if (c % block != 0) return std::nullopt;
  return BlockedImages{extent(0), c, h, w, block, to_blocks, channels_last};
}

std::optional<PaddedBlocks> padded_blocks(const core::Move& merged) {
  if (!merged.tail) return std::nullopt;
  const core::ChannelTail& tail = *merged.tail;
  const auto axis = [&](int i) { return merged.axes[i]; };
  const core::Loop outer = axis(tail.outer), inner = axis(tail.inner);
  const core::Operand blocked = core::side(tail.fill), plain = core::side(!tail.fill);
  PaddedBlocks images{1, tail.count, 1, inner.extent, tail.fill, 1, inner.*plain, 1};
  if (inner.*blocked != 1 || (outer.extent > 1 && outer.*plain != inner.extent * inner.*plain)) return std::nullopt;
  std::optional<core::Loop> all;  // images
  for (int i = 0; i < int(merged.axes.size()); ++i) {
    if (i == tail.outer || i == tail.inner) continue;
    if (axis(i).*blocked == inner.extent) {
      images.pixels = axis(i).extent;
      images.pixel_stride = axis(i).*plain;
    } else if (!all) {
      all = axis(i);
    } else {
      return std::nullopt;
    }
  }
  const i64 row = inner.extent * images.pixels;  // of blocks
  if (outer.extent > 1 && outer.*blocked != row) return std::nullopt;
  if (!all) return images;
  if ((*all).*blocked != outer.extent * row) return std::nullopt;
  images.n = all->extent;
  images.n_stride = (*all).*plain;
  return images;
}

}  // namespace axisloom::bench
