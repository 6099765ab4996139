// Ranks by the exact binomial distribution, or by its normal limit where that is indistinguishable.
#include "bench/statistics.hpp"

#include <algorithm>
#include <cmath>

namespace axisloom::bench {

size_t interval_rank(size_t n) {
  const double samples = n;
  // From here on the normal limit, rounded down, agrees with the exact rank to within one position.
  if (n > 500) return (samples - 1.96 * std::sqrt(samples)) / 2;
  double probability = std::pow(0.5, samples);  // of exactly `rank` successes
  double below = probability;                   // of at most so many
  size_t rank = 0;
  while (rank < n && 2 * below <= 0.05) {
    ++rank;
    probability *= (samples - rank + 1) / rank;
    below += probability;
  }
  return rank;
}

Summary summarise(std::vector<double> samples) {
  std::ranges::sort(samples);
  const size_t n = samples.size();
  const size_t rank = std::max<size_t>(1, interval_rank(n));
  return {(samples[(n - 1) / 2] + samples[n / 2]) / 2, samples[rank - 1], samples[n - rank], n};
}

}  // namespace axisloom::bench
