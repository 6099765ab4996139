// An array of a case in a device buffer, between canaries.
#pragma once

#include "check/case.hpp"

#include <axisloom/array.hpp>
#include <axisloom/device.hpp>

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace axisloom::cli {

/// Bytes before and after every array, whose change betrays a write out of bounds.
inline constexpr std::int64_t canary_bytes = 4096;

/// A buffer that holds canaries, the array, and canaries again; all of it is written before and compared after.
class Arena {
 public:
  /// `canaries`: bytes on either side, a multiple of 16.
  Arena(const Device& device, Dtype dtype, const Dims& shape, const Placement& placement, std::int64_t canaries);

  const View& view() const noexcept { return view_; }
  const Buffer& buffer() const noexcept { return buffer_; }
  std::size_t bytes() const noexcept { return bytes_; }

 private:
  View view_;
  std::size_t bytes_ = 0;
  std::vector<std::byte> host_;  // of a wrapped buffer
  Buffer buffer_;
};

/// What differs between two contents of an array's buffer, in words; empty when nothing does. The array's elements may
/// differ by `bound`, as in first_difference; nothing else may.
std::string describe_difference(const View& view, std::span<const std::byte> want, std::span<const std::byte> got,
                                std::span<const double> bound = {});

}  // namespace axisloom::cli
