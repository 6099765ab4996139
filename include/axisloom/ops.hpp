// The operations, as values: what to do, without the arrays and the device.
#pragma once

#include <axisloom/array.hpp>

#include <complex>
#include <concepts>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

namespace axisloom {

/// Named axis lengths of a pattern: {{"h2", 2}, {"w2", 2}}.
using Lengths = std::vector<std::pair<std::string, std::int64_t>>;

/// Options of an operation by name, as typed; the value of a flag is empty: {{"axes", "0,2"}, {"keepdims", ""}}.
/// Programs have ReduceOptions and ProductOptions, which become these without loss.
using Options = std::vector<std::pair<std::string, std::string>>;

/// Axes of an array by number; negative ones count from the end. Axes() stands for all of them.
class Axes {
 public:
  /// All of them, or those given.
  Axes() = default;
  Axes(std::initializer_list<int> axes);
  explicit Axes(std::span<const int> axes);
  /// No axis, as NumPy's axis=().
  static Axes none();
  /// As typed: "0,-1", "none"; empty for all.
  const std::string& text() const noexcept { return text_; }

 private:
  std::string text_;
};

/// A number of any dtype, with all of its digits.
class Scalar {
 public:
  /// Any integer or float.
  template <class T>
  requires std::is_arithmetic_v<T> Scalar(T number) : text_(typed(widened(number))) {}
  /// Of complex dtypes.
  Scalar(std::complex<double> number);
  /// As typed: "0.1", "-9223372036854775808", "inf", "1-2j".
  const std::string& text() const noexcept { return text_; }

 private:
  template <class T>
  static auto widened(T number) {
    if constexpr (std::floating_point<T>)
      return double(number);
    else if constexpr (std::signed_integral<T>)
      return std::int64_t(number);
    else
      return std::uint64_t(number);
  }
  static std::string typed(double number);
  static std::string typed(std::int64_t number);
  static std::string typed(std::uint64_t number);

  std::string text_;
};

/// Order of additions: as it is fastest on a device, or one with the same bits on every device.
enum class Order : std::uint8_t { fast, portable };

/// Order of a norm: the sum of magnitudes, the root of the sum of their squares, the largest magnitude.
enum class NormOrder : std::uint8_t { two, one, inf };

/// Options of reductions: reduction("sum", ReduceOptions{.axes = {0, -1}, .keepdims = true}).
struct ReduceOptions {
  Axes axes = {};         ///< those that are reduced; of `reduce` the pattern says which
  bool keepdims = false;  ///< keeps them, with length 1; of `reduce` the pattern says so
  /// Of additions.
  Order order = Order::fast;
  NormOrder ord = NormOrder::two;  ///< of norm alone
  /// Of sum, prod, min and max: one more element. It has to be a number of the result's dtype.
  std::optional<Scalar> initial = {};
  /// Of sum, prod and mean: what is computed in, and the result's dtype. Integers may become any integers (modulo
  /// 2^bits; not of mean) or floats, floats wider floats, and complex numbers wider ones.
  std::optional<Dtype> dtype = {};
  /// Of sum, prod, mean, min, max, any and all: one more input, bools of the array's shape or broadcast to it. Elements
  /// count where they are true. min and max then need `initial`.
  bool where = false;
  /// The same as text; what is as by default is left out.
  operator Options() const;
};

/// Options of products: einsum("i k, k j -> i j", ProductOptions{.alpha = 0.5}).
struct ProductOptions {
  double alpha = 1;                     ///< a finite factor
  std::optional<double> beta = {};      ///< a finite factor of one more input, which is broadcast and added
  bool relu = false;                    ///< negative results become 0
  std::optional<Dtype> out_dtype = {};  ///< of the result; by default what NumPy promotes to, see einsum
  bool transpose_a = false;             ///< of matmul alone: exchanges the last two axes of the first array
  bool transpose_b = false;             ///< and of the second
  bool broadcast = true;                ///< of einsum alone: an axis of length 1 goes with any length of its name
  /// The same as text; what is as by default is left out.
  operator Options() const;
};

/// One operation with its arguments, lengths and options, as it would be typed:
///   {"rearrange", {"n (c x) h w -> n c h w x"}, {{"x", 32}}}   {"relayout", {"NCHW", "NC/32HW32"}}
///   {"sum", {}, {}, {{"axes", "0,2"}}}
struct Operation {
  std::string name;                         ///< "rearrange", "sum"
  std::vector<std::string> arguments = {};  ///< patterns, layouts, axes
  Lengths lengths = {};                     ///< of axes that a pattern names
  Options options = {};                     ///< as typed

  /// The value of an option, or nothing when it was not given.
  std::optional<std::string_view> option(std::string_view option_name) const;
  /// Whether they are typed alike.
  bool operator==(const Operation&) const = default;
};
/// As typed on the command line: rearrange "h w -> w h" x=32, sum --axes 0,2
std::string to_string(const Operation& op);

/// Moves: any dtype, bit for bit. Patterns are those of einops.
Operation rearrange(std::string_view pattern, const Lengths& lengths = {});
/// As rearrange, with new axes on the right: "h w -> h w c", c=3.
Operation repeat(std::string_view pattern, const Lengths& lengths = {});
/// The same shape, other strides.
Operation copy();
/// Exchanges the last two axes. A square one may be in place, input and output being the same buffer.
Operation transpose();
/// Output axis i is input axis axes[i]; negative axes count from the end.
Operation permute(std::span<const int> axes);
Operation permute(std::initializer_list<int> axes);
/// Between NCHW, NHWC, CHWN and NC/xHWx with x in 4, 8, 16, 32. The last block of channels is filled up with
/// zeros; on the way back `channels` gives the true count (0: all).
Operation relayout(std::string_view from, std::string_view to, std::int64_t channels = 0);

/// Reduces the axes that appear only on the left of the pattern: reduce("max", "b c (h 2) (w 2) -> b c h w"). Names:
/// sum, prod, mean, min, max, argmin, argmax, any, all, count_nonzero, norm. Result dtypes and empty cases are those of
/// NumPy 2; argmin and argmax count over the reduced axes in order; a bool counts as 1 if its byte is not 0.
/// Options: those of ReduceOptions without axes and keepdims. As text: order (fast, portable), ord of norm (1, 2, inf),
/// initial (a number), compute-dtype (a name), and the flag where.
Operation reduce(std::string_view name, std::string_view pattern, const Options& options = {},
                 const Lengths& lengths = {});
/// The same by axis numbers: reduction("sum", ReduceOptions{.axes = {0, -1}}). As text: those of reduce, axes ("0,-1",
/// or none; default: all), and the flag keepdims.
Operation reduction(std::string_view name, const Options& options = {});

/// Sums of products of up to 1,024 arrays: "i k, k j -> i j" or "ik,kj->ij". Where several arrays have an axis of the
/// same name, its lengths agree or are 1; a length that is given, by name or as a number, holds for every array. A name
/// that appears twice in one array means its diagonal. Axes that are missing on the right are summed. Arrays are
/// multiplied two at a time, in the order that costs least for their shapes. Axes that only one array has are summed
/// before it is multiplied: "acd,b->a" is (sum over c d) times (sum over b). So an infinity may meet a sum where in
/// NumPy it meets each term: inf * (0 + 1) is inf, inf * 0 + inf * 1 would be NaN. With finite numbers the two differ
/// only by rounding, unless a sum on the way exceeds the largest number of the result's dtype.
/// The dtype of the result is by default what NumPy promotes to, but i32 for integers of 8 bits, even with bools among
/// them. Options: those of ProductOptions; as text alpha, beta, activation (relu), out-dtype and the flag no-broadcast.
Operation einsum(std::string_view pattern, const Options& options = {}, const Lengths& lengths = {});
/// Products of matrices by the rules of NumPy's matmul. Options: those of ProductOptions; as text those of dot, and
/// the flags transpose-a, transpose-b.
Operation matmul(const Options& options = {});
/// The inner product of two arrays of one axis; nothing is conjugated. Options: those of einsum but no-broadcast.
Operation dot(const Options& options = {});
/// An einsum of two arrays of these numbers of axes that sums over pairs of axes, axes_a[i] with axes_b[i], and keeps
/// the others, those of the first array first: NumPy's tensordot. Throws Error(axis) for axes that are not there, are
/// named twice, or are not as many; its plans refuse pairs of different lengths, of which one is 1 too.
Operation tensordot(int rank_a, int rank_b, std::span<const int> axes_a, std::span<const int> axes_b,
                    const Options& options = {});

/// Shape and dtype of the result for these inputs, contiguous. Throws as `plan` does.
View result_view(const Operation& op, std::span<const View> inputs);
inline View result_view(const Operation& op, std::initializer_list<View> inputs) {
  return result_view(op, std::span(inputs.begin(), inputs.size()));
}

}  // namespace axisloom
