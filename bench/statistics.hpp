// Order statistics: medians and their confidence intervals, without assumptions about how times are distributed.
#pragma once

#include <cstddef>
#include <vector>

namespace axisloom::bench {

/// A median and the interval that holds the true one with at least 95% confidence (with fewer than 6 samples: the range
/// of all of them, which promises less).
struct Summary {
  double median = 0, low = 0, high = 0;
  size_t samples = 0;

  /// Width of the interval as a share of the median.
  double width() const noexcept { return median > 0 ? (high - low) / median : 0; }
};

/// Position k, counted from 1, for which the interval from the k-th lowest to the k-th highest of n samples holds the
/// median with at least 95% confidence: the largest k with 2 * P(Binomial(n, 1/2) < k) <= 5%. 0 when n is below 6.
size_t interval_rank(size_t n);

/// Of at least one sample.
Summary summarise(std::vector<double> samples);

}  // namespace axisloom::bench
