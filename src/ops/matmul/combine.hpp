// For variants that split k: how, what it costs, and the second launch, which adds the parts up.
#pragma once

#include "core/integers.hpp"
#include "ops/matmul/params.hpp"

namespace axisloom::ops {

/// How k is split between groups.
struct Parts {
  i64 count = 1;
  i64 k_per_group = 0;  // a multiple of the variant's step
};
/// The tunable "split": how many parts, 0 to leave it to the size.
Tunable split_tunable();
/// Splits k into at most `parts` parts, each a multiple of `step`.
Parts split(i64 k, i64 parts, i64 step);
/// `forced` parts, or for 0: one where `groups` fill the device, else as many as do, each of at least 256 k's.
Parts parts_of(const ProductProblem& problem, i64 groups, i64 step, i64 forced, const DeviceModel& device);

/// Completes a launch in which each part of k takes `groups` groups. A single part writes the result; several write
/// partial products, which a second launch adds up.
Launches in_parts(ProductLaunch main, const Parts& parts, i64 groups, const DeviceModel& device);
/// The same of one that makes C in blocks of m x n.
Launches in_blocks(ProductLaunch main, i64 m, i64 n, const Parts& parts, const DeviceModel& device);
/// The larger of its groups and of those of the second launch.
Group largest_group(Group main, const Parts& parts, const DeviceModel& device);
/// Bytes that the partial products need.
i64 partial_bytes(const ProductProblem& problem, i64 parts);
/// What they cost beside the product and two launches: being written, read and added up.
double partial_seconds(const ProductProblem& problem, i64 parts, const DeviceModel& device);

}  // namespace axisloom::ops
