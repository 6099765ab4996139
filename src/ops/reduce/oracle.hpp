// The oracle of every reduction: plain loops over all axes on host memory, and how far a right result may be from
// it.
#pragma once

#include "ops/reduce/reduction.hpp"
#include "planner/plan_impl.hpp"

namespace axisloom::ops {

/// `in` and `out` point at the starts of the buffers; the reduction is as lowered, not normalised. Integers wrap round
/// at 64 bits; floats are added up in long double with their rounding errors.
void reduce_on_host(const Reduction& reduction, HostBuffers in, std::byte* out);

/// See OpEntry::bound; outputs in the order of the kept axes. For n elements x, u the unit roundoff of the result:
///   sum, mean, norm 1   (ceil(log2 n) + 40) u sum|x|, of the mean an n-th of it
///   norm 2              what the same error of the sum of squares comes to under the root
///   prod                (3 n + 2) u |prod| and what falls below the smallest number on the way
///   norm inf            of complex numbers 4 u times itself: moduli are rounded
///   everything else     0: exact
/// It is infinite where a partial result may be beyond the largest number, or a product 0 before it meets an infinity,
/// since the order decides there.
std::vector<double> reduce_bound(const Reduction& reduction, HostBuffers in);

}  // namespace axisloom::ops
