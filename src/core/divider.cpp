// Finds the multiplication and the shift.
#include "core/divider.hpp"

#include "core/checked.hpp"
#include "core/text.hpp"

#include <bit>

namespace axisloom::core {

Divider divider(u64 divisor, int bits) {
  if (bits != 32 && bits != 64)
    throw Error(Errc::usage, concat("division is precomputed for 32 or 64 bits, not for ", bits));
  if (divisor == 0 || divisor >> (bits - 1) != 0)
    throw Error(Errc::usage, concat("the divisor ", divisor, " lies outside [1, 2^", bits - 1, ")"));
  // With multiplier * divisor = 2^(bits-1+shift) + e and 0 <= e < divisor <= 2^shift, n * multiplier / 2^(bits-1+shift)
  // exceeds n / divisor by n * e / (divisor * 2^(bits-1+shift)) < 1 / divisor: too little to reach the next integer.
  const int shift = std::bit_width(divisor - 1);
  const UWide power = UWide{1} << (bits - 1 + shift);
  return {u64((power + divisor - 1) / divisor), u32(shift)};
}

}  // namespace axisloom::core
