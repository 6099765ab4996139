// Division by a number known beforehand as a multiplication and a shift.
#pragma once

#include "core/integers.hpp"

namespace axisloom::core {

/// n / d for 0 <= n < 2^(bits-1) as mul_hi(2 * n, multiplier) >> shift, d in [1, 2^(bits-1)); bits 32 or 64. Doubling n
/// lets d = 1 through: shift = ceil(log2 d), multiplier = ceil(2^(bits-1+shift) / d) fits in `bits` bits.
/// (Granlund and Montgomery, "Division by invariant integers using multiplication", PLDI 1994, with one bit to spare.)
struct Divider {
  u64 multiplier = 0;
  u32 shift = 0;
};
Divider divider(u64 divisor, int bits);

}  // namespace axisloom::core
