// The host's side of product.params.h, and what all kernels of a product are compiled with.
#pragma once

#include "core/integers.hpp"
#include "ops/matmul/candidate.hpp"

namespace axisloom::ops {

#include "ops/matmul/product.params.h"
static_assert(arguments_fit(sizeof(ProductParams), 4));

/// How a dtype is computed with: in what its sums are kept, and the real type of that.
struct Arithmetic {
  std::string_view accumulator;  // "f32", "u64", "f32x2"
  std::string_view scalar;       // "f32", "u64"
  int scalar_bytes;
  bool is_complex;

  /// Real operations of a multiplication and an addition.
  int operations() const { return is_complex ? 8 : 2; }
  int accumulator_bytes() const { return is_complex ? 2 * scalar_bytes : scalar_bytes; }
};
Arithmetic arithmetic_of(Dtype dtype);
/// The type of the dialect that holds an element in memory: "u16" for f16, "f32x2" for c64.
std::string memory_type(Dtype dtype);

/// Extents and strides of the product, and its batch as a walk of so many points; alpha and beta.
ProductParams params_of(const ProductProblem& problem);
/// Types, conversions, epilogue, index width and how many axes of the batch are walked.
void write_defines(const ProductProblem& problem, jit::Defines& defines);
/// Whether A lies together along m, and B along n.
void write_orientation(const Product& product, jit::Defines& defines);

/// A buffer in the plan's own memory, of elements of `element` bytes.
LaunchBuffer workspace_of(i64 element);
/// Whether D is read.
bool adds_d(const Product& product);

/// A launch of a kernel of matmul/FILE.kernel that reads A and B, with the constants and parameters that all have.
struct ProductLaunch {
  Launch launch;
  ProductParams params;

  ProductLaunch(const ProductProblem& problem, const std::string& file, const std::string& kernel, const Group& group);
  jit::Defines& defines() { return launch.kernel.defines; }
  /// Completes it, with parameters as they are: it writes C, and reads D where that counts.
  Launch into_result(const ProductProblem& problem, i64 groups);
  /// Completes it: it writes elements of so many bytes into the workspace.
  Launch into_workspace(i64 element, i64 groups);
};

/// Groups that share the 65,536 registers of a compute unit, as many as are wanted: each of their items needs its sums,
/// in registers of 4 bytes, and half as many again.
i64 resident_groups(i64 wanted, i64 items, i64 sums);

/// The widest access to A, B or C, from one element to `limit` bytes, whose every start is aligned wherever `rows` and
/// batch begin.
i64 aligned_bytes(const Product& product, core::Operand operand, const core::Loop& rows, i64 element, i64 limit);
/// The axis across which the contiguous runs of A, or of B, lie.
const core::Loop& rows_of(const Product& product, core::Operand operand);
/// Whether C may be stored two elements at a time.
bool stores_pairs(const Product& product);

}  // namespace axisloom::ops
