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
/// in one tensor, the last axis in the other. Nothing when it has a guard, a stride below 1, or numbers beyond 32 bits.
std::optional<StridedImages> strided_images(const core::Move& merged);

/// A relayout between plain images and those whose channels lie in whole blocks of 4 or 32.
struct BlockedImages {
  int n = 1, c = 1, h = 1, w = 1;
  int block = 4;
  bool to_blocks = true;       // otherwise from them
  bool channels_last = false;  // of the plain images: NHWC
};
/// Nothing for other operations, strides and tails of channels. `views`: the input, then the output.
std::optional<BlockedImages> blocked_images(const Operation& op, std::span<const View> views);

}  // namespace axisloom::bench
