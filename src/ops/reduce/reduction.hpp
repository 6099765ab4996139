// The normalised form of every reduction: a loop nest whose axes are kept or reduced.
#pragma once

#include "ops/reduce/reducer.hpp"

#include <axisloom/array.hpp>

#include <string>
#include <vector>

namespace axisloom::ops {

/// One loop: `extent` steps, each `in` and `out` elements long; `out` is 0 for reduced axes.
struct ReduceAxis {
  std::int64_t extent = 1;
  std::int64_t in = 0;
  std::int64_t out = 0;
  bool operator==(const ReduceAxis&) const = default;
};

/// out[out_offset + sum k*out] = reduction over all r of in[in_offset + sum k*in + sum r*in]. Offsets and strides are
/// in elements. Places (argmax) count the reduced axes in their order here, the last one fastest.
struct Reduction {
  Recipe recipe;
  std::vector<ReduceAxis> kept = {};
  std::vector<ReduceAxis> reduced = {};
  std::int64_t in_offset = 0;
  std::int64_t out_offset = 0;
  std::int64_t in_align = 256;  // of the start of the input's buffer, bytes

  std::int64_t outputs() const;  // product of the kept extents
  std::int64_t count() const;    // product of the reduced extents: elements that make one output
  std::int64_t last() const;     // the largest offset of an input's element, from in_offset
  /// Bytes read plus bytes written, each element once.
  std::int64_t bytes_moved() const;
};

/// The same reduction with the fewest axes. Extents of 1 go; negative input strides turn round; axes that continue each
/// other merge; both lists are ordered by the input's stride, largest first, and those of stride 0 before all others.
/// For places the reduced axes keep their order and direction, and only neighbours merge. What is reduced is never
/// empty: one axis stands for a single element, and one of extent 0 for none.
Reduction normalise(const Reduction& reduction);

/// The reduction counted in the scalars that complex numbers, and accumulators, consist of: strides and offsets of
/// complex arrays double.
Reduction in_scalars(const Reduction& reduction);

/// Whether every offset, stride and flat index fits in a signed 32-bit number.
bool fits_32_bits(const Reduction& reduction);

/// Largest power of two, up to 64 bytes, that divides the byte address of every start of a run along `skip`, which is
/// one of the reduced axes, or of the kept ones after these.
std::int64_t proven_alignment(const Reduction& reduction, std::size_t skip);

/// "f32 sum of 1024x{4096}, in {4096,1}", the reduced extents in braces; for messages and stores.
std::string to_string(const Reduction& reduction);

}  // namespace axisloom::ops
