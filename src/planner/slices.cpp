// Halves loops until what is left of every array lies within one buffer.
#include "planner/slices.hpp"

#include "core/text.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <cstdlib>
#include <optional>
#include <utility>

namespace axisloom::ops {
namespace {

struct Cutter {
  const SlicedNest& nest;
  i64 limit;

  // Along kept loops alone where that is enough: no result has parts then, and each is computed as it would be
  // uncut. What the reduced loops reach over may take half of the limit; were it more, the kept ones might have to be
  // cut into very many pieces.
  void cut_block(const Box& box, std::vector<Block>& blocks) {
    bool whole = true;
    for (const SlicedArray& array : nest.arrays) {
      if (fits(box, array)) continue;
      whole = false;
      if (2 * bytes(box, array, true) > limit && 2 * bytes(box, array, false) <= limit) continue;
      if (const auto loop = furthest(box, array, false)) return cut_halves(box, *loop, blocks);
    }
    std::vector<Box> parts;
    cut_parts(box, parts);
    if (!whole && !partials_fit(box, parts.size())) return cut_halves(box, longest_kept(box), blocks);
    blocks.push_back({box, std::move(parts)});
  }

  /// Along reduced loops.
  void cut_parts(const Box& box, std::vector<Box>& parts) const {
    for (const SlicedArray& array : nest.arrays) {
      if (fits(box, array)) continue;
      const auto loop = furthest(box, array, true);
      if (!loop) refuse();
      const auto [first, second] = halves(box, *loop);
      cut_parts(first, parts);
      return cut_parts(second, parts);
    }
    parts.push_back(box);
  }

  void cut_halves(const Box& box, size_t loop, std::vector<Block>& blocks) {
    const auto [first, second] = halves(box, loop);
    cut_block(first, blocks);
    cut_block(second, blocks);
  }

  static std::pair<Box, Box> halves(const Box& box, size_t loop) {
    Box first = box, second = box;
    first[loop].extent = box[loop].extent / 2;
    second[loop].begin += first[loop].extent;
    second[loop].extent -= first[loop].extent;
    return {std::move(first), std::move(second)};
  }

  static i64 reach(const Interval& interval, i64 stride) {
    return std::max<i64>(0, interval.extent - 1) * std::abs(stride);
  }

  bool fits(const Box& box, const SlicedArray& array) const {
    const Bounds bounds = bounds_in(nest, box, array);
    return (bounds.high - bounds.low) * array.element <= limit;
  }

  /// What only the reduced, or only the kept, loops reach over.
  i64 bytes(const Box& box, const SlicedArray& array, bool reduced) const {
    i64 elements = array.span;
    for (size_t d = 0; d < box.size(); ++d)
      if (nest.reduced[d] == reduced) elements += reach(box[d], array.strides[d]);
    return elements * array.element;
  }

  /// The loop whose halving brings an array's bounds together most.
  std::optional<size_t> furthest(const Box& box, const SlicedArray& array, bool reduced) const {
    std::optional<size_t> best;
    i64 most = 0;
    for (size_t d = 0; d < box.size(); ++d) {
      const i64 length = reach(box[d], array.strides[d]);
      if (nest.reduced[d] == reduced && length > most) best = d, most = length;
    }
    return best;
  }

  bool partials_fit(const Box& box, size_t parts) const {
    i64 room = limit / nest.partial_bytes / i64(parts);
    for (size_t d = 0; d < box.size(); ++d)
      if (!nest.reduced[d]) room /= std::max<i64>(1, box[d].extent);
    return room > 0;
  }

  size_t longest_kept(const Box& box) const {
    std::optional<size_t> best;
    for (size_t d = 0; d < box.size(); ++d)
      if (!nest.reduced[d] && box[d].extent > (best ? box[*best].extent : 1)) best = d;
    if (!best) refuse();
    return *best;
  }

  [[noreturn]] void refuse() const {
    throw Error(Errc::out_of_memory,
                concat("an array cannot be cut into parts of at most ", limit,
                       " bytes, which is what fits into a buffer of the device"),
                "use a device with larger allocations");
  }
};

}  // namespace

Bounds bounds_in(const SlicedNest& nest, const Box& box, const SlicedArray& array) {
  Bounds bounds{0, array.span};
  for (size_t d = 0; d < box.size(); ++d) {
    const i64 stride = array.strides[d];
    const bool matters = !nest.reduced[d] || !array.result;
    if (box[d].extent == 0 && matters) return {};
    if (box[d].extent == 0 || stride == 0) continue;
    (stride < 0 ? bounds.low : bounds.high) += (box[d].extent - 1) * stride;
    bounds.low += box[d].begin * stride;
    bounds.high += box[d].begin * stride;
  }
  return bounds;
}

std::vector<Block> cut(const SlicedNest& nest, i64 limit) {
  Box whole;
  for (const i64 extent : nest.extents) whole.push_back({0, extent});
  std::vector<Block> blocks;
  Cutter{nest, limit}.cut_block(whole, blocks);
  return blocks;
}

Slice::Range rebase(int array, i64& offset, i64& align, Bounds touched, i64 element) {
  if (touched.low == touched.high) touched = {offset, offset}, element = 0;
  const i64 begin = touched.low * element;
  offset -= touched.low;
  while (begin % align != 0) align /= 2;
  return {array, begin, (touched.high - touched.low) * element};
}

}  // namespace axisloom::ops
