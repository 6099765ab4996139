// The table of reductions: result dtypes and empty cases as NumPy 2, and the way in which each is accumulated.
#include "ops/reduce/reducer.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"

namespace axisloom::ops {

std::string_view name(Reducer reducer) noexcept {
  switch (reducer) {
    case Reducer::sum:
      return "sum";
    case Reducer::prod:
      return "prod";
    case Reducer::mean:
      return "mean";
    case Reducer::min:
      return "min";
    case Reducer::max:
      return "max";
    case Reducer::argmin:
      return "argmin";
    case Reducer::argmax:
      return "argmax";
    case Reducer::any:
      return "any";
    case Reducer::all:
      return "all";
    case Reducer::count_nonzero:
      return "count_nonzero";
    case Reducer::norm_1:
      return "norm (ord 1)";
    case Reducer::norm_2:
      return "norm (ord 2)";
    case Reducer::norm_inf:
      return "norm (ord inf)";
  }
  return "";
}

namespace {

using core::component_of;
using core::NumberKind;

bool is_inexact(Dtype dtype) {
  return core::unit_roundoff(dtype) != 0;
}

Dtype widest_integer(Dtype dtype) {
  return core::kind_of(dtype) == NumberKind::unsigned_integer ? Dtype::u64 : Dtype::i64;
}

/// The floating type in which sums and products of a dtype are accumulated.
Dtype floating_value(Dtype in) {
  return is_inexact(in) && component_of(in) != Dtype::f64 ? Dtype::f32 : Dtype::f64;
}

/// The type in which values of a dtype are compared: exactly, and never 16-bit floats.
Dtype compared_value(Dtype in) {
  if (core::is_small_float(in)) return Dtype::f32;
  if (in == Dtype::boolean) return Dtype::u8;
  return component_of(in);
}

/// The same of at least 32 bits, so that a place stands beside it in a vector of as many lanes.
Dtype wide_enough(Dtype value) {
  if (value == Dtype::u8 || value == Dtype::u16) return Dtype::u32;
  if (value == Dtype::i8 || value == Dtype::i16) return Dtype::i32;
  return value;
}

/// Whether the integer sum of so many elements is sure to fit: then a mean needs but one division.
bool sum_fits(Dtype in, i64 count) {
  const auto bits = 8 * int(size_of(in));
  return !is_inexact(in) && bits <= 32 && count <= i64{1} << (63 - bits);
}

}  // namespace

Dtype result_dtype(Reducer reducer, Dtype in) noexcept {
  switch (reducer) {
    case Reducer::sum:
    case Reducer::prod:
      return is_inexact(in) ? in : widest_integer(in);
    case Reducer::mean:
      return is_inexact(in) ? in : Dtype::f64;
    case Reducer::min:
    case Reducer::max:
      return in;
    case Reducer::any:
    case Reducer::all:
      return Dtype::boolean;
    case Reducer::argmin:
    case Reducer::argmax:
    case Reducer::count_nonzero:
      return Dtype::i64;
    case Reducer::norm_1:
    case Reducer::norm_2:
    case Reducer::norm_inf:
      return is_inexact(in) ? component_of(in) : Dtype::f64;
  }
  return in;
}

bool has_identity(Reducer reducer) noexcept {
  return reducer != Reducer::min && reducer != Reducer::max && reducer != Reducer::argmin &&
         reducer != Reducer::argmax && reducer != Reducer::norm_inf;
}

bool Recipe::needs_f64() const noexcept {
  return value == Dtype::f64 || out == Dtype::f64 || core::component_of(in) == Dtype::f64;
}

int Recipe::u64s() const noexcept {
  const bool second = accumulation == Accumulation::compensated || accumulation == Accumulation::place;
  if (accumulation == Accumulation::place) return components + 1;
  return components * (second ? 2 : 1);
}

Recipe Recipe::unfinished() const noexcept {
  Recipe recipe = *this;
  recipe.out = Dtype::u64;
  recipe.finish = Finish::accumulator;
  return recipe;
}

int Recipe::out_scalars() const noexcept {
  return finish == Finish::accumulator ? u64s() : core::components_of(out);
}

bool Recipe::order_matters() const noexcept {
  return accumulation == Accumulation::compensated ||
         (accumulation == Accumulation::product && (value == Dtype::f32 || value == Dtype::f64));
}

namespace {

void set_sum(Recipe& r, bool mean, i64 count) {
  r.accumulation = Accumulation::compensated;
  r.finish = mean ? Finish::mean : Finish::value;
  r.value = floating_value(r.in);
  if (is_inexact(r.in) || (mean && !sum_fits(r.in, count))) return;
  r.accumulation = Accumulation::total;
  r.value = widest_integer(r.in);
}

void set_product(Recipe& r) {
  r.accumulation = Accumulation::product;
  r.value = is_inexact(r.in) ? floating_value(r.in) : widest_integer(r.in);
}

/// Of complex numbers that compare alike, NaNs among them, the first is the result: so its place has to be known.
void set_extreme(Recipe& r, bool smallest, bool place) {
  r.accumulation = place || r.components == 2 ? Accumulation::place : Accumulation::extreme;
  r.finish = place ? Finish::place : Finish::value;
  r.value = place ? wide_enough(compared_value(r.in)) : compared_value(r.in);
  r.smallest = smallest;
}

void set_nonzero(Recipe& r, Accumulation accumulation, Dtype value, bool smallest) {
  r.accumulation = accumulation;
  r.mapping = Mapping::nonzero;
  r.value = value;
  r.smallest = smallest;
  r.components = 1;
}

void set_norm(Recipe& r, Accumulation accumulation, Mapping mapping, Finish finish) {
  r.accumulation = accumulation;
  r.mapping = mapping;
  r.finish = finish;
  r.value = floating_value(r.in);
  r.components = 1;
}

}  // namespace

Recipe recipe(Reducer reducer, Dtype in, i64 count) {
  Recipe r;
  r.reducer = reducer;
  r.in = in;
  r.out = result_dtype(reducer, in);
  r.components = core::components_of(in);
  switch (reducer) {
    case Reducer::sum:
      set_sum(r, false, count);
      break;
    case Reducer::mean:
      set_sum(r, true, count);
      break;
    case Reducer::prod:
      set_product(r);
      break;
    case Reducer::min:
      set_extreme(r, true, false);
      break;
    case Reducer::max:
      set_extreme(r, false, false);
      break;
    case Reducer::argmin:
      set_extreme(r, true, true);
      break;
    case Reducer::argmax:
      set_extreme(r, false, true);
      break;
    case Reducer::any:
      set_nonzero(r, Accumulation::extreme, Dtype::u8, false);
      break;
    case Reducer::all:
      set_nonzero(r, Accumulation::extreme, Dtype::u8, true);
      break;
    case Reducer::count_nonzero:
      set_nonzero(r, Accumulation::total, Dtype::i64, false);
      break;
    case Reducer::norm_1:
      set_norm(r, Accumulation::compensated, Mapping::magnitude, Finish::value);
      break;
    case Reducer::norm_2:
      set_norm(r, Accumulation::compensated, Mapping::square, Finish::root);
      break;
    case Reducer::norm_inf:
      set_norm(r, Accumulation::extreme, Mapping::magnitude, Finish::value);
      break;
  }
  return r;
}

}  // namespace axisloom::ops
