// Predicted cost of a reduction: what a variant reads in whole segments, over the device's measured bandwidth.
#pragma once

#include "ops/reduce/candidate.hpp"

namespace axisloom::ops {

/// Time to read a reduction's elements in runs of `run` that lie `stride` scalars apart, from memory or from the cache.
double read_seconds(const ReduceProblem& problem, std::int64_t run, std::int64_t stride, const DeviceInfo& device);

/// The same shared by `tasks` on a CPU's cores: fewer tasks than cores leave some idle.
double shared_seconds(double seconds, std::int64_t tasks, const DeviceInfo& device);

/// Time that items of a kernel for GPUs take on a CPU, where those of a group run one after the other.
double items_seconds(double items, const DeviceInfo& device);

}  // namespace axisloom::ops
