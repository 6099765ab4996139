// The second launch of variants that split k: adds the parts up.
#pragma once

#include "ops/matmul/params.hpp"

namespace axisloom::ops {

/// Adds `parts` partial products from the workspace, [part][point][m][n] of the accumulators' type, into C.
Launch combine_launch(const ProductProblem& problem, std::int64_t parts, const DeviceInfo& device);
/// Bytes that the partial products need.
std::int64_t partial_bytes(const ProductProblem& problem, std::int64_t parts);

}  // namespace axisloom::ops
