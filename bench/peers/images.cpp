// Which axis of a move are the channels.
#include "bench/peers/images.hpp"

#include <algorithm>
#include <limits>
#include <string_view>

namespace axisloom::bench {
namespace {

constexpr std::int64_t most = std::numeric_limits<int>::max();
constexpr std::size_t image_axes = 4, channels = 1;

bool can_be_told(const core::Move& move) {
  if (move.guard || move.axes.empty() || core::in_bounds(move).high > most || core::out_bounds(move).high > most)
    return false;
  return std::all_of(move.axes.begin(), move.axes.end(),
                     [](const core::MoveAxis& axis) { return axis.in_stride >= 1 && axis.out_stride >= 1; });
}

/// (a) is 1 1 1 a; (a b) is 1 a 1 b; (a b c) is a b 1 c. What is put in has the strides that it has in packed tensors.
std::vector<core::MoveAxis> filled_up(std::vector<core::MoveAxis> axes) {
  const auto wrap = [&](std::size_t at, std::size_t inner) {
    const core::MoveAxis& within = axes[inner];
    axes.insert(axes.begin() + static_cast<std::ptrdiff_t>(at),
                {1, within.extent * within.in_stride, within.extent * within.out_stride});
  };
  if (axes.size() == 1) wrap(0, 0);
  if (axes.size() < image_axes) wrap(axes.size() - 1, axes.size() - 1);
  if (axes.size() < image_axes) {
    core::MoveAxis images{1, 1, 1};
    for (const core::MoveAxis& axis : axes) {
      images.in_stride = std::max(images.in_stride, axis.extent * axis.in_stride);
      images.out_stride = std::max(images.out_stride, axis.extent * axis.out_stride);
    }
    axes.insert(axes.begin(), images);
  }
  return axes;
}

StridedImages listed(const std::vector<core::MoveAxis>& axes) {
  StridedImages images;
  for (const core::MoveAxis& axis : axes) {
    images.extents.push_back(static_cast<int>(axis.extent));
    // Of an axis of extent 1 the stride may be one beyond.
    images.from.push_back(static_cast<int>(std::min(axis.in_stride, most)));
    images.to.push_back(static_cast<int>(std::min(axis.out_stride, most)));
  }
  return images;
}

}  // namespace

std::optional<StridedImages> strided_images(const core::Move& merged) {
  if (!can_be_told(merged)) return std::nullopt;
  auto by_input = merged.axes;
  std::stable_sort(by_input.begin(), by_input.end(),
                   [](const core::MoveAxis& a, const core::MoveAxis& b) { return a.in_stride > b.in_stride; });
  // In the order of the output the input may have its channels last, and the other way round. Where both are true the
  // shorter axis is the channels: a picture has more pixels.
  const auto to_planes = filled_up(merged.axes), to_pixels = filled_up(by_input);
  const bool planes = to_planes[channels].in_stride == 1, pixels = to_pixels[channels].out_stride == 1;
  const bool shorter = to_pixels[channels].extent < to_planes[channels].extent;
  return listed(pixels && (!planes || shorter) ? to_pixels : to_planes);
}

std::optional<BlockedImages> blocked_images(const Operation& op, std::span<const View> views) {
  if (op.name != "relayout" || op.words.size() != 2 || views.size() != 2) return std::nullopt;
  const auto block_of = [](std::string_view layout) {
    return layout == "NC/4HW4" ? 4 : layout == "NC/32HW32" ? 32 : 0;
  };
  const bool to_blocks = block_of(op.words[1]) != 0;
  const std::string& plain = op.words[to_blocks ? 0 : 1];
  BlockedImages images;
  images.block = block_of(op.words[to_blocks ? 1 : 0]);
  images.to_blocks = to_blocks;
  images.channels_last = plain == "NHWC";
  const View& view = views[to_blocks ? 0 : 1];
  if (images.block == 0 || (plain != "NCHW" && plain != "NHWC") || !views[0].is_contiguous() ||
      !views[1].is_contiguous() || *std::max_element(view.shape.begin(), view.shape.end()) > most)
    return std::nullopt;
  const auto extent = [&](int axis) { return static_cast<int>(view.shape[axis]); };
  images.n = extent(0);
  images.c = extent(images.channels_last ? 3 : 1);
  images.h = extent(images.channels_last ? 1 : 2);
  images.w = extent(images.channels_last ? 2 : 3);
  if (images.c % images.block != 0) return std::nullopt;
  return images;
}

std::optional<PaddedBlocks> padded_blocks(const core::Move& merged) {
  if (!merged.guard) return std::nullopt;
  const core::Guard& guard = *merged.guard;
  const auto axis = [&](int i) { return merged.axes[static_cast<std::size_t>(i)]; };
  const core::MoveAxis outer = axis(guard.outer), inner = axis(guard.inner);
  const auto blocked = guard.fill ? &core::MoveAxis::out_stride : &core::MoveAxis::in_stride;
  const auto plain = guard.fill ? &core::MoveAxis::in_stride : &core::MoveAxis::out_stride;
  PaddedBlocks images{1, guard.count, 1, inner.extent, guard.fill, 1, inner.*plain, 1};
  if (inner.*blocked != 1 || (outer.extent > 1 && outer.*plain != inner.extent * inner.*plain)) return std::nullopt;
  std::optional<core::MoveAxis> all;  // images
  for (int i = 0; i < static_cast<int>(merged.axes.size()); ++i) {
    if (i == guard.outer || i == guard.inner) continue;
    if (axis(i).*blocked == inner.extent) {
      images.pixels = axis(i).extent;
      images.pixel_stride = axis(i).*plain;
    } else if (!all) {
      all = axis(i);
    } else {
      return std::nullopt;
    }
  }
  const std::int64_t row = inner.extent * images.pixels;  // of blocks
  if (outer.extent > 1 && outer.*blocked != row) return std::nullopt;
  if (!all) return images;
  if ((*all).*blocked != outer.extent * row) return std::nullopt;
  images.n = all->extent;
  images.n_stride = (*all).*plain;
  return images;
}

}  // namespace axisloom::bench
