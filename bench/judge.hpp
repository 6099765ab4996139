// Judging results. One judge per workload; what it needs to know is worked out once, when it is first asked.
#pragma once

#include "bench/problem.hpp"
#include "bench/verify.hpp"

#include <algorithm>
#include <string_view>

namespace axisloom::bench {

class Workload;

/// How results are judged. full: every element with the oracle's and the operation's bound. indexed: every element is
/// worked out anew from the hashes of the positions that it came from. sampled, of products only: up to 64 rows
/// and columns of each matrix in double precision, and every other element through sums over 64 columns with random
/// signs.
enum class Strength { automatic, full, indexed, sampled };
const char* name(Strength strength) noexcept;

struct Judge {
  Strength strength = Strength::automatic;
  /// Judges what lies in host memory laid out as the output buffer. Empty: Workload::judge_move does, wherever it lies.
  std::function<Mistakes(const std::byte* got)> judge = {};
};

/// The judge of a workload. Throws Error(usage) when its operation cannot be judged so.
Judge make_judge(Workload& workload, Strength asked);

/// Where a judge works out what must be.
enum class Where { host, device };
/// Nothing where there is no such judge for these dtypes.
std::optional<Judge> make_reduction_judge(Workload& workload, const Reduction& reduction, Where where);
std::optional<Judge> make_product_judge(Workload& workload, const Product& product, Where where);

/// How many bits of floats' fractions are random in the inputs of an operation. Of those that add up elements few, so
/// that every partial sum is exact, in whatever order it is made, and one missing element shows.
int fraction_bits(std::string_view op, Dtype dtype) noexcept;

/// Rows and columns of each matrix of which a sampling judge works out every element: fewer of a large batch, whose
/// terms would take longer to check than to measure.
constexpr i64 sampled_rows(const Product& product) {
  constexpr i64 few_matrices = 64, batch_terms = i64{1} << 29, least = 4, most = 64;
  if (product.batch <= few_matrices) return most;
  return std::clamp(batch_terms / std::max<i64>(1, product.batch * (product.m + product.n) * product.k), least, most);
}
/// Neighbours in a row whose sum it checks.
inline constexpr i64 sum_width = 64;

}  // namespace axisloom::bench
