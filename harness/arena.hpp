// The arrays of a case in device buffers, between canaries.
#pragma once

#include "harness/case.hpp"
#include "harness/random.hpp"

#include <span>

namespace axisloom::harness {

/// Bytes before and after every array, whose change betrays a write out of bounds.
inline constexpr i64 canary_bytes = 4096;

/// Where an array lies in a buffer, between canaries of so many bytes, a multiple of 16.
struct Place {
  Place(Dtype dtype, const Dims& shape, const Placement& placement, i64 canaries);
  View view;
  size_t bytes = 0;  // of the buffer, which ends with the canaries
};

/// The arrays of a case, each in a buffer of its own: the inputs, then the output, which is the first input where the
/// case is in place.
std::vector<View> views_of(const Case& c, i64 canaries);

/// A buffer of so many bytes. Its start is aligned to `align` and no more where memory is the host's; elsewhere to what
/// the device's buffers are.
class Arena {
 public:
  Arena(const Device& device, size_t bytes, i64 align);

  const Buffer& buffer() const noexcept { return buffer_; }
  i64 align() const noexcept { return align_; }

 private:
  i64 align_;
  Bytes host_;  // of a wrapped buffer
  Buffer buffer_;
};

/// What differs between two contents of an array's buffer, in words; empty when nothing does. The array's elements may
/// differ by `bound`, as in first_difference; nothing else may.
std::string describe_difference(const View& view, std::span<const std::byte> want, std::span<const std::byte> got,
                                std::span<const double> bound = {});

}  // namespace axisloom::harness
