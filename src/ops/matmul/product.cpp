// Checks a product, brings it to its normal form, and lets the candidates plan it.
#include "ops/matmul/product.hpp"

#include "core/checked.hpp"
#include "ops/matmul/candidate.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <limits>

namespace axisloom::ops {
namespace {

bool is_float(Dtype dtype) {
  return dtype == Dtype::f16 || dtype == Dtype::bf16 || dtype == Dtype::f32 || dtype == Dtype::f64;
}
bool is_complex(Dtype dtype) {
  return dtype == Dtype::c64 || dtype == Dtype::c128;
}
bool has_double(Dtype dtype) {
  return dtype == Dtype::f64 || dtype == Dtype::c128;
}

bool may_become(Dtype in, Dtype out) {
  if (in == out) return true;
  if (in == Dtype::i8 || in == Dtype::u8) return out == Dtype::i32;
  return (in == Dtype::f16 || in == Dtype::bf16) && out == Dtype::f32;
}

void check_factors(const Product& product) {
  const bool exact = !is_float(product.in) && !is_complex(product.in);
  const auto integral = [](double x) { return std::trunc(x) == x && std::abs(x) <= 9007199254740992.0; };
  if (exact && !(integral(product.alpha) && integral(product.beta)))
    throw Error(Errc::usage, "a product of integers takes whole numbers as alpha and beta");
  if (product.in == Dtype::boolean && (product.alpha != 1 || (product.beta != 0 && product.beta != 1)))
    throw Error(Errc::usage, "a product of bools takes alpha 1 and beta 0 or 1");
  if (product.relu && (is_complex(product.in) || product.in == Dtype::boolean))
    throw Error(Errc::usage, "relu is for real numbers, not for " + std::string(name(product.in)));
  if (product.beta != 0 && !product.d)
    throw Error(Errc::usage, "beta is " + std::to_string(product.beta) + ", but there is no array to add",
                "give D, or beta 0");
}

void check(const Product& product, const DeviceInfo& device) {
  if (!may_become(product.in, product.out))
    throw Error(Errc::usage,
                "a product of " + std::string(name(product.in)) + " cannot become " + std::string(name(product.out)));
  bool negative = product.m < 0 || product.n < 0 || product.k < 0;
  for (const BatchAxis& axis : product.batch) negative |= axis.extent < 0;
  if (negative) throw Error(Errc::usage, "a product has a negative extent");
  check_factors(product);
  if (has_double(product.in) && !device.f64)
    throw Error(Errc::unsupported,
                "the device has no f64, which a product of " + std::string(name(product.in)) + " needs",
                "use f32 or c64, or another device");
}

bool follows(std::int64_t outer, std::int64_t inner, std::int64_t extent) {
  return outer == inner * extent;
}

/// Merges neighbouring axes that every operand walks as one.
std::vector<BatchAxis> merged(const std::vector<BatchAxis>& batch) {
  std::vector<BatchAxis> list;
  for (const BatchAxis& axis : batch) {
    if (axis.extent == 1) continue;
    const bool one_walk = !list.empty() && follows(list.back().a, axis.a, axis.extent) &&
                          follows(list.back().b, axis.b, axis.extent) && follows(list.back().c, axis.c, axis.extent) &&
                          follows(list.back().d, axis.d, axis.extent);
    if (one_walk) {
      const std::int64_t outer = list.back().extent;
      list.back() = axis;
      list.back().extent *= outer;
    } else {
      list.push_back(axis);
    }
  }
  return list;
}

ProductOperand& d_of(Product& product, ProductOperand& none) {
  return product.d ? *product.d : none;
}

/// Makes an axis of the batch that B lacks part of m (that A lacks: of n), where its steps continue those of m.
bool absorb(Product& product, const BatchAxis& axis) {
  ProductOperand none;
  ProductOperand& d = d_of(product, none);
  if (axis.b == 0 && axis.a != 0) {
    const bool empty = product.m == 1;
    if (!empty && !(follows(axis.a, product.a.m, product.m) && follows(axis.c, product.c.m, product.m) &&
                    (!product.d || follows(axis.d, d.m, product.m))))
      return false;
    if (empty) product.a.m = axis.a, product.c.m = axis.c, d.m = axis.d;
    product.m *= axis.extent;
    return true;
  }
  if (axis.a == 0 && axis.b != 0) {
    const bool empty = product.n == 1;
    if (!empty && !(follows(axis.b, product.b.n, product.n) && follows(axis.c, product.c.n, product.n) &&
                    (!product.d || follows(axis.d, d.n, product.n))))
      return false;
    if (empty) product.b.n = axis.b, product.c.n = axis.c, d.n = axis.d;
    product.n *= axis.extent;
    return true;
  }
  return false;
}

void drop_strides_of_ones(Product& product) {
  if (product.m == 1) product.a.m = product.c.m = 0;
  if (product.n == 1) product.b.n = product.c.n = 0;
  if (product.k <= 1) product.a.k = product.b.k = 0;
  if (product.d && product.m == 1) product.d->m = 0;
  if (product.d && product.n == 1) product.d->n = 0;
}

/// Counts of an operand's axes and the strides along them.
using Walk = std::vector<std::pair<std::int64_t, std::int64_t>>;

/// Whether every offset of a walk fits in 32 bits, those of a block that reaches beyond the edge included.
bool fits(const Walk& walk) {
  constexpr double overshoot = 512;  // more than the largest block of any variant
  double reach = 0;
  for (const auto& [extent, stride] : walk)
    reach += (static_cast<double>(extent) + overshoot) * std::abs(static_cast<double>(stride));
  return reach < static_cast<double>(std::numeric_limits<std::int32_t>::max());
}

bool fits_32_bits(const Product& product) {
  Walk a{{product.m, product.a.m}, {product.k, product.a.k}}, b{{product.k, product.b.k}, {product.n, product.b.n}},
      c{{product.m, product.c.m}, {product.n, product.c.n}}, d;
  if (product.d) d = {{product.m, product.d->m}, {product.n, product.d->n}};
  double points = static_cast<double>(product.m + 512) * static_cast<double>(product.n + 512);
  for (const BatchAxis& axis : product.batch) {
    a.emplace_back(axis.extent, axis.a);
    b.emplace_back(axis.extent, axis.b);
    c.emplace_back(axis.extent, axis.c);
    d.emplace_back(axis.extent, axis.d);
    points *= static_cast<double>(axis.extent);
  }
  const bool counts = points < 2e9 && product.k < 2000000000;
  return counts && fits(a) && fits(b) && fits(c) && fits(d);
}

int index_bits(const Product& product, IndexWidth width) {
  const bool narrow = fits_32_bits(product);
  if (width == IndexWidth::bits32 && !narrow)
    throw Error(Errc::usage, "32-bit indices cannot address every element of this product",
                "leave the index width open");
  return narrow && width != IndexWidth::bits64 ? 32 : 64;
}

std::string text_of(const Product& product) {
  const auto matrix = [](std::int64_t rows, std::int64_t columns) {
    return "{" + std::to_string(rows) + "," + std::to_string(columns) + "}";
  };
  std::string text = std::string(name(product.in)) + " to " + std::string(name(product.out)) + " " +
                     std::to_string(product.m) + "x" + std::to_string(product.n) + "x" + std::to_string(product.k) +
                     " a " + matrix(product.a.m, product.a.k) + " b " + matrix(product.b.k, product.b.n) + " c " +
                     matrix(product.c.m, product.c.n);
  for (const BatchAxis& axis : product.batch) text += " batch " + std::to_string(axis.extent);
  return text;
}

std::string size_class(std::int64_t extent) {
  return extent == 1 ? "1" : extent < 256 ? "small" : "large";
}

tune::Key key_of(const ProductCandidate& candidate, const Product& product) {
  return {"matmul/" + std::string(candidate.info.name), text_of(product),
          std::string(name(product.in)) + " " + size_class(product.m) + " x " + size_class(product.n) + " x " +
              size_class(product.k)};
}

std::optional<Choice<ProductCandidate>> ask_all(const ProductProblem& problem, const DeviceInfo& device,
                                                const PlanOptions& options, PlanReport& report) {
  return choose(
      product_variants(), problem,
      [&](const ProductCandidate& candidate) { return key_of(candidate, problem.product); }, device, options, report);
}

[[noreturn]] void throw_refused(const std::string& why) {
  throw Error(Errc::unsupported, "no candidate takes this product" + why, "leave candidate and configuration open");
}

/// The problem as kernels see it: n is the axis along which C lies together, and of a vector its length.
ProductProblem problem_of(const Product& product, const PlanOptions& options) {
  const auto rank = [](std::int64_t extent, std::int64_t stride) {
    return extent == 1 ? std::numeric_limits<std::int64_t>::max() : std::abs(stride);
  };
  ProductProblem problem{product, index_bits(product, options.index), options.checked};
  problem.turned = rank(product.m, product.c.m) < rank(product.n, product.c.n);
  if (!problem.turned) return problem;
  Product& turned = problem.product;
  const auto turn = [](const ProductOperand& x) { return ProductOperand{x.n, x.m, x.k, x.offset, x.align}; };
  std::swap(turned.m, turned.n);
  turned.a = turn(product.b);
  turned.b = turn(product.a);
  turned.c = turn(product.c);
  if (product.d) turned.d = turn(*product.d);
  for (BatchAxis& axis : turned.batch) std::swap(axis.a, axis.b);
  return problem;
}

/// Sizes are counted in 64 bits, with room for what variants add to them.
void check_size(const Product& product) {
  constexpr double most = 0x1p50;
  const auto m = static_cast<double>(product.m), n = static_cast<double>(product.n), k = static_cast<double>(product.k);
  double points = std::max({m * n, m * k, n * k});
  for (const BatchAxis& axis : product.batch) points *= static_cast<double>(axis.extent);
  if (points > most)
    throw Error(Errc::unsupported,
                "a product whose batch of matrices has more than 2^50 elements, repeated ones included",
                "do it in parts");
}

bool writes_nothing(const Product& product) {
  return product.m == 0 || product.n == 0 ||
         std::any_of(product.batch.begin(), product.batch.end(),
                     [](const BatchAxis& axis) { return axis.extent == 0; });
}

}  // namespace

Product normalise(const Product& product) {
  Product normal = product;
  normal.batch.clear();
  const std::vector<BatchAxis> batch = merged(product.batch);
  for (auto axis = batch.rbegin(); axis != batch.rend(); ++axis)
    if (!absorb(normal, *axis)) normal.batch.insert(normal.batch.begin(), *axis);
  normal.batch = merged(normal.batch);
  drop_strides_of_ones(normal);
  return normal;
}

std::shared_ptr<PlanImpl> plan_product(const Product& product, std::vector<View> views, const Device& device,
                                       const PlanOptions& options) {
  check(product, device.info());
  auto plan = std::make_shared<PlanImpl>();
  plan->device = device;
  plan->views = std::move(views);
  plan->checked = options.checked;
  PlanReport& report = plan->report;
  report.candidate = "none";
  const Product normal = normalise(product);
  if (writes_nothing(normal)) return plan;
  check_size(normal);
  if (normal.batch.size() > most_batch_axes)
    throw Error(Errc::unsupported,
                "a product over " + std::to_string(normal.batch.size()) + " batch axes that cannot be merged, and " +
                    "kernels walk at most " + std::to_string(most_batch_axes),
                "merge axes, or rearrange the operands first");
  const ProductProblem problem = problem_of(normal, options);
  report.index = problem.index_bits == 64 ? IndexWidth::bits64 : IndexWidth::bits32;
  report.bytes_moved = static_cast<std::int64_t>(bytes_touched(problem));
  auto choice = ask_all(problem, device.info(), options, report);
  if (!choice) throw_refused(refusals(report, options));
  report.candidate = choice->candidate->info.name;
  report.configuration = std::move(choice->configuration.values);
  report.configuration_source = std::move(choice->configuration.source);
  report.expected_seconds = choice->verdict.seconds;
  ProductLaunches lowered = choice->candidate->lower(problem, report.configuration, device.info());
  plan->launches = std::move(lowered.launches);
  report.workspace_bytes = lowered.workspace_bytes;
  compile(*plan);
  return plan;
}

std::span<const CandidateInfo> product_candidates() {
  static const std::vector<CandidateInfo> infos = [] {
    std::vector<CandidateInfo> list;
    for (const ProductCandidate& candidate : product_variants()) list.push_back(candidate.info);
    return list;
  }();
  return infos;
}

double product_seconds(const Product& product, const DeviceInfo& device) {
  check(product, device);
  const Product normal = normalise(product);
  if (writes_nothing(normal)) return 0;
  PlanReport report;
  const PlanOptions options;
  const auto choice = ask_all(problem_of(normal, options), device, options, report);
  if (!choice) throw_refused(refusals(report, options));
  return choice->verdict.seconds;
}

}  // namespace axisloom::ops
