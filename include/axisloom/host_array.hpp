// Arrays in host memory: borrowed for the length of a call, from ranges, from what is shaped like std::mdspan or from
// pointers, or owned.
#pragma once

#include <axisloom/array.hpp>

#include <complex>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <ranges>
#include <span>
#include <type_traits>
#include <utility>

namespace axisloom {

/// The dtype of elements of a C++ type; nothing for a type that is none, such as char, which is text. The 16-bit floats
/// have no type of C++: give such arrays as a View and a pointer.
template <class T>
consteval std::optional<Dtype> element_dtype() {
  constexpr bool text = std::same_as<T, char> || std::same_as<T, wchar_t> || std::same_as<T, char8_t> ||
                        std::same_as<T, char16_t> || std::same_as<T, char32_t>;
  if (std::same_as<T, bool>) return Dtype::boolean;
  if (std::same_as<T, float>) return Dtype::f32;
  if (std::same_as<T, double>) return Dtype::f64;
  if (std::same_as<T, std::complex<float>>) return Dtype::c64;
  if (std::same_as<T, std::complex<double>>) return Dtype::c128;
  if (!std::integral<T> || text) return std::nullopt;
  if (sizeof(T) == 1) return std::signed_integral<T> ? Dtype::i8 : Dtype::u8;
  if (sizeof(T) == 2) return std::signed_integral<T> ? Dtype::i16 : Dtype::u16;
  if (sizeof(T) == 4) return std::signed_integral<T> ? Dtype::i32 : Dtype::u32;
  if (sizeof(T) == 8) return std::signed_integral<T> ? Dtype::i64 : Dtype::u64;
  return std::nullopt;
}

/// A type that elements may have; const or not.
template <class T>
concept Element = element_dtype<std::remove_const_t<T>>()
.has_value();

/// Its dtype.
template <Element T>
inline constexpr Dtype dtype_v = *element_dtype<std::remove_const_t<T>>();

/// Elements side by side: std::vector, std::array, std::span and their like.
template <class R>
concept ElementRange = std::ranges::contiguous_range<R> && std::ranges::sized_range<R> &&
    Element<std::remove_reference_t<std::ranges::range_reference_t<R>>>;

/// What has std::mdspan's shape: `rank()` of its type, `extent`, `stride` (in elements, of any sign), `data_handle` (of
/// element [0,...,0]).
template <class M>
concept MdspanLike = requires(const M& m, std::size_t axis) {
  { M::rank() } -> std::convertible_to<std::size_t>;
  { m.extent(axis) } -> std::convertible_to<std::int64_t>;
  { m.stride(axis) } -> std::convertible_to<std::int64_t>;
  {*m.data_handle()};
  requires Element<std::remove_reference_t<decltype(*m.data_handle())>>;
  requires std::is_pointer_v<decltype(m.data_handle())>;
};

class Array;

/// An array in host memory that a call reads. It owns nothing: the memory must outlive the call. The memory may begin
/// anywhere that elements may; how far it is aligned is measured, not claimed.
class InputArray {
 public:
  /// `begin`: where the view's buffer begins; null for an array without elements. View::align is not looked at.
  InputArray(const View& view, const void* begin);
  /// `first`: element [0,...,0], or null for an array without elements; `strides` in elements, of any sign.
  InputArray(Dtype dtype, const void* first, const Dims& shape, const Dims& strides);
  /// Row-major. Throws Error(shape) unless the range has as many elements as the shape.
  template <ElementRange R>
  InputArray(const R& elements, const Dims& shape)
      : InputArray(dtype_v<std::ranges::range_value_t<R>>, std::ranges::data(elements), std::ranges::size(elements),
                   shape) {}
  /// One axis.
  template <ElementRange R>
  InputArray(const R& elements) : InputArray(elements, Dims{std::int64_t(std::ranges::size(elements))}) {}
  /// As it lies.
  template <MdspanLike M>
  InputArray(const M& m)
      : InputArray(dtype_v<std::remove_reference_t<decltype(*m.data_handle())>>, m.data_handle(), shape_of(m),
                   strides_of(m)) {}
  /// All of it.
  InputArray(const Array& array);

  /// How it lies.
  const View& view() const noexcept { return view_; }
  /// Where the view's buffer begins.
  const void* begin() const noexcept { return begin_; }

 private:
  InputArray(Dtype dtype, const void* first, std::size_t elements, const Dims& shape);

  static Dims shape_of(const auto& m) {
    Dims shape;
    for (std::size_t axis = 0; axis < m.rank(); ++axis) shape.push_back(std::int64_t(m.extent(axis)));
    return shape;
  }
  static Dims strides_of(const auto& m) {
    Dims strides;
    for (std::size_t axis = 0; axis < m.rank(); ++axis) strides.push_back(std::int64_t(m.stride(axis)));
    return strides;
  }

  View view_;
  const void* begin_;
};

/// The same of an array that a call writes. It can be read too, so it is an InputArray.
class OutputArray : public InputArray {
 public:
  /// As those of InputArray, of memory that can be written.
  OutputArray(const View& view, void* begin) : InputArray(view, begin) {}
  OutputArray(Dtype dtype, void* first, const Dims& shape, const Dims& strides)
      : InputArray(dtype, first, shape, strides) {}
  template <ElementRange R>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>)
      OutputArray(R&& elements, const Dims& shape)
      : InputArray(elements, shape) {}
  template <ElementRange R>
  requires(!std::is_const_v<std::remove_reference_t<std::ranges::range_reference_t<R>>>) OutputArray(R&& elements)
      : InputArray(elements) {}
  template <MdspanLike M>
  requires(!std::is_const_v<std::remove_reference_t<decltype(*std::declval<const M&>().data_handle())>>)
      OutputArray(const M& m)
      : InputArray(m) {}
  OutputArray(Array& array);

  /// Where the view's buffer begins.
  void* begin() const noexcept { return const_cast<void*>(InputArray::begin()); }
};

/// Strides in elements from strides in bytes, as NumPy and buffers have them. Throws Error(shape) for one that is no
/// multiple of the element's size.
Dims element_strides(Dtype dtype, const Dims& byte_strides);

/// An array that owns its memory: row-major, and aligned for the widest access of any kernel.
class Array {
 public:
  /// One axis without elements.
  Array() : Array(Dtype::u8, {0}) {}
  /// Elements are not initialised. Throws Error(shape) for a shape that no array has, Error(out_of_memory).
  Array(Dtype dtype, const Dims& shape);

  /// What it is, and where element [0,...,0] lies.
  const View& view() const noexcept { return view_; }
  Dtype dtype() const noexcept { return view_.dtype; }
  const Dims& shape() const noexcept { return view_.shape; }
  void* data() noexcept { return memory_.get(); }
  const void* data() const noexcept { return memory_.get(); }

  /// All elements, row by row. Throws Error(dtype) unless the dtype is that of T.
  template <Element T>
  std::span<const T> elements() const {
    return {static_cast<const T*>(data()), count_of(dtype_v<T>)};
  }
  template <Element T>
  std::span<T> elements() {
    return {static_cast<T*>(data()), count_of(dtype_v<T>)};
  }

 private:
  struct Free {
    void operator()(void* memory) const noexcept;
  };
  /// The number of elements, which are of that dtype.
  std::size_t count_of(Dtype dtype) const;

  View view_;
  std::unique_ptr<void, Free> memory_;
};

}  // namespace axisloom
