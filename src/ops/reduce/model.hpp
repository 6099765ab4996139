// Predicted cost of a reduction: what a variant reads in whole segments, over the device's measured bandwidth.
#pragma once

#include "core/integers.hpp"
#include "ops/reduce/candidate.hpp"

namespace axisloom::ops {

/// Time to read a reduction's elements in runs along one of its loops, from memory or from the cache.
double read_seconds(const ReduceProblem& problem, const Loop& run, const DeviceModel& device);

/// Of a CPU's core: an element that is loaded by itself and put into a vector, and a vector added to running sums
/// beside other vectors' loads.
double single_seconds(const ReduceProblem& problem, const DeviceModel& device);
double single_vector_seconds(const ReduceProblem& problem, const DeviceModel& device);

/// How many bytes ahead of its loads a kernel for CPUs asks for memory: `bytes`, or 0 where the array waits in the
/// cache.
i64 ahead_bytes(const ReduceProblem& problem, i64 bytes, const DeviceModel& device);

/// More of an element, of those that lie `stride` scalars apart, where most have a line of their own.
double own_line_seconds(const ReduceProblem& problem, i64 stride, const DeviceModel& device);

/// The same shared by `tasks` on a CPU's cores: fewer tasks than cores leave some idle.
double shared_seconds(double seconds, i64 tasks, const DeviceModel& device);

/// Time of a kernel for GPUs that reads for `read` seconds, its outputs in parts or not. On a CPU the items of a
/// group run one after the other.
double gpu_kernel_seconds(const ReduceProblem& problem, double read, bool in_parts, double items,
                          const DeviceModel& device);

}  // namespace axisloom::ops
