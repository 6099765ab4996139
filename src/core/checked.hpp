// 64-bit arithmetic on extents, strides and offsets that throws instead of wrapping round.
#pragma once

#include <axisloom/error.hpp>

#include <cstdint>
#include <string>

namespace axisloom::core {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UWide;

[[noreturn]] inline void throw_too_large(const char* what) {
  throw Error(Errc::usage, std::string(what) + " does not fit in 63 bits", "use smaller extents or strides");
}

inline std::int64_t checked_add(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t sum;
  if (__builtin_add_overflow(a, b, &sum)) throw_too_large(what);
  return sum;
}

inline std::int64_t checked_mul(std::int64_t a, std::int64_t b, const char* what) {
  std::int64_t product;
  if (__builtin_mul_overflow(a, b, &product)) throw_too_large(what);
  return product;
}

}  // namespace axisloom::core
