// The error bound of contractions: what it promises where numbers are too small to be normal.
#include "ops/einsum/oracle.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

namespace axisloom::ops {
namespace {

/// The largest bound of a product of three matrices of zeros, times alpha.
double bound_of_zeros(double alpha) {
  const Operation op{"einsum", {"a b, b c, c d -> a d"}};
  std::vector<View> views(3, View::contiguous(Dtype::f32, {4, 4}));
  views.push_back(contraction_result(op, views));
  Contraction problem = contraction_of(op, views);
  problem.alpha = alpha;
  const std::vector<float> zeros(16);
  const std::vector<const std::byte*> in(3, reinterpret_cast<const std::byte*>(zeros.data()));
  const std::vector<double> bound = contraction_bound(problem, in);
  return *std::max_element(bound.begin(), bound.end());
}

TEST(EinsumBound, AlphaEnlargesWhatWasRoundedBelowTheNormalNumbers) {
  const double plain = bound_of_zeros(1);
  EXPECT_GT(plain, 0);
  EXPECT_GT(bound_of_zeros(1024), 100 * plain);
  EXPECT_EQ(bound_of_zeros(-1024), bound_of_zeros(1024));
  EXPECT_EQ(bound_of_zeros(1. / 1024), plain) << "alpha may be applied before or after";
}

}  // namespace
}  // namespace axisloom::ops
