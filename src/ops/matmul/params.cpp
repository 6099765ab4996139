// Writes products into the parameters and constants that their kernels share.
#include "ops/matmul/params.hpp"

#include "core/divider.hpp"
#include "core/integers.hpp"
#include "ops/scalar_type.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

using core::Loop;

std::string form(Dtype dtype, const std::string& accumulator) {
  if (core::is_small_float(dtype)) return "FORM" + form_suffix(dtype);
  if (dtype == Dtype::boolean) return "FORM_BOOL";
  return memory_type(dtype) == accumulator ? "FORM_SAME" : "FORM_CAST";
}

u64 bits_of(double factor, std::string_view scalar) {
  if (scalar == "f64") return std::bit_cast<u64>(factor);
  if (scalar == "f32") return std::bit_cast<u32>(float(factor));
  return u64(i64(factor));
}

// Axes that are walked: a few steps for axes that are not there cost nothing once per group, and fewer ranks mean fewer
// kernels.
int batch_class(std::size_t axes) {
  for (const int rank : {3, 14})
    if (axes <= std::size_t(rank)) return rank;
  return PRODUCT_AXES;
}

/// The axis of an array that is not k; of C, n.
const Loop& side_of(const Product& product, core::Operand operand) {
  return operand == &Loop::in ? product.m : product.n;
}

/// The axis across which the contiguous runs of an array lie.
const Loop& rows_of(const Product& product, core::Operand operand) {
  if (operand == &Loop::out) return product.m;
  const Loop& side = side_of(product, operand);
  return side.*operand == 1 ? product.k : side;
}

LaunchBuffer buffer(int view, const core::Start& start, Dtype dtype) {
  return {view, start.offset, i64(size_of(dtype))};
}

}  // namespace

std::string memory_type(Dtype dtype) {
  return scalar_type(dtype) + (core::components_of(dtype) == 2 ? "x2" : "");
}

Arithmetic arithmetic_of(Dtype dtype) {
  const Dtype component = core::component_of(dtype);
  const bool wide = size_of(component) == 8, is_complex = component != dtype;
  if (core::float_format(component) == nullptr) return {wide ? "u64" : "u32", wide ? 8 : 4, is_complex};
  return {wide ? "f64" : "f32", wide ? 8 : 4, is_complex};
}

ProductParams params_of(const ProductProblem& problem) {
  const Product& product = problem.product;
  ProductParams params{};
  const std::size_t first = PRODUCT_AXES - product.batch.size();
  for (std::size_t w = 0; w < PRODUCT_AXES; ++w) {
    const Loop axis = w < first ? Loop{} : product.batch[w - first];
    params.extent[w] = axis.extent;
    params.walk_a[w] = axis.in;
    params.walk_b[w] = axis.other;
    params.walk_c[w] = axis.out;
    params.walk_d[w] = axis.addend;
    if (problem.index_bits != 32) continue;
    const core::Divider divider = core::divider(u64(axis.extent), 32);
    params.multiplier[w] = u32(divider.multiplier);
    params.shift[w] = u8(divider.shift);
  }
  const Loop &m = product.m, &n = product.n, &k = product.k;
  params.m = m.extent;
  params.n = n.extent;
  params.k = k.extent;
  params.a_m = m.in;
  params.a_k = k.in;
  params.b_k = k.other;
  params.b_n = n.other;
  params.c_m = m.out;
  params.c_n = n.out;
  params.d_m = m.addend;
  params.d_n = n.addend;
  const std::string_view scalar = arithmetic_of(product.in).scalar;
  params.work = problem.batch_count();
  params.alpha = bits_of(product.alpha, scalar);
  params.beta = bits_of(product.beta, scalar);
  return params;
}

void write_defines(const ProductProblem& problem, jit::Defines& defines) {
  const Product& product = problem.product;
  const Arithmetic arithmetic = arithmetic_of(product.in);
  const std::string scalar(arithmetic.scalar), accumulator = scalar + (arithmetic.is_complex ? "x2" : "");
  defines.set("ELEMENT", memory_type(product.in)).set("RESULT", memory_type(product.out));
  defines.set("ACC", accumulator).set("SCALAR", scalar).set("COMPLEX", arithmetic.is_complex);
  defines.set("SCALAR_BYTES", arithmetic.scalar_bytes);
  defines.set("REAL_F64", scalar == "f64").set("REAL_F32", scalar == "f32");
  defines.set("IN_FORM", form(product.in, accumulator)).set("OUT_FORM", form(product.out, accumulator));
  defines.set("SCALED", product.alpha != 1).set("ADD_D", adds_d(product));
  defines.set("RELU", product.relu && core::kind_of(product.out) != core::NumberKind::unsigned_integer);
  defines.set("INDEX_BITS", problem.index_bits).set("BATCH", batch_class(product.batch.size()));
  defines.set("AXL_PARAMS_SIZE", i64(sizeof(ProductParams)));
}

LaunchBuffer workspace_of(i64 element) {
  return {workspace_view, 0, element};
}

ProductLaunch::ProductLaunch(const std::string& kernel, const ProductProblem& problem, const Group& group)
    : problem(problem), launch(launch_of(kernel, group)), params(params_of(problem)) {
  launch.kernel.contract = true;
  write_defines(problem, defines());
  const Product& product = problem.product;
  launch.buffers = {buffer(problem.swapped ? 1 : 0, product.a, product.in),
                    buffer(problem.swapped ? 0 : 1, product.b, product.in)};
}

void ProductLaunch::define_orientation() {
  defines().set("A_ALONG_M", problem.product.m.in == 1).set("B_ALONG_N", problem.product.n.other == 1);
}

void ProductLaunch::set_blocks(i64 m, i64 n) {
  params.blocks_m = ceil_div(problem.product.m.extent, m);
  params.blocks_n = ceil_div(problem.product.n.extent, n);
}

Launch ProductLaunch::into_result(i64 groups) {
  const Product& product = problem.product;
  if (adds_d(product)) launch.buffers.push_back(buffer(2, *product.d, product.out));
  return into(buffer(product.d ? 3 : 2, product.c, product.out), groups);
}

Launch ProductLaunch::into(const LaunchBuffer& out, i64 groups) {
  launch.buffers.push_back(out);
  launch.geometry.groups = u64(groups);
  launch.params = params_bytes(params);
  return std::move(launch);
}

bool is_contiguous(const Product& product, core::Operand operand) {
  return side_of(product, operand).*operand == 1 || product.k.*operand == 1;
}

std::string lies_apart(const Product& product) {
  if (!is_contiguous(product, &Loop::in)) return "A is contiguous neither along m nor along k";
  if (!is_contiguous(product, &Loop::other)) return "B is contiguous neither along k nor along n";
  return {};
}

i64 aligned_bytes(const Product& product, core::Operand operand, i64 limit) {
  const core::Start& start = operand == &Loop::in ? product.a : operand == &Loop::other ? product.b : product.c;
  const i64 element = i64(size_of(operand == &Loop::out ? product.out : product.in));
  core::Loops steps = product.batch;
  steps.push_back(rows_of(product, operand));
  return std::max(element, core::proven_alignment(steps, operand, start, element, limit));
}

i64 resident_groups(i64 wanted, i64 items, i64 sums) {
  constexpr i64 registers = 65536, addresses = 24;  // of an item beside its sums and operands
  return std::min(wanted, registers / (items * (sums + sums / 2 + addresses)));
}

bool stores_pairs(const Product& product) {
  const i64 pair = 2 * i64(size_of(product.out));
  return product.n.out == 1 && aligned_bytes(product, &Loop::out, pair) == pair;
}

bool adds_d(const Product& product) {
  return product.d && product.beta != 0;
}

}  // namespace axisloom::ops
