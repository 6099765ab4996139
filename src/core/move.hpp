// The normalised form of every move: a loop nest that copies elements from one strided array to another.
#pragma once

#include "core/nest.hpp"

#include <optional>
#include <string>

namespace axisloom::core {

/// Two axes that together count something shorter than their product (channels in blocks of x): the element at
/// (outer, inner) exists only where outer * extent(inner) + inner < count.
struct ChannelTail {
  int outer = 0;  // indices into Move::axes
  int inner = 0;
  i64 count = 0;
  bool fill = true;  // what does not exist is written as zero; otherwise it is not written at all
  bool operator==(const ChannelTail&) const = default;
};

/// For every index (i0, i1, ...) within the extents: out[out_offset + sum i*out] = in[in_offset + sum i*in].
/// Offsets and strides are in elements of `element` bytes. Slowest output axis first once normalised.
struct Move {
  i64 element = 1;  // 1, 2, 4, 8 or 16 bytes
  Loops axes = {};
  i64 in_offset = 0;
  i64 out_offset = 0;
  i64 in_align = 256;  // of the start of each buffer, bytes
  i64 out_align = 256;
  std::optional<ChannelTail> tail = {};

  i64 count() const { return core::count(axes); }  // product of the extents
  /// Bytes read plus bytes written, each element once (a broadcast element is read once).
  i64 bytes_moved() const;
  bool operator==(const Move&) const = default;
};

/// The same move with the fewest axes: extents of 1 dropped, negative output strides reversed, axes ordered by the
/// magnitude of the output stride (largest first; ties by input stride), and axes merged where both strides allow it.
/// The tail's axes stay apart and keep their direction, as its count runs along them; a tail that leaves nothing out
/// goes, and one without `fill` first shortens its axes. A move of no elements becomes one axis of extent 0, one of a
/// single element has no axes. `element` is left as it is, since kernels choose their access width themselves, unless a
/// side is aligned to less: then complex elements move as two parts, along an axis of their own.
Move normalise(const Move& move);

/// An axis' stride in the output, or in the input.
constexpr Operand side(bool output) {
  return output ? &Loop::out : &Loop::in;
}

/// Lowest and one-past-highest element offset touched on each side; what the tail leaves out is not read.
Bounds in_bounds(const Move& move);
Bounds out_bounds(const Move& move);

/// Largest power of two, up to `limit` bytes, that divides the byte address of every element run start on one side:
/// start alignment, offset, and the strides of all axes but `fastest`.
i64 proven_alignment(const Move& move, bool output, int fastest, i64 limit);

/// Whether every element offset, with and without the start offset and with the indices that the tail leaves out,
/// every stride, and every flat index fits in a signed 32-bit number; those of items that have no element included.
bool fits_32_bits(const Move& move);

/// "8192x8192 of 4 bytes, in {1,8192}, out {8192,1}", for messages.
std::string to_string(const Move& move);

}  // namespace axisloom::core
