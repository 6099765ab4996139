// The oracle: every kind of number by its own rules.
#include "ops/einsum/oracle.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/einsum/dense.hpp"

#include <cmath>

namespace axisloom::ops {
namespace {

using core::NumberKind;

struct Real {
  long double value = 0;
};
Real operator+(Real a, Real b) {
  return {a.value + b.value};
}
Real operator*(Real a, Real b) {
  return {a.value * b.value};
}

struct Complex {
  long double re = 0, im = 0;
};
Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

struct Integer {  // modulo 2^64
  u64 value = 0;
};
Integer operator+(Integer a, Integer b) {
  return {a.value + b.value};
}
Integer operator*(Integer a, Integer b) {
  return {a.value * b.value};
}

struct Truth {
  bool value = false;
};
Truth operator+(Truth a, Truth b) {
  return {a.value || b.value};
}
Truth operator*(Truth a, Truth b) {
  return {a.value && b.value};
}

/// An element of a dtype as each kind of number, and back. A float that is asked for holds the values of the dtype.
template <class T>
T read(Dtype dtype, const std::byte* element) {
  const long double number = core::number_at(dtype, element);
  if constexpr (std::is_same_v<T, Real>)
    return {number};
  else if constexpr (std::is_same_v<T, Complex>)
    return {number, core::components_of(dtype) == 2 ? core::number_at(dtype, element, 1) : 0};
  else if constexpr (std::is_same_v<T, Truth>)
    return {number != 0};
  else if (number < 0)
    return {u64(i64(number))};
  else
    return {u64(number)};
}

template <class T>
T factor(double value) {
  if constexpr (std::is_same_v<T, Integer>)
    return {u64(i64(value))};
  else if constexpr (std::is_same_v<T, Truth>)
    return {value != 0};
  else
    return {value};
}

/// The low bits of a number modulo 2^64, as a dtype has them.
long double wrapped(Dtype dtype, u64 value) {
  const int unused = 64 - 8 * int(size_of(dtype));
  if (core::kind_of(dtype) == NumberKind::signed_integer) return i64(value << unused) >> unused;
  return (value << unused) >> unused;
}

long double rectified(long double number, bool relu) {
  return relu && number < 0 ? 0 : number;  // NaN stays
}

void write(Dtype dtype, std::byte* element, Real number, bool relu) {
  core::store_number(dtype, element, rectified(number.value, relu));
}
void write(Dtype dtype, std::byte* element, Complex number, bool) {
  core::store_number(dtype, element, number.re, 0);
  core::store_number(dtype, element, number.im, 1);
}
void write(Dtype dtype, std::byte* element, Integer number, bool relu) {
  core::store_number(dtype, element, rectified(wrapped(dtype, number.value), relu));
}
void write(Dtype dtype, std::byte* element, Truth number, bool) {
  core::store_number(dtype, element, number.value ? 1 : 0);
}

template <class T>
void contract(const Contraction& problem, std::span<const std::byte* const> in, std::byte* out) {
  std::vector<Dense<T>> operands;
  for (std::size_t i = 0; i < problem.operands.size(); ++i) {
    const Term& term = problem.operands[i];
    operands.push_back(dense<T>(problem, term, in[i], [&](const std::byte* at) { return read<T>(term.dtype, at); }));
  }
  const Dtype dtype = problem.out.dtype;
  const auto size = i64(size_of(dtype));
  for_each_sum(problem, operands, [&](T sum, i64 to, i64 addend) {
    if (problem.alpha != 1) sum = factor<T>(problem.alpha) * sum;
    if (problem.addend && problem.beta != 0)
      sum = sum + factor<T>(problem.beta) * read<T>(dtype, in.back() + addend * size);
    write(dtype, out + to * size, sum, problem.relu);
  });
}

}  // namespace

void contract_on_host(const Contraction& problem, std::span<const std::byte* const> in, std::byte* out) {
  switch (core::kind_of(problem.out.dtype)) {
    case NumberKind::boolean:
      return contract<Truth>(problem, in, out);
    case NumberKind::floating:
      return contract<Real>(problem, in, out);
    case NumberKind::complex:
      return contract<Complex>(problem, in, out);
    default:
      return contract<Integer>(problem, in, out);
  }
}

}  // namespace axisloom::ops
