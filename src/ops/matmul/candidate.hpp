// What a variant of the product answers: may I run this, how long would it take, and what is to be launched.
#pragma once

#include "ops/choose.hpp"
#include "ops/matmul/product.hpp"

#include <vector>

namespace axisloom::ops {

/// A normalised product that has a result to write; n is the axis along which C lies together, or the longer one. And
/// what was decided before a variant is asked.
struct ProductProblem {
  Product product;
  int index_bits = 32;   // 64 where an offset might not fit in 32 bits, or when forced
  bool checked = false;  // every access is watched
  bool turned = false;   // C^T = B^T A^T is computed: the product's A is the plan's B

  std::int64_t batch_count() const;
};

struct ProductLaunches {
  std::vector<Launch> launches;
  std::size_t workspace_bytes = 0;
};

struct ProductCandidate {
  CandidateInfo info;
  Verdict (*consider)(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device);
  ProductLaunches (*lower)(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device);
};

/// The variants, in the order in which ties are decided; the last one fits everything.
std::span<const ProductCandidate> product_variants();

}  // namespace axisloom::ops
