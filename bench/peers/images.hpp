// Moves as libraries of neural networks are told about them: tensors of images, N x C x H x W.
#pragma once

#include "core/move.hpp"

#include <axisloom/array.hpp>
#include <axisloom/ops.hpp>

#include <optional>
#include <span>
#include <vector>

namespace axisloom::bench {

/// Two tensors of the same extents; strides in elements. At least four axes: fewer are filled up with axes of extent 1.
struct StridedImages {
  std::vector<int> extents, from, to;
};
/// `merged` so that it reads as a change between NCHW and NHWC where it is one: its C, the second axis, is then dense
/// in one tensor, the last axis in the other. Nothing when it has a tail, a stride below 1, or numbers beyond 32 bits.
std::optional<StridedImages> strided_images(const core::Move& merged);

/// A relayout between plain images and those whose channels lie in whole blocks of 4 or 32.
struct BlockedImages {
  int n, c, h, w, block;
  bool to_blocks;      // otherwise from them
  bool channels_last;  // of the plain images: NHWC
};
/// Nothing for other operations, strides and tails of channels. `views`: the input, then the output.
std::optional<BlockedImages> blocked_images(const Operation& op, std::span<const View> views);

/// A move between plain channels and channels in blocks of which the last is not full: N x C x pixels.
struct PaddedBlocks {
  i64 n, c, pixels, block;
  bool to_blocks;                        // otherwise from them
  i64 n_stride, c_stride, pixel_stride;  // of the plain side; the blocked one is dense
};
/// Nothing for other moves.
std::optional<PaddedBlocks> padded_blocks(const core::Move& merged);

}  // namespace axisloom::bench
