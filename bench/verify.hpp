// Judging a result, on the host by comparison with the oracle or element by element, on a device by a kernel of its
// own.
#pragma once

#include "bench/data.hpp"

#include "core/move.hpp"

#include <axisloom/device.hpp>

namespace axisloom::bench {

/// How many elements are not what they should be, and where the first of them lies when that is known.
struct Mistakes {
  i64 count = 0;
  i64 first = -1;              // position in the output buffer, in elements
  std::string of = "element";  // what is counted
  std::string why = {};

  void note(i64 position) {
    if (count++ == 0) first = position;
  }
  void add(const Mistakes& more) {
    if (count == 0) first = more.first;
    count += more.count;
  }
};
/// What all members of a team find, each in its share of `count` things.
Mistakes found_by(Team& team, i64 count, const std::function<void(i64 begin, i64 end, Mistakes& mine)>& look);
/// "3 wrong elements, the first at element 17 of the output"
std::string to_string(const Mistakes& mistakes);

/// A move whose axes stand in the order in which the output lies in memory, for walks that do not jump. Not merged.
core::Move in_output_order(core::Move move);

/// Each element of `out` against the hash of the position that it came from.
Mistakes indexed_on_host(Team& team, const core::Move& move, const Data& data, const std::byte* out);
/// Each element that the move writes against the same element of `want`.
Mistakes compared_on_host(Team& team, const core::Move& move, const std::byte* want, const std::byte* out);

/// By kernels of verify.kernel: fills a buffer with data, from position 0 on.
void fill_on_device(const Device& device, const Queue& queue, const Data& data, const Buffer& buffer);
/// All 32-bit words of the first elements of such a buffer xored, worked out without it.
u32 words_on_device(const Device& device, const Queue& queue, const Data& data, i64 elements);
/// As indexed_on_host, for a buffer on the device; it does not say where.
Mistakes indexed_on_device(const Device& device, const Queue& queue, const core::Move& move, const Data& data,
                           const Buffer& out);

}  // namespace axisloom::bench
