// Arrays of another dtype: numbers rounded, cut off at the ends of its range, or stretched over it.
#pragma once

#include "io/io.hpp"

namespace axisloom::io {

/// What becomes of numbers that the new dtype does not reach.
enum class Beyond { nearest, refused };

/// The same numbers, times `factor`, as another dtype, rounded to the nearest, halves to even. Integers take those
/// beyond their range as its nearest end, and NaN as 0; or Error(usage) names the first. Throws Error(usage) where
/// imaginary parts would be lost.
HostArray cast(const HostArray& array, Dtype dtype, Beyond beyond = Beyond::nearest, double factor = 1);

/// The same, with the smallest number stretched to the smallest of an integer dtype and the largest to its largest;
/// floats are stretched from 0 to 1. Infinities become the ends, and an array of one number the lower end. Throws
/// Error(usage) for complex numbers.
HostArray normalized(const HostArray& array, Dtype dtype);

}  // namespace axisloom::io
