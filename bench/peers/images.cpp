// Which axis of a move are the channels.
#include "bench/peers/images.hpp"

#include "planner/registry.hpp"

#include <algorithm>
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
  const auto wrap = [&](size_t at, size_t inner) {
    const core::Loop& within = axes[inner];
    axes.insert(axes.begin() + std::ptrdiff_t(at), {1, within.extent * within.in, within.extent * within.out});
  };
  if (axes.size() == 1) wrap(0, 0);
  if (axes.size() < image_axes) wrap(axes.size() - 1, axes.size() - 1);
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
    images.extents.push_back(int(axis.extent));
    // Of an axis of extent 1 the stride may be one beyond.
    images.from.push_back(int(std::min(axis.in, most)));
    images.to.push_back(int(std::min(axis.out, most)));
  }
  return images;
}

}  // namespace

std::optional<StridedImages> strided_images(const core::Move& merged) {
  if (!can_be_told(merged)) return std::nullopt;
  auto by_input = merged.axes;
  std::ranges::stable_sort(by_input, [](const core::Loop& a, const core::Loop& b) { return a.in > b.in; });
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
  const std::string& plain = op.arguments[to_blocks ? 0 : 1];
  BlockedImages images;
  images.block = block_of(op.arguments[to_blocks ? 1 : 0]);
  images.to_blocks = to_blocks;
  images.channels_last = plain == "NHWC";
  const View& view = views[to_blocks ? 0 : 1];
  if (images.block == 0 || (plain != "NCHW" && plain != "NHWC") || !views[0].is_contiguous() ||
      !views[1].is_contiguous() || *std::ranges::max_element(view.shape) > most)
    return std::nullopt;
  const auto extent = [&](int axis) { return int(view.shape[axis]); };
  images.n = extent(0);
  images.c = extent(images.channels_last ? 3 : 1);
  images.h = extent(images.channels_last ? 1 : 2);
  images.w = extent(images.channels_last ? 2 : 3);
  if (images.c % images.block != 0) return std::nullopt;
  return images;
}

std::optional<PaddedBlocks> padded_blocks(const core::Move& merged) {
  if (!merged.tail) return std::nullopt;
  const core::ChannelTail& tail = *merged.tail;
  const auto axis = [&](int i) { return merged.axes[size_t(i)]; };
  const core::Loop outer = axis(tail.outer), inner = axis(tail.inner);
  const auto blocked = tail.fill ? &core::Loop::out : &core::Loop::in;
  const auto plain = tail.fill ? &core::Loop::in : &core::Loop::out;
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
