// The host's side of product.params.h, and what all kernels of a product are compiled with.
#pragma once

#include "ops/matmul/candidate.hpp"

namespace axisloom::ops {

using i64 = std::int64_t;
using u64 = std::uint64_t;
using u32 = std::uint32_t;
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
};
Arithmetic arithmetic_of(Dtype dtype);
/// The type of the dialect that holds an element in memory: "u16" for f16, "f32x2" for c64.
std::string memory_type(Dtype dtype);

/// Extents and strides of the product, and its batch as a walk; alpha and beta.
ProductParams params_of(const ProductProblem& problem);
/// Types, conversions, epilogue, index width and how many axes of the batch are walked.
void write_defines(const ProductProblem& problem, jit::Defines& defines);

/// The buffers of a launch.
LaunchBuffer buffer_a(const ProductProblem& problem);
LaunchBuffer buffer_b(const ProductProblem& problem);
LaunchBuffer buffer_c(const ProductProblem& problem);
LaunchBuffer buffer_d(const ProductProblem& problem);
/// Memory of the plan's own, `offset` elements of `element` bytes into it.
LaunchBuffer buffer_workspace(std::int64_t element, std::int64_t offset = 0);
/// D, where the product has one that counts, then C.
void append_results(const ProductProblem& problem, std::vector<LaunchBuffer>& buffers);
/// Whether D is read.
bool adds_d(const Product& product);

/// Groups that share the 65,536 registers of a compute unit, as many as are wanted: each of their items needs its sums,
/// in registers of 4 bytes, and half as many again.
std::int64_t resident_groups(std::int64_t wanted, std::int64_t items, std::int64_t sums);

/// An axis along which an access may be moved.
struct AlignedAxis {
  std::int64_t extent, stride;
};
/// Largest power of two, up to `limit` bytes, that divides the byte address of an operand's element wherever `steps`
/// lead.
std::int64_t proven_alignment(const ProductOperand& operand, std::span<const AlignedAxis> steps, std::int64_t element,
                              std::int64_t limit);
/// The widest access to an operand, from one element to `limit` bytes, whose every start is aligned wherever rows and
/// batch begin.
std::int64_t aligned_bytes(const Product& product, const ProductOperand& operand, AlignedAxis rows,
                           std::int64_t BatchAxis::*batch, std::int64_t element, std::int64_t limit);

}  // namespace axisloom::ops
