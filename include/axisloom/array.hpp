// Arrays: element types, shapes, signed strides, and views of memory that somebody else owns.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace axisloom {

/// Element types. Moves look at the size only; arithmetic looks at the type.
enum class Dtype : std::uint8_t { u8, i8, boolean, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64, c64, c128 };

/// Every dtype, in the order of the enumeration.
std::span<const Dtype> all_dtypes() noexcept;
/// Size of one element in bytes: 1, 2, 4, 8 or 16. Throws Error(dtype) for a value that is not a dtype; so does name.
std::size_t size_of(Dtype dtype);
/// Name as users write it: "u8", "f32", "c128", "bool".
std::string_view name(Dtype dtype);
/// The dtype of a name; NumPy's long names ("float32", "uint8", "complex64") are accepted too.
std::optional<Dtype> dtype_of(std::string_view name) noexcept;

/// What NumPy calls it (`__array_interface__`, `dtype.str`): "<f4", "|b1", "<c16". Throws Error(dtype) for bf16, which
/// NumPy does not have.
std::string typestr(Dtype dtype);
/// The dtype of such a text. Throws Error(dtype) for one that is none here, and for another byte order than the native.
Dtype dtype_of_typestr(std::string_view text);
/// What a buffer of Python calls it (`memoryview.format`): "f", "B", "Zd". Throws Error(dtype) for bf16.
std::string buffer_format(Dtype dtype);
/// The dtype of such a text, which may begin with a byte order: "f", "<f", "=l", "@l". Throws as the other.
Dtype dtype_of_buffer_format(std::string_view text);

/// Largest number of axes of an array, before axes are merged.
inline constexpr int max_rank = 16;
/// Largest number of bytes of an array, and from the start of its buffer to its end: 256 TiB, more than a process can
/// address.
inline constexpr std::int64_t max_bytes = std::int64_t{1} << 48;

/// A list of at most `max_rank` extents or strides, kept in place. Throws Error(shape) when it would grow beyond.
class Dims {
 public:
  /// None, those given, or `count` times the same value.
  Dims() = default;
  Dims(std::initializer_list<std::int64_t> values);
  explicit Dims(std::span<const std::int64_t> values);
  static Dims filled(int count, std::int64_t value);

  /// As of a std::vector; operator[] and back look at no bounds.
  int size() const noexcept { return size_; }
  bool empty() const noexcept { return size_ == 0; }
  std::int64_t& operator[](int i) noexcept { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t operator[](int i) const noexcept { return values_[static_cast<std::size_t>(i)]; }
  std::int64_t* begin() noexcept { return values_.data(); }
  std::int64_t* end() noexcept { return values_.data() + size_; }
  const std::int64_t* begin() const noexcept { return values_.data(); }
  const std::int64_t* end() const noexcept { return values_.data() + size_; }
  std::int64_t back() const noexcept { return values_[static_cast<std::size_t>(size_ - 1)]; }
  void push_back(std::int64_t value);
  bool operator==(const Dims& other) const noexcept;

 private:
  std::array<std::int64_t, max_rank> values_{};
  int size_ = 0;
};

/// Row-major (C order) strides of a shape, in elements.
Dims contiguous_strides(const Dims& shape);
/// Column-major (Fortran order) strides of a shape, in elements.
Dims fortran_strides(const Dims& shape);
/// Number of elements; throws Error(shape) when the product does not fit in 63 bits or an extent is negative.
std::int64_t element_count(const Dims& shape);
/// "[3,4,5]"
std::string to_string(const Dims& dims);

/// Lowest and one-past-highest element offset that a view touches; both equal when it has no elements.
struct Bounds {
  std::int64_t low = 0;   ///< first element touched
  std::int64_t high = 0;  ///< one past the last
};

/// How an array lies in a buffer. It owns nothing and points at nothing: the buffer is given when a plan runs.
struct View {
  Dtype dtype = Dtype::u8;   ///< of the elements
  Dims shape;                ///< extents, 0 or more; slowest axis first
  Dims strides;              ///< in elements, any sign; 0 repeats an element (inputs only)
  std::int64_t offset = 0;   ///< of element [0,...,0] from the start of the buffer, in elements
  std::int64_t align = 256;  ///< bytes to which the start of the buffer is known to be aligned (a power of two)

  /// Row-major, from the start of its buffer.
  static View contiguous(Dtype dtype, const Dims& shape);

  /// Number of axes, number of elements, and whether it is row-major without gaps.
  int rank() const noexcept { return shape.size(); }
  std::int64_t count() const { return element_count(shape); }
  bool is_contiguous() const;
  /// Element offsets touched, relative to the start of the buffer; throws when they do not fit in 63 bits.
  Bounds bounds() const;
  /// Whether all members are the same.
  bool operator==(const View&) const = default;
};

/// Throws Error(dtype), Error(shape) or, of the alignment, Error(usage) unless all of them are valid.
void validate(const View& view, std::string_view role);
/// "f32[3,4]", with strides added when the view is not contiguous: "f32[3,4]{1,3}+5". Prints invalid values, too.
std::string to_string(const View& view);

}  // namespace axisloom
