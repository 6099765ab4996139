// The host's side of product.params.h, and what all kernels of a product are compiled with.
#pragma once

#include "core/integers.hpp"
#include "ops/matmul/candidate.hpp"

namespace axisloom::ops {

#include "ops/matmul/product.params.h"
static_assert(arguments_fit(sizeof(ProductParams), 4));

/// How a dtype is computed with: in what its sums are kept.
struct Arithmetic {
  std::string_view scalar;  // "f32", "u64"; sums of complex numbers are pairs of it
  int scalar_bytes;
  bool is_complex;

  /// Real operations of a multiplication and an addition.
  int operations() const { return is_complex ? 8 : 2; }
  int parts() const { return is_complex ? 2 : 1; }  // scalars of a sum
  int accumulator_bytes() const { return parts() * scalar_bytes; }
};
Arithmetic arithmetic_of(Dtype dtype);
/// The type of the dialect that holds an element in memory: "u16" for f16, "f32x2" for c64.
std::string memory_type(Dtype dtype);

/// Extents and strides of the product, and its batch as a walk of so many points; alpha and beta.
ProductParams params_of(const ProductProblem& problem);
/// What a kernel does of a product: all of it, what comes before sums are added up, or what comes after, which is the
/// same for all dtypes that are computed with alike.
enum class Stage { whole, to_sums, of_sums };
/// Types, conversions, epilogue, index width and how many axes of the batch are walked.
void write_defines(const ProductProblem& problem, Stage stage, jit::Defines& defines);

/// A buffer in the plan's own memory, of elements of `element` bytes.
inline LaunchBuffer workspace_of(i64 element) {
  return {workspace_view, 0, element};
}
/// Whether D is read.
inline bool adds_d(const Product& product) {
  return product.d && product.beta != 0;
}
/// Whether rows of C, and of D where it is read, have their elements side by side.
inline bool has_whole_rows(const Product& product) {
  return product.n.out == 1 && (!adds_d(product) || product.n.addend == 1);
}
/// Whether a kernel that writes C is handed D: those of the host, which serve all products, have C instead if need be.
inline bool passes_d(const ProductProblem& problem) {
  return adds_d(problem) || problem.on_host;
}

/// A launch of a kernel, "matmul/tile", that reads A and B, with the constants and parameters that all have. The
/// problem has to outlive it.
struct ProductLaunch : OpenLaunch<ProductParams> {
  const ProductProblem& problem;

  ProductLaunch(const std::string& kernel, const ProductProblem& problem, const Group& group,
                Stage stage = Stage::whole);
  /// Whether A lies together along m, and B along n.
  void define_orientation();
  /// C is made in blocks of m x n.
  void set_blocks(i64 m, i64 n);
  /// Completes it, with parameters as they are: it writes C, and reads D where that counts.
  Launch into_result(i64 groups);
  /// Completes it: it writes into such a buffer.
  Launch into(const LaunchBuffer& out, i64 groups);
};

/// Groups that share the 65,536 registers of a compute unit, as many as are wanted: each of their items needs its sums,
/// in registers of 4 bytes, and half as many again.
i64 resident_groups(i64 wanted, i64 items, i64 sums);

/// Whether A, B or C has elements side by side along one of its axes.
bool is_contiguous(const Product& product, Operand operand);
/// Why A or B has not; empty when both have.
std::string lies_apart(const Product& product);
/// The widest access to A, B or C, from one element to `limit` bytes, whose every start is aligned wherever its
/// contiguous runs and the batch begin.
i64 aligned_bytes(const Product& product, Operand operand, i64 limit);
/// Whether C may be stored two elements at a time.
bool stores_pairs(const Product& product);

}  // namespace axisloom::ops
