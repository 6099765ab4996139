// 64-bit arithmetic on extents, strides and offsets that throws instead of wrapping round.
#pragma once

#include "core/integers.hpp"

#include <axisloom/error.hpp>

#include <string>

namespace axisloom::core {

__extension__ typedef __int128 Wide;
__extension__ typedef unsigned __int128 UWide;

[[noreturn]] inline void throw_too_large(const char* what) {
  throw Error(Errc::shape, std::string(what) + " does not fit in 63 bits", "use smaller extents or strides");
}

inline i64 checked_add(i64 a, i64 b, const char* what) {
  i64 sum;
  if (__builtin_add_overflow(a, b, &sum)) throw_too_large(what);
  return sum;
}

inline i64 checked_mul(i64 a, i64 b, const char* what) {
  i64 product;
  if (__builtin_mul_overflow(a, b, &product)) throw_too_large(what);
  return product;
}

}  // namespace axisloom::core
