// The second launch of variants that split k: adds the parts up.
#pragma once

#include "ops/matmul/params.hpp"

namespace axisloom::ops {

/// How k is split between groups.
struct Parts {
  std::int64_t count;  // at least 1
  std::int64_t k;      // k's of a part, a multiple of the variant's step
};
/// The tunable "split": how many parts, 0 to leave it to the size.
tune::Tunable split_tunable();
/// At most so many parts.
Parts split(std::int64_t k, std::int64_t parts, std::int64_t step);
/// `forced` parts, or for 0: one where the `blocks` of a C fill the device, else as many as do, each of at least 256
/// k's.
Parts parts_of(const ProductProblem& problem, std::int64_t blocks, std::int64_t step, std::int64_t forced,
               const DeviceInfo& device);

/// Adds `parts` partial products from the workspace, [part][point][m][n] of the accumulators' type, into C.
Launch combine_launch(const ProductProblem& problem, std::int64_t parts, const DeviceInfo& device);
/// Bytes that the partial products need.
std::int64_t partial_bytes(const ProductProblem& problem, std::int64_t parts);
/// What they cost beside the product and two launches: being written, read and added up.
double partial_seconds(const ProductProblem& problem, std::int64_t parts, const DeviceInfo& device);

}  // namespace axisloom::ops
