// Random cases: lines of text like all others, so that a failing one is repeated by pasting its line.
#pragma once

#include "core/integers.hpp"

#include <string>

namespace axisloom::harness {

/// The line of random case `index` of a seed: any operation of the registry, any dtypes, shapes, strides, offsets and
/// alignments, in buffers of their own, in one, in place, or in slices. Sixty-four classes of cases follow each other,
/// eight rounds of them before the next sixty-four: cases of a class need much the same kernels.
std::string random_case(u64 seed, i64 index);

}  // namespace axisloom::harness
