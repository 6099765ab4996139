// The normalised form of every reduction: a loop nest whose axes are kept or reduced.
#pragma once

#include "core/nest.hpp"
#include "ops/reduce/reducer.hpp"

#include <string>

namespace axisloom::ops {

using core::Loop;
using core::Loops;

/// out[out_offset + sum k*out] = reduction over all r of in[in_offset + sum k*in + sum r*in]. Offsets and strides are
/// in elements; `out` of reduced axes is 0. A mask has the strides `other`. Places (argmax) count the reduced axes in
/// their order here, the last one fastest.
struct Reduction {
  Recipe recipe;
  Loops kept = {};
  Loops reduced = {};
  i64 in_offset = 0;
  i64 out_offset = 0;
  i64 mask_offset = 0;
  i64 in_align = 256;     // of the start of the input's buffer, bytes
  bool portable = false;  // the order of the additions has to be the one of all devices

  i64 outputs() const { return core::count(kept); }
  i64 count() const { return core::count(reduced); }               // elements that make one output
  double elements() const { return double(outputs()) * count(); }  // of all outputs; does not overflow
  Loops loops() const;                                             // those that are kept, then the reduced ones
  /// Bytes read plus bytes written, each element once.
  i64 bytes_moved() const;
};

/// The same reduction with the fewest axes. Extents of 1 go; negative input strides are reversed; axes that continue
/// each other merge; both lists are ordered by the input's stride, largest first, and those of stride 0 before all
/// others. For places the reduced axes keep their order and direction, and only neighbours merge. What is reduced is
/// never empty: one axis stands for a single element, and one of extent 0 for none.
Reduction normalise(const Reduction& reduction);

/// The reduction counted in the scalars that complex numbers, and accumulators, consist of: strides and offsets of
/// complex arrays double.
Reduction in_scalars(const Reduction& reduction);

/// Whether every offset, stride and flat index fits in a signed 32-bit number.
bool fits_32_bits(const Reduction& reduction);

/// Largest power of two, up to 64 bytes, that divides the byte address of every start of a run along one of the loops.
i64 proven_alignment(const Reduction& reduction, size_t run);

/// "f32 sum of 1024x{4096}, in {4096,1}", the reduced extents in braces; for messages and stores.
std::string to_string(const Reduction& reduction);

}  // namespace axisloom::ops
