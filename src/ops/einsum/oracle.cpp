// The oracle: every kind of number by its own rules.
#include "ops/einsum/oracle.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "ops/einsum/dense.hpp"

namespace axisloom::ops {
namespace {

using core::NumberKind;

using Real = long double;
using Integer = u64;  // modulo 2^64; of bools what is not 0 is true

struct Complex {
  long double re = 0, im = 0;
};
Complex operator+(Complex a, Complex b) {
  return {a.re + b.re, a.im + b.im};
}
Complex operator*(Complex a, Complex b) {
  return {a.re * b.re - a.im * b.im, a.re * b.im + a.im * b.re};
}

/// An element of a dtype as each kind of number, and back. A float that is asked for holds the values of the dtype.
template <class T>
T read(Dtype dtype, const std::byte* element) {
  const Real number = core::number_at(dtype, element);
  if constexpr (std::is_same_v<T, Complex>)
    return {number, core::components_of(dtype) == 2 ? core::number_at(dtype, element, 1) : 0};
  else if constexpr (std::is_same_v<T, Integer>)
    return number < 0 ? u64(i64(number)) : u64(number);
  else
    return number;
}

template <class T>
T factor(double value) {
  if constexpr (std::is_same_v<T, Integer>)
    return u64(i64(value));
  else
    return {value};
}

/// The low bits of a number modulo 2^64, as a dtype has them.
Real wrapped(Dtype dtype, u64 value) {
  if (dtype == Dtype::boolean) return value != 0;
  const int unused = 64 - 8 * int(size_of(dtype));
  if (core::kind_of(dtype) == NumberKind::signed_integer) return i64(value << unused) >> unused;
  return (value << unused) >> unused;
}

void write(Dtype dtype, std::byte* element, Real number, bool relu) {
  core::store_number(dtype, element, relu && number < 0 ? 0 : number);  // NaN stays
}
void write(Dtype dtype, std::byte* element, Complex number, bool) {
  core::store_number(dtype, element, number.re, 0);
  core::store_number(dtype, element, number.im, 1);
}
void write(Dtype dtype, std::byte* element, Integer number, bool relu) {
  write(dtype, element, wrapped(dtype, number), relu);
}

template <class T>
void contract(const Contraction& problem, HostBuffers in, std::byte* out) {
  const Dtype dtype = problem.out.dtype;
  const i64 size = size_of(dtype);
  for_each_sum(problem, operands_of<T>(problem, in, read<T>), [&](T sum, i64 to, i64 addend) {
    if (problem.alpha != 1) sum = factor<T>(problem.alpha) * sum;
    if (problem.addend && problem.beta != 0)
      sum = sum + factor<T>(problem.beta) * read<T>(dtype, in.back() + addend * size);
    write(dtype, out + to * size, sum, problem.relu);
  });
}

}  // namespace

void contract_on_host(const Contraction& problem, HostBuffers in, std::byte* out) {
  switch (core::kind_of(problem.out.dtype)) {
    case NumberKind::floating:
      return contract<Real>(problem, in, out);
    case NumberKind::complex:
      return contract<Complex>(problem, in, out);
    default:
      return contract<Integer>(problem, in, out);
  }
}

}  // namespace axisloom::ops
