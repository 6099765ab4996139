// Checks a product, brings it to its normal form, and lets the candidates plan it.
#include "ops/matmul/product.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "ops/matmul/candidate.hpp"
#include "ops/matmul/model.hpp"
#include "planner/choose.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

namespace axisloom::ops {
namespace {

void check(const Product& product, const DeviceInfo& device) {
  if (!may_become(product.in, product.out))
    throw Error(Errc::usage, concat("a product of ", name(product.in), " cannot become ", name(product.out)));
  for (const Loop& loop : product.loops())
    if (loop.extent < 0) throw Error(Errc::usage, "a product has a negative extent");
  check_factors(product.in, product.alpha, product.beta, product.relu);
  if (product.beta != 0 && !product.d)
    throw Error(Errc::usage, concat("beta is ", product.beta, ", but there is no array to add"), "give D, or beta 0");
  require_f64(device, "product", {product.in});
}

/// Makes an axis of the batch that B lacks part of m (that A lacks: of n), where its steps continue those of m.
bool absorb(Product& product, const Loop& axis) {
  const bool rows = axis.other == 0;
  if (rows == (axis.in == 0)) return false;
  Loop& loop = rows ? product.m : product.n;
  if (loop.extent != 1 && !core::continues(axis, loop)) return false;
  const i64 extent = axis.extent * loop.extent;
  if (loop.extent == 1) loop = axis;
  loop.extent = extent;
  return true;
}

/// In floating point, which does not overflow.
double points_of(const Loops& batch) {
  double points = 1;
  for (const Loop& axis : batch) points *= axis.extent;
  return points;
}

/// Whether every offset fits in 32 bits, those of a block that reaches beyond the edge included.
bool fits_32_bits(const Product& product) {
  constexpr double overshoot = 512;  // more than the largest block of any variant
  constexpr double most_points = 2e9;
  const double points = points_of(product.batch) * (product.m.extent + overshoot) * (product.n.extent + overshoot);
  return points < most_points && product.k.extent < most_points &&
         core::reach_beyond(product.loops(), overshoot) < std::numeric_limits<i32>::max();
}

/// The problem as kernels see it: n is the axis along which C lies together, and of a vector its length.
ProductProblem problem_of(const Product& product, IndexWidth width, bool on_host) {
  const auto rank = [](const Loop& loop) {
    return loop.extent == 1 ? std::numeric_limits<i64>::max() : std::abs(loop.out);
  };
  ProductProblem problem{product, index_bits(fits_32_bits(product), width, "product"), on_host};
  problem.swapped = rank(product.m) < rank(product.n);
  if (!problem.swapped) return problem;
  std::swap(problem.m, problem.n);
  std::swap(problem.a, problem.b);
  for (Loop* loop : {&problem.m, &problem.n, &problem.k}) std::swap(loop->in, loop->other);
  for (Loop& axis : problem.batch) std::swap(axis.in, axis.other);
  return problem;
}

/// Sizes are counted in 64 bits, with room for what variants add to them.
void check_size(const Product& product) {
  constexpr double most = 0x1p50;
  const double m = product.m.extent, n = product.n.extent, k = product.k.extent;
  if (points_of(product.batch) * std::max({m * n, m * k, n * k}) > most)
    throw Error(Errc::unsupported,
                "a product whose batch of matrices has more than 2^50 elements, repeated ones included",
                "do it in parts");
}

bool writes_nothing(const Product& product) {
  return product.m.extent == 0 || product.n.extent == 0 || core::count(product.batch) == 0;
}

}  // namespace

bool may_become(Dtype in, Dtype out) {
  if (in == out) return true;
  if (in == Dtype::i8 || in == Dtype::u8) return out == Dtype::i32;
  return core::is_small_float(in) && out == Dtype::f32;
}

void check_factors(Dtype result, double alpha, double beta, bool relu) {
  const bool boolean = result == Dtype::boolean;
  const auto whole = [](double x) { return std::trunc(x) == x && std::abs(x) < 0x1p53; };
  if (core::unit_roundoff(result) == 0 && !(whole(alpha) && whole(beta)))
    throw Error(Errc::usage, "alpha and beta of integers must be whole numbers", "use out-dtype f64");
  if (boolean && (alpha != 1 || (beta != 0 && beta != 1)))
    throw Error(Errc::usage, "alpha of bools must be 1, and beta 0 or 1", "use out-dtype u8");
  if (relu && (boolean || core::components_of(result) == 2))
    throw Error(Errc::usage, concat("relu is for real numbers, the result is ", name(result)),
                "leave the activation out");
}

Loops Product::loops() const {
  Loops all = batch;
  all.insert(all.end(), {m, n, k});
  return all;
}

Product normalise(const Product& product) {
  Product normal = product;
  const auto merge = [](Loops& batch) {
    core::drop_single_steps(batch);
    core::merge(batch, true);
  };
  merge(normal.batch);
  const Loops batch = std::exchange(normal.batch, {});
  for (auto axis = batch.rbegin(); axis != batch.rend(); ++axis)
    if (!absorb(normal, *axis)) normal.batch.insert(normal.batch.begin(), *axis);
  merge(normal.batch);
  // The strides of single steps may be anything.
  for (Loop* loop : {&normal.m, &normal.n, &normal.k})
    if (loop->extent <= 1) *loop = {loop->extent};
  return normal;
}

SharedPlan plan_product(const Product& product, Views views, const Device& device, const PlanOptions& options) {
  check(product, device.info());
  auto plan = empty_plan(views, device, options);
  const Product normal = normalise(product);
  if (writes_nothing(normal)) return plan;
  check_size(normal);
  if (normal.batch.size() > most_batch_axes) throw_too_many_axes("product", normal.batch.size(), most_batch_axes);
  const ProductProblem problem = problem_of(normal, options.index, device::is_host(device.info()));
  plan->report.index = width_of(problem.index_bits);
  plan->report.bytes_moved = i64(bytes_touched(problem));
  complete(*plan, request("matmul", "product", product_candidates(), problem), options);
  return plan;
}

}  // namespace axisloom::ops
