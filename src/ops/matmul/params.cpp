// Writes products into the parameters and constants that their kernels share.
#include "ops/matmul/params.hpp"

#include "core/divider.hpp"
#include "core/integers.hpp"
#include "ops/scalar_type.hpp"

#include <algorithm>
#include <bit>

namespace axisloom::ops {
namespace {

std::string form(Dtype dtype, const std::string& accumulator) {
  if (core::is_small_float(dtype)) return "FORM" + form_suffix(dtype);
  if (dtype == Dtype::boolean) return "FORM_BOOL";
  return memory_type(dtype) == accumulator ? "FORM_SAME" : "FORM_CAST";
}

/// Results wrap round, so signed integers are stored, and unless they are widened loaded, by the kernels of unsigned
/// ones.
Dtype unsigned_of(Dtype dtype) {
  constexpr std::pair<Dtype, Dtype> integers[] = {
      {Dtype::i8, Dtype::u8}, {Dtype::i16, Dtype::u16}, {Dtype::i32, Dtype::u32}, {Dtype::i64, Dtype::u64}};
  for (const auto& [from, to] : integers)
    if (dtype == from) return to;
  return dtype;
}

u64 bits_of(double factor, std::string_view scalar) {
  if (scalar == "f64") return std::bit_cast<u64>(factor);
  if (scalar == "f32") return std::bit_cast<u32>(float(factor));
  return u64(i64(factor));
}

// Axes that are walked: a few steps for axes that are not there cost nothing once per group, and fewer ranks mean fewer
// kernels.
int batch_class(size_t axes) {
  return axes <= 3 ? 3 : axes <= 14 ? 14 : PRODUCT_AXES;
}

/// The axis of an array that is not k; of C, n.
const Loop& side_of(const Product& product, Operand operand) {
  return operand == &Loop::in ? product.m : product.n;
}

/// The axis across which the contiguous runs of an array lie.
const Loop& rows_of(const Product& product, Operand operand) {
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
  const bool wide = size_of(component) == 8, floats = core::float_format(component) != nullptr;
  return {floats ? wide ? "f64" : "f32" : wide ? "u64" : "u32", wide ? 8 : 4, component != dtype};
}

ProductParams params_of(const ProductProblem& problem) {
  ProductParams params{};
  Loops walk(PRODUCT_AXES - problem.batch.size());
  walk.insert(walk.end(), problem.batch.begin(), problem.batch.end());
  for (size_t w = 0; w < PRODUCT_AXES; ++w) {
    const Loop& axis = walk[w];
    params.extent[w] = axis.extent;
    params.walk_a[w] = axis.in;
    params.walk_b[w] = axis.other;
    params.walk_c[w] = axis.out;
    params.walk_d[w] = axis.addend;
    if (problem.index_bits != 32) continue;
    const core::Divider divider = core::divider(axis.extent, 32);
    params.multiplier[w] = divider.multiplier;
    params.shift[w] = divider.shift;
  }
  const Loop &m = problem.m, &n = problem.n, &k = problem.k;
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
  const std::string_view scalar = arithmetic_of(problem.in).scalar;
  params.work = problem.batch_count();
  params.alpha = bits_of(problem.alpha, scalar);
  params.beta = bits_of(problem.beta, scalar);
  return params;
}

void write_defines(const ProductProblem& problem, Stage stage, jit::Defines& defines) {
  const Arithmetic arithmetic = arithmetic_of(problem.in);
  const std::string scalar(arithmetic.scalar), accumulator = scalar + (arithmetic.is_complex ? "x2" : "");
  const Dtype in = problem.in == problem.out ? unsigned_of(problem.in) : problem.in, out = unsigned_of(problem.out);
  const bool reads = stage != Stage::of_sums, ends = stage != Stage::to_sums;
  const std::string form_of_sums = problem.in == Dtype::boolean ? "FORM_BOOL" : "FORM_SAME";
  defines.set("ELEMENT", reads ? memory_type(in) : accumulator)
      .set("RESULT", ends ? memory_type(out) : accumulator)
      .set("ACC", accumulator)
      .set("SCALAR", scalar)
      .set("COMPLEX", arithmetic.is_complex)
      .set("SCALAR_BYTES", arithmetic.scalar_bytes)
      .set("REAL_F64", scalar == "f64")
      .set("REAL_F32", scalar == "f32")
      .set("IN_FORM", reads ? form(in, accumulator) : form_of_sums)
      .set("OUT_FORM", ends ? form(out, accumulator) : "FORM_SAME")
      .set("WITH_D", ends && passes_d(problem))
      .set("SCALED", ends && problem.alpha != 1)
      .set("ADD_D", ends && adds_d(problem))
      .set("RELU", ends && problem.relu && core::kind_of(problem.out) != core::NumberKind::unsigned_integer)
      .set("INDEX_BITS", problem.index_bits)
      .set("BATCH", batch_class(problem.batch.size()))
      .set("AXL_PARAMS_SIZE", sizeof(ProductParams));
}

ProductLaunch::ProductLaunch(const std::string& kernel, const ProductProblem& problem, const Group& group, Stage stage)
    : OpenLaunch{launch_of(kernel, group), params_of(problem)}, problem(problem) {
  launch.kernel.contract = true;
  write_defines(problem, stage, defines());
  launch.buffers = {buffer(problem.swapped ? 1 : 0, problem.a, problem.in),
                    buffer(problem.swapped ? 0 : 1, problem.b, problem.in)};
}

void ProductLaunch::define_orientation() {
  defines().set("A_ALONG_M", problem.m.in == 1).set("B_ALONG_N", problem.n.other == 1);
}

void ProductLaunch::set_blocks(i64 m, i64 n) {
  params.blocks_m = ceil_div(problem.m.extent, m);
  params.blocks_n = ceil_div(problem.n.extent, n);
}

Launch ProductLaunch::into_result(i64 groups) {
  const LaunchBuffer c = buffer(problem.d ? 3 : 2, problem.c, problem.out);
  if (passes_d(problem)) launch.buffers.push_back(adds_d(problem) ? buffer(2, *problem.d, problem.out) : c);
  return into(c, groups);
}

Launch ProductLaunch::into(const LaunchBuffer& out, i64 groups) {
  launch.buffers.push_back(out);
  return closed(groups);
}

bool is_contiguous(const Product& product, Operand operand) {
  return side_of(product, operand).*operand == 1 || product.k.*operand == 1;
}

std::string lies_apart(const Product& product) {
  if (!is_contiguous(product, &Loop::in)) return "A is contiguous neither along m nor along k";
  if (!is_contiguous(product, &Loop::other)) return "B is contiguous neither along k nor along n";
  return {};
}

i64 aligned_bytes(const Product& product, Operand operand, i64 limit) {
  const core::Start& start = operand == &Loop::in ? product.a : operand == &Loop::other ? product.b : product.c;
  const i64 element = size_of(operand == &Loop::out ? product.out : product.in);
  Loops steps = product.batch;
  steps.push_back(rows_of(product, operand));
  return std::max(element, core::proven_alignment(steps, operand, start, element, limit));
}

i64 resident_groups(i64 wanted, i64 items, i64 sums) {
  constexpr i64 registers = 65536, addresses = 24;  // of an item beside its sums and operands
  return std::min(wanted, registers / (items * (sums + sums / 2 + addresses)));
}

bool stores_pairs(const Product& product) {
  const i64 pair = 2 * size_of(product.out);
  return product.n.out == 1 && aligned_bytes(product, &Loop::out, pair) == pair;
}

}  // namespace axisloom::ops
