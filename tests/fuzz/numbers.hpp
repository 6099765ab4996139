// Numbers out of the bytes that a fuzzer gives.
#pragma once

#include <cstdint>
#include <span>

namespace axisloom::fuzz {

/// Takes numbers from the input; zeros once it is used up.
class Numbers {
 public:
  explicit Numbers(std::span<const std::uint8_t> bytes) : bytes_(bytes) {}

  bool empty() const { return bytes_.empty(); }
  std::uint8_t byte() {
    if (bytes_.empty()) return 0;
    const std::uint8_t value = bytes_.front();
    bytes_ = bytes_.subspan(1);
    return value;
  }
  bool yes() { return byte() % 2 != 0; }
  template <class T>
  T one_of(std::span<const T> list) {
    return list[byte() % list.size()];
  }
  /// Mostly small; the highest bytes stand for powers of two up to 2^62, give or take one.
  std::int64_t extent() {
    const int value = byte();
    if (value < 128) return value;
    if (value < 192) return (std::int64_t{1} << (value - 128) % 63) - 1;
    return value == 255 ? 0 : std::int64_t{1} << (value - 192);
  }
  std::int64_t signed_number() { return yes() ? -extent() : extent(); }

 private:
  std::span<const std::uint8_t> bytes_;
};

}  // namespace axisloom::fuzz
