// What einsum, matmul and dot mean: plain loops over all axes at once, and how far a right result may be from theirs.
#pragma once

#include "ops/einsum/problem.hpp"

#include <cstddef>
#include <span>
#include <vector>

namespace axisloom::ops {

/// `in`: the starts of the operands' buffers, then of the addend's; `out` is laid out as the contraction's output.
/// Floats are summed in long double and rounded once; integers wrap round.
void contract_on_host(const Contraction& problem, HostBuffers in, std::byte* out);

/// Allowed absolute error of each element of the output (of each component of a complex one), in row-major order.
std::vector<double> contraction_bound(const Contraction& problem, HostBuffers in);

}  // namespace axisloom::ops
