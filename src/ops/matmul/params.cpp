// Writes products into the parameters and constants that their kernels share.
#include "ops/matmul/params.hpp"

#include "ops/scalar_type.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

std::string form(Dtype dtype, const std::string& accumulator) {
  if (dtype == Dtype::f16) return "FORM_F16";
  if (dtype == Dtype::bf16) return "FORM_BF16";
  if (dtype == Dtype::boolean) return "FORM_BOOL";
  return memory_type(dtype) == accumulator ? "FORM_SAME" : "FORM_CAST";
}

u64 bits_of(double factor, std::string_view scalar) {
  if (scalar == "f64") return std::bit_cast<u64>(factor);
  if (scalar == "f32") return std::bit_cast<u32>(static_cast<float>(factor));
  return static_cast<u64>(static_cast<std::int64_t>(factor));
}

bool is_unsigned(Dtype dtype) {
  return dtype == Dtype::u8 || dtype == Dtype::u16 || dtype == Dtype::u32 || dtype == Dtype::u64;
}

// Axes that are walked: a few steps for axes that are not there cost nothing once per group, and fewer ranks mean fewer
// kernels.
int batch_class(std::size_t axes) {
  for (const int rank : {3, 14})
    if (axes <= static_cast<std::size_t>(rank)) return rank;
  return PRODUCT_AXES;
}

LaunchBuffer buffer(int view, const ProductOperand& operand, Dtype dtype) {
  return {view, operand.offset, static_cast<std::int64_t>(size_of(dtype))};
}

}  // namespace

std::string memory_type(Dtype dtype) {
  return scalar_type(dtype) + (core::components_of(dtype) == 2 ? "x2" : "");
}

Arithmetic arithmetic_of(Dtype dtype) {
  switch (dtype) {
    case Dtype::f16:
    case Dtype::bf16:
    case Dtype::f32:
      return {"f32", "f32", 4, false};
    case Dtype::f64:
      return {"f64", "f64", 8, false};
    case Dtype::c64:
      return {"f32x2", "f32", 4, true};
    case Dtype::c128:
      return {"f64x2", "f64", 8, true};
    case Dtype::u64:
    case Dtype::i64:
      return {"u64", "u64", 8, false};
    default:
      return {"u32", "u32", 4, false};
  }
}

ProductParams params_of(const ProductProblem& problem) {
  const Product& product = problem.product;
  ProductParams params{};
  const auto first = static_cast<std::size_t>(PRODUCT_AXES) - product.batch.size();
  for (std::size_t w = 0; w < PRODUCT_AXES; ++w) {
    const BatchAxis axis = w < first ? BatchAxis{} : product.batch[w - first];
    params.extent[w] = axis.extent;
    params.walk_a[w] = axis.a;
    params.walk_b[w] = axis.b;
    params.walk_c[w] = axis.c;
    params.walk_d[w] = axis.d;
  }
  params.m = product.m;
  params.n = product.n;
  params.k = product.k;
  params.a_m = product.a.m;
  params.a_k = product.a.k;
  params.b_k = product.b.k;
  params.b_n = product.b.n;
  params.c_m = product.c.m;
  params.c_n = product.c.n;
  if (product.d) params.d_m = product.d->m;
  if (product.d) params.d_n = product.d->n;
  const std::string_view scalar = arithmetic_of(product.in).scalar;
  params.alpha = bits_of(product.alpha, scalar);
  params.beta = bits_of(product.beta, scalar);
  return params;
}

void write_defines(const ProductProblem& problem, jit::Defines& defines) {
  const Product& product = problem.product;
  const Arithmetic arithmetic = arithmetic_of(product.in);
  const std::string accumulator(arithmetic.accumulator), scalar(arithmetic.scalar);
  defines.set("ELEMENT", memory_type(product.in)).set("RESULT", memory_type(product.out));
  defines.set("ACC", accumulator).set("SCALAR", scalar).set("COMPLEX", arithmetic.is_complex ? 1 : 0);
  if (arithmetic.is_complex) defines.set("MAKE_ACC", "make_" + accumulator);
  defines.set("SCALAR_BYTES", arithmetic.scalar_bytes);
  defines.set("REAL_F64", scalar == "f64" ? 1 : 0).set("REAL_F32", scalar == "f32" ? 1 : 0);
  defines.set("IN_FORM", form(product.in, accumulator)).set("OUT_FORM", form(product.out, accumulator));
  defines.set("SCALED", product.alpha != 1 ? 1 : 0).set("ADD_D", adds_d(product) ? 1 : 0);
  defines.set("RELU", product.relu && !is_unsigned(product.out) ? 1 : 0);
  defines.set("INDEX_BITS", problem.index_bits).set("BATCH", batch_class(product.batch.size()));
  defines.set("AXL_PARAMS_SIZE", static_cast<std::int64_t>(sizeof(ProductParams)));
}

LaunchBuffer buffer_a(const ProductProblem& problem) {
  return buffer(problem.turned ? 1 : 0, problem.product.a, problem.product.in);
}
LaunchBuffer buffer_b(const ProductProblem& problem) {
  return buffer(problem.turned ? 0 : 1, problem.product.b, problem.product.in);
}
LaunchBuffer buffer_d(const ProductProblem& problem) {
  return buffer(2, *problem.product.d, problem.product.out);
}
LaunchBuffer buffer_c(const ProductProblem& problem) {
  return buffer(problem.product.d ? 3 : 2, problem.product.c, problem.product.out);
}
LaunchBuffer buffer_workspace(std::int64_t element, std::int64_t offset) {
  return {workspace_view, offset, element};
}

std::int64_t proven_alignment(const ProductOperand& operand, std::span<const AlignedAxis> steps, std::int64_t element,
                              std::int64_t limit) {
  const auto zeros = [](std::int64_t value) {
    return value == 0 ? 62 : std::countr_zero(static_cast<std::uint64_t>(value));
  };
  int certain = std::min(zeros(operand.align), zeros(operand.offset) + zeros(element));
  for (const AlignedAxis& axis : steps)
    if (axis.extent > 1) certain = std::min(certain, zeros(axis.stride) + zeros(element));
  return std::int64_t{1} << std::min(certain, zeros(limit));
}

std::int64_t aligned_bytes(const Product& product, const ProductOperand& operand, AlignedAxis rows,
                           std::int64_t BatchAxis::*batch, std::int64_t element, std::int64_t limit) {
  std::vector<AlignedAxis> steps{rows};
  for (const BatchAxis& axis : product.batch) steps.push_back({axis.extent, axis.*batch});
  return std::max(element, proven_alignment(operand, steps, element, limit));
}

std::int64_t resident_groups(std::int64_t wanted, std::int64_t items, std::int64_t sums) {
  return std::min<std::int64_t>(wanted, 65536 / (items * (sums + sums / 2 + 24)));
}

void append_results(const ProductProblem& problem, std::vector<LaunchBuffer>& buffers) {
  if (adds_d(problem.product)) buffers.push_back(buffer_d(problem));
  buffers.push_back(buffer_c(problem));
}

bool adds_d(const Product& product) {
  return product.d && product.beta != 0;
}

std::int64_t ProductProblem::batch_count() const {
  std::int64_t count = 1;
  for (const BatchAxis& axis : product.batch) count *= axis.extent;
  return count;
}

}  // namespace axisloom::ops
