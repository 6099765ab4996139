// Reductions by plain loops. They are meant to be obviously right: they know no merging, no lanes and no parts.
#include "ops/reduce/oracle.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"

#include <cmath>
#include <complex>

namespace axisloom::ops {
namespace {

using Real = long double;
using Number = std::complex<Real>;

/// Offsets of input, output and mask.
struct Offsets {
  u64 in = 0, out = 0, mask = 0;
};

/// Calls visit(offsets) for every index of the axes, the last one fastest.
template <class Visit>
void for_each(core::Nest axes, const Visit& visit, Offsets at = {}) {
  if (axes.empty()) return visit(at);
  // Strides of an input without elements may be any, by which its offsets wrap round.
  for (i64 i = 0; i < axes[0].extent; ++i) {
    for_each(axes.subspan(1), visit, at);
    at = {at.in + u64(axes[0].in), at.out + u64(axes[0].out), at.mask + u64(axes[0].other)};
  }
}

Number number_of(Dtype dtype, const std::byte* element) {
  const Real real = core::number_at(dtype, element);
  return {real, core::components_of(dtype) == 2 ? core::number_at(dtype, element, 1) : 0};
}

bool is_nan(Number x) {
  return std::isnan(x.real()) || std::isnan(x.imag());
}

/// A sum and what its roundings took from it (A. Neumaier, 1974).
struct Sum {
  Real sum = 0, lost = 0;
  void add(Real x) {
    const Real next = sum + x;
    lost += std::abs(sum) >= std::abs(x) ? (sum - next) + x : (x - next) + sum;
    sum = next;
  }
  Real value() const { return std::isfinite(sum) ? sum + lost : sum; }
};

/// What the elements of one output come to, as far as the recipe or its bound asks for it.
class Elements {
 public:
  explicit Elements(const Recipe& recipe)
      : reducer_(recipe.reducer),
        integers_(core::unit_roundoff(recipe.out) == 0),
        complex_(core::components_of(recipe.in) == 2) {}

  void add(Number x) {
    switch (reducer_) {
      case Reducer::any:
      case Reducer::all:
      case Reducer::count_nonzero:
        nonzero += x != Number(0);
        break;
      case Reducer::min:
      case Reducer::max:
      case Reducer::argmin:
      case Reducer::argmax:
        if (count == 0 || preferred(x, extreme)) extreme = x, place = count;
        if (complex_) add_numbers(x);  // magnitudes are rounded
        break;
      default:
        integers_ ? add_integers(x.real()) : add_numbers(x);
    }
    ++count;
  }

  i64 count = 0, nonzero = 0, place = 0;
  Sum real, imag, moduli, squares;
  u64 wrapped_sum = 0, wrapped_product = 1;
  Number product = 1, extreme = 0;
  Real growth = 1;     // all factors above 1 multiplied: no partial product is larger
  Real shrinkage = 1;  // all below 1 but 0: none is smaller
  Real largest_modulus = 0;
  Real finite_parts = 0;  // their sizes added up

 private:
  void add_integers(Real x) {
    const u64 integer = x < 0 ? 0 - u64(-x) : u64(x);
    wrapped_sum += integer;
    wrapped_product *= integer;
  }
  void add_numbers(Number x) {
    const Real re = x.real(), im = x.imag(), modulus = im == 0 ? std::abs(re) : std::hypot(re, im);
    real.add(re);
    imag.add(im);
    moduli.add(modulus);
    for (const Real part : {re, im})
      if (std::isfinite(part)) finite_parts += std::abs(part);
    squares.add(re * re + im * im);
    product = complex_ ? Number(product.real() * re - product.imag() * im, product.real() * im + product.imag() * re)
                       : Number(product.real() * re);  // an infinity times an imaginary 0 is none of its business
    growth *= std::max<Real>(1, modulus);
    if (modulus > 0) shrinkage *= std::min<Real>(1, modulus);
    if (std::isnan(modulus) || modulus > largest_modulus) largest_modulus = modulus;
  }
  bool preferred(Number x, Number than) const {
    const bool smallest = reducer_ == Reducer::min || reducer_ == Reducer::argmin;
    if (is_nan(than) || is_nan(x)) return !is_nan(than);
    if (x.real() != than.real()) return (x.real() < than.real()) == smallest;
    return x.imag() != than.imag() && (x.imag() < than.imag()) == smallest;
  }

  Reducer reducer_;
  bool integers_, complex_;
};

/// Calls visit(elements, offset in the output) for every output.
template <class Visit>
void for_each_output(const Reduction& reduction, HostBuffers in, const Visit& visit) {
  const Recipe& recipe = reduction.recipe;
  const i64 size = size_of(recipe.in);
  if (reduction.outputs() == 0) return;
  for_each(reduction.kept, [&](const Offsets& output) {
    Elements all(recipe);
    if (recipe.initial) all.add({(*recipe.initial)[0], (*recipe.initial)[1]});
    const auto add = [&](const Offsets& element) {
      const i64 from = reduction.in_offset + i64(output.in + element.in);
      const i64 of_mask = reduction.mask_offset + i64(output.mask + element.mask);
      if (recipe.masked && in[1][of_mask] == std::byte{0}) return;
      all.add(number_of(recipe.in, in[0] + from * size));
    };
    if (reduction.count() > 0) for_each(reduction.reduced, add);
    visit(all, reduction.out_offset + i64(output.out));
  });
}

Number result_of(const Recipe& recipe, const Elements& all) {
  const bool integers = core::unit_roundoff(recipe.out) == 0;
  const auto n = Real(all.count);
  switch (recipe.reducer) {
    case Reducer::sum:
      return integers ? Real(i64(all.wrapped_sum)) : Number(all.real.value(), all.imag.value());
    case Reducer::prod:
      return integers ? Real(i64(all.wrapped_product)) : all.product;
    case Reducer::mean:
      // A quotient of complex numbers, in NumPy as here: what is not finite in one part is NaN in the other.
      return {(all.real.value() + all.imag.value() * 0) / n, (all.imag.value() - all.real.value() * 0) / n};
    case Reducer::min:
    case Reducer::max:
      return all.extreme;
    case Reducer::argmin:
    case Reducer::argmax:
      return Real(all.place);
    case Reducer::any:
      return all.nonzero > 0;
    case Reducer::all:
      return all.nonzero == all.count;
    case Reducer::count_nonzero:
      return Real(all.nonzero);
    case Reducer::norm_1:
      return all.moduli.value();
    case Reducer::norm_2:
      return std::sqrt(all.squares.value());
    case Reducer::norm_inf:
      return all.largest_modulus;
  }
  return 0;
}

}  // namespace

void reduce_on_host(const Reduction& reduction, HostBuffers in, std::byte* out) {
  const Recipe& recipe = reduction.recipe;
  for_each_output(reduction, in, [&](const Elements& all, i64 to) {
    const Number result = result_of(recipe, all);
    std::byte* const element = out + to * i64(size_of(recipe.out));
    core::store_number(recipe.out, element, result.real());
    if (core::components_of(recipe.out) == 2) core::store_number(recipe.out, element, result.imag(), 1);
  });
}

namespace {

/// The format of a floating dtype; of exact integers any that holds them.
const core::FloatFormat& format_of(Dtype dtype) {
  const core::FloatFormat* const format = core::float_format(dtype);
  return format != nullptr ? *format : *core::float_format(Dtype::f64);
}

Real bound_of(const Recipe& recipe, const Elements& all) {
  const Real u = core::unit_roundoff(recipe.out), infinite = HUGE_VALL;
  const core::FloatFormat &value = format_of(recipe.value), &out = format_of(recipe.out);
  const Real count = all.count, moduli = all.moduli.sum, squares = all.squares.sum, product = std::abs(all.product);
  // Infinities and NaNs come out as they are in any order, but not of products that may be 0 before they meet an
  // infinity, nor of complex ones, in which an infinity times 0 is NaN. Of a complex sum the other part may be finite.
  const Real terms = std::ceil(std::log2(std::max<Real>(count, 1))) + 40;
  if (!std::isfinite(moduli)) {
    if (recipe.accumulation == Accumulation::product)
      return all.shrinkage < value.least() || recipe.components == 2 ? infinite : 0;
    const bool other_part = recipe.accumulation == Accumulation::compensated && recipe.components == 2;
    return other_part ? terms * u * all.finite_parts : 0;
  }
  if (recipe.accumulation == Accumulation::product) {
    if (all.growth >= value.largest()) return infinite;
    const Real tiny = 2 * count * value.least() * all.growth + out.least();
    const Real error = (3 * count + 2) * u * product + tiny;
    return product + error >= out.largest() ? infinite : error;
  }
  if (recipe.reducer == Reducer::norm_inf) return 4 * u * all.largest_modulus + out.least();
  if (recipe.reducer == Reducer::norm_2) {
    if (squares * 1.01L >= value.largest()) return infinite;
    const Real error = (terms + 4) * core::unit_roundoff(recipe.value) * squares + count * value.least();
    const Real root = std::sqrt(squares), least = std::sqrt(std::max<Real>(0, squares - error));
    return root - least + 4 * u * root + out.least();  // the root is steeper below than above
  }
  if (moduli * 1.01L >= value.largest()) return infinite;
  const Real error = terms * u * moduli + out.least();
  if (recipe.finish == Finish::mean) return error / count + out.least();
  return moduli + error >= out.largest() && std::abs(all.real.sum) + error >= out.largest() ? infinite : error;
}

}  // namespace

std::vector<double> reduce_bound(const Reduction& reduction, HostBuffers in) {
  const Recipe& recipe = reduction.recipe;
  const bool moduli = core::components_of(recipe.in) == 2 && recipe.mapping == Mapping::magnitude;
  const bool chosen = recipe.accumulation == Accumulation::extreme || recipe.accumulation == Accumulation::place;
  const bool exact = core::unit_roundoff(recipe.out) == 0 || (chosen && !moduli);
  if (exact) return std::vector<double>(reduction.outputs());
  std::vector<double> bounds;
  for_each_output(reduction, in, [&](const Elements& all, i64) { bounds.push_back(bound_of(recipe, all)); });
  return bounds;
}

}  // namespace axisloom::ops
