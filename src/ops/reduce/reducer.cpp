// The table of reductions: result dtypes and empty cases as NumPy 2, and the way in which each is accumulated.
#include "ops/reduce/reducer.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"

#include <bit>

namespace axisloom::ops {

namespace {

using core::component_of;
using core::widest_integer;

bool is_inexact(Dtype dtype) {
  return core::unit_roundoff(dtype) != 0;
}

bool is_integer(Dtype dtype) {
  return !is_inexact(dtype) && dtype != Dtype::boolean;
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

/// The unsigned integer of a scalar's size.
Dtype unsigned_of(Dtype scalar) {
  static constexpr Dtype by_size[] = {Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64};
  return by_size[std::countr_zero(size_of(scalar))];
}

/// Whether the integer sum of so many elements is sure to fit: then a mean needs but one division.
bool sum_fits(Dtype in, i64 count) {
  const auto bits = 8 * int(size_of(in));
  return !is_inexact(in) && bits <= 32 && count <= i64{1} << (63 - bits);
}

/// A reduction of floats, in the order of the enumeration; integers are added and multiplied as such.
struct Row {
  std::string_view name;
  Accumulation accumulation;
  Mapping mapping = Mapping::identity;
  Finish finish = Finish::value;
  bool smallest = false;
};

using enum Accumulation;
using enum Mapping;

constexpr Row table[] = {
    {"sum", compensated},
    {"prod", product},
    {"mean", compensated, identity, Finish::mean},
    {"min", extreme, identity, Finish::value, true},
    {"max", extreme},
    {"argmin", place, identity, Finish::place, true},
    {"argmax", place, identity, Finish::place},
    {"any", extreme, nonzero, Finish::truth},
    {"all", extreme, nonzero, Finish::truth, true},
    {"count_nonzero", total, nonzero},
    {"norm (ord 1)", compensated, magnitude},
    {"norm (ord 2)", compensated, square, Finish::root},
    {"norm (ord inf)", extreme, magnitude},
};

const Row& row(Reducer reducer) {
  return table[int(reducer)];
}

bool is_chosen(const Row& row) {
  return row.accumulation == extreme || row.accumulation == place;
}

/// Of sums, means and products. Integers are added up as such where that is exact, whatever the result's dtype: modulo
/// 2^64 also modulo less.
void set_sum(Recipe& r, i64 count, std::optional<Dtype> out) {
  const bool sums = r.accumulation == compensated;
  r.out = out.value_or(is_inexact(r.in) ? r.in : r.finish == Finish::mean ? Dtype::f64 : widest_integer(r.in));
  r.value = component_of(r.out) == Dtype::f64 ? Dtype::f64 : floating_value(r.in);
  if (is_inexact(r.in) || (is_inexact(r.out) && !(sums && sum_fits(r.in, count)))) return;
  if (sums) r.accumulation = total;
  r.value = widest_integer(r.in);
}

/// Of complex numbers that compare alike, NaNs among them, the first is the result: so its place has to be known.
/// Extremes of bools are whether any is true, or all are.
void set_chosen(Recipe& r) {
  const bool places = r.finish == Finish::place, truths = !places && r.in == Dtype::boolean;
  if (r.components == 2) r.accumulation = place;
  if (truths) r.finish = Finish::truth;
  r.bits = truths;
  r.out = places ? Dtype::i64 : r.in;
  r.value = places ? wide_enough(compared_value(r.in)) : compared_value(r.in);
}

/// Any element is not zero where the greatest is none, all where the least is none: each is compared as it is. A
/// complex one is mapped to its truth first.
void set_nonzero(Recipe& r) {
  const bool counts = r.accumulation == total;
  r.bits = true;
  r.out = counts ? Dtype::i64 : Dtype::boolean;
  r.value = counts ? Dtype::i64 : r.components == 1 ? r.element() : Dtype::u8;
  if (!counts && r.components == 1) r.mapping = identity;
  r.components = 1;
}

void set_norm(Recipe& r) {
  r.out = is_inexact(r.in) ? component_of(r.in) : Dtype::f64;
  r.value = floating_value(r.in);
  r.components = 1;
}

}  // namespace

std::string_view name(Reducer reducer) noexcept {
  return row(reducer).name;
}

bool offers_dtype(Reducer reducer, Dtype in, Dtype out) noexcept {
  const Row& as = row(reducer);
  if (is_chosen(as) || as.mapping != identity) return false;
  if (is_inexact(in)) return out == in || (core::kind_of(out) == core::kind_of(in) && size_of(out) > size_of(in));
  return core::kind_of(out) == core::NumberKind::floating || (is_integer(out) && as.finish != Finish::mean);
}

bool takes_initial(Reducer reducer) noexcept {
  return row(reducer).mapping == identity && row(reducer).finish == Finish::value;
}

bool takes_mask(Reducer reducer) noexcept {
  const Row& as = row(reducer);
  return as.finish != Finish::place && (as.mapping == identity || (as.mapping == nonzero && is_chosen(as)));
}

bool has_identity(Reducer reducer) noexcept {
  return !is_chosen(row(reducer)) || row(reducer).mapping == nonzero;
}

Dtype Recipe::element() const noexcept {
  return bits ? unsigned_of(component_of(in)) : component_of(in);
}

int Recipe::u64s() const noexcept {
  const int taken = masked ? 1 : 0;  // how many elements
  if (accumulation == place) return components + 1 + taken;
  return components * (accumulation == compensated ? 2 : 1) + taken;
}

Recipe Recipe::unfinished() const noexcept {
  Recipe recipe = *this;
  recipe.out = Dtype::u64;
  recipe.finish = Finish::accumulator;
  recipe.initial.reset();
  return recipe;
}

bool Recipe::converts() const noexcept {
  if (finish == Finish::accumulator || finish == Finish::place) return false;
  if (initial) return true;
  if (finish == Finish::truth) return false;
  if (accumulation == total && is_inexact(out)) return finish != Finish::mean || out != Dtype::f64;
  if (core::is_small_float(out)) return value != Dtype::f32;
  return size_of(component_of(out)) != size_of(value) || is_inexact(out) != is_inexact(value);
}

int Recipe::out_scalars() const noexcept {
  return finish == Finish::accumulator ? u64s() : core::components_of(out);
}

bool Recipe::order_matters() const noexcept {
  return accumulation == compensated || (accumulation == product && value_floats());
}

bool Recipe::value_floats() const noexcept {
  return is_inexact(value);
}

Recipe recipe(Reducer reducer, Dtype in, i64 count, std::optional<Dtype> out) {
  const Row& as = row(reducer);
  Recipe r{.reducer = reducer,
           .in = in,
           .components = core::components_of(in),
           .accumulation = as.accumulation,
           .mapping = as.mapping,
           .finish = as.finish,
           .smallest = as.smallest};
  if (as.mapping == nonzero)
    set_nonzero(r);
  else if (as.mapping != identity)
    set_norm(r);
  else if (is_chosen(as))
    set_chosen(r);
  else
    set_sum(r, count, out);
  return r;
}

}  // namespace axisloom::ops
