// Lists of extents or strides, and what follows from a shape alone.
#include <axisloom/array.hpp>

#include <algorithm>

#include "core/checked.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"

namespace axisloom {
namespace {

[[noreturn]] void throw_rank_too_high() {
  throw Error(Errc::shape, concat("an array can have at most ", max_rank, " axes"), "merge neighbouring axes first");
}

// An empty array has the strides that it would have with one element along its empty axes, as in NumPy.
Dims running_products(const Dims& shape, int first, int step) {
  Dims strides = Dims::filled(shape.size(), 1);
  i64 stride = 1;
  for (int i = first; i >= 0 && i < shape.size(); i += step) {
    strides[i] = stride;
    stride = core::checked_mul(stride, std::max<i64>(shape[i], 1), "the number of elements of a shape");
  }
  return strides;
}

}  // namespace

Dims::Dims(std::initializer_list<i64> values) : Dims(std::span(values.begin(), values.size())) {}

Dims::Dims(std::span<const i64> values) {
  for (const i64 value : values) push_back(value);
}

Dims Dims::filled(int count, i64 value) {
  Dims dims;
  for (int i = 0; i < count; ++i) dims.push_back(value);
  return dims;
}

void Dims::push_back(i64 value) {
  if (size_ == max_rank) throw_rank_too_high();
  values_[size_++] = value;
}

bool Dims::operator==(const Dims& other) const noexcept {
  return std::equal(begin(), end(), other.begin(), other.end());
}

Dims contiguous_strides(const Dims& shape) {
  return running_products(shape, shape.size() - 1, -1);
}

Dims fortran_strides(const Dims& shape) {
  return running_products(shape, 0, 1);
}

i64 element_count(const Dims& shape) {
  for (const i64 extent : shape)
    if (extent < 0)
      throw Error(Errc::shape, "the shape " + to_string(shape) + " has a negative extent", "give extents of 0 or more");
  // Before the product: an array with an empty axis is empty however long the others are.
  if (core::contains(shape, 0)) return 0;
  i64 count = 1;
  for (const i64 extent : shape) count = core::checked_mul(count, extent, "the number of elements of a shape");
  return count;
}

std::string to_string(const Dims& dims) {
  return "[" + joined(dims, ",") + "]";
}

}  // namespace axisloom
