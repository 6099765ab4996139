// What can be reduced to what: the operations, their dtypes, and how a kernel accumulates them.
#pragma once

#include "core/integers.hpp"

#include <axisloom/array.hpp>

#include <array>
#include <optional>
#include <string_view>

namespace axisloom::ops {

enum class Reducer { sum, prod, mean, min, max, argmin, argmax, any, all, count_nonzero, norm_1, norm_2, norm_inf };

/// Name as in messages: "sum", "norm (ord 2)".
std::string_view name(Reducer reducer) noexcept;

/// How values are taken together. A kernel is compiled for one of these; see accumulate.h.
enum class Accumulation {
  total,        // an exact integer sum, wrapping round
  compensated,  // a running sum and its correction
  product,
  extreme,  // the smallest or largest; NaN wins
  place,    // the same, and where it is; the first of equals
};

/// What is done to each element before it is accumulated, and to the accumulated value at the end.
enum class Mapping { identity, square, magnitude, nonzero };
/// truth: whether it is not zero; accumulator: the accumulator itself, unrounded.
enum class Finish { value, mean, root, place, truth, accumulator };

/// A reduction of one dtype, in the terms of the kernels.
struct Recipe {
  Reducer reducer = Reducer::sum;
  Dtype in = Dtype::f32;
  Dtype out = Dtype::f32;
  Dtype value =
      Dtype::f32;      // what is accumulated, of each component of a complex number: u8 ... f64, never 16-bit floats
  int components = 1;  // 2: complex elements are accumulated as two numbers
  Accumulation accumulation = Accumulation::compensated;
  Mapping mapping = Mapping::identity;
  Finish finish = Finish::value;
  bool smallest = false;  // of Accumulation::extreme and place
  bool bits = false;    // elements are taken as unsigned integers, floats without their sign: only zeros are told apart
  bool masked = false;  // an element counts where a second input, of bools, is true
  /// Taken with the elements, the real part first: a number of the result's dtype.
  std::optional<std::array<long double, 2>> initial = {};

  /// The scalar in memory as kernels take it.
  Dtype element() const noexcept;
  /// 64-bit words of an accumulator as it travels between groups.
  int u64s() const noexcept;
  /// Whether floats are accumulated.
  bool value_floats() const noexcept;
  /// Whether the order of the additions shows in the result.
  bool order_matters() const noexcept;
  /// The same up to its accumulators, each of which is `u64s()` elements of the output.
  Recipe unfinished() const noexcept;
  /// Scalars of an element of the output: 2 of a complex number.
  int out_scalars() const noexcept;
  /// Whether more is stored than the finished value as it is: it meets `initial`, or becomes another type.
  bool converts() const noexcept;
};

/// `count` elements are reduced to one. `out`: the dtype of the result; by default that of NumPy 2.
Recipe recipe(Reducer reducer, Dtype in, i64 count, std::optional<Dtype> out = {});

/// Whether a reduction of one dtype can be asked to have its result in another, in which it then adds up or multiplies:
/// sums and products of integers in any integers or floats, means of them in floats, those of floats and of complex
/// numbers in wider ones.
bool offers_dtype(Reducer reducer, Dtype in, Dtype out) noexcept;
/// Whether it takes an initial value, or a mask.
bool takes_initial(Reducer reducer) noexcept;
bool takes_mask(Reducer reducer) noexcept;

/// Whether a reduction of nothing has a result (a sum has, a maximum has none).
bool has_identity(Reducer reducer) noexcept;

}  // namespace axisloom::ops
