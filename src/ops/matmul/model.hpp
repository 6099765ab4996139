// Predicted cost of a product: arithmetic over the device's peak, bytes over its bandwidth, launches.
#pragma once

#include "ops/matmul/candidate.hpp"

namespace axisloom::ops {

/// Additions plus multiplications of real numbers.
double arithmetic_operations(const ProductProblem& problem);
/// Bytes of A, B, C and D, each element once.
double bytes_touched(const ProductProblem& problem);
/// Real operations of the accumulators' type per second that the whole device can reach.
double peak_operations(const Product& product, const DeviceInfo& device);
/// `operations` at a share of the peak, beside `bytes` at the memory's (or the last cache's) rate, after `launches`.
double product_time(const ProductProblem& problem, double operations, double share, double bytes, int launches,
                    const DeviceInfo& device);

}  // namespace axisloom::ops
