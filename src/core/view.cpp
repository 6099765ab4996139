// Views: how an array lies in a buffer, which offsets it touches, and which views are refused.
#include <axisloom/array.hpp>

#include <algorithm>
#include <bit>

#include "core/checked.hpp"
#include "core/integers.hpp"

namespace axisloom {
namespace {

bool is_dtype(Dtype dtype) {
  return size_t(dtype) < all_dtypes().size();
}

std::string text_of(Dtype dtype) {
  return is_dtype(dtype) ? std::string(name(dtype)) : "dtype " + std::to_string(int(dtype));
}

/// Whether strides would say nothing new; of shapes that no array has they do.
bool goes_without_strides(const View& view) {
  try {
    return view.shape.size() == view.strides.size() && view.is_contiguous();
  } catch (const Error&) {
    return false;
  }
}

[[noreturn]] void refuse(std::string_view role, const View& view, const std::string& message, std::string remedy) {
  // The shape alone: a view that is refused may have no well-formed text of its own.
  throw Error(Errc::usage, {.message = "the " + std::string(role) + " " + message,
                            .shapes = text_of(view.dtype) + to_string(view.shape),
                            .remedy = std::move(remedy)});
}

}  // namespace

View View::contiguous(Dtype dtype, const Dims& shape) {
  View view;
  view.dtype = dtype;
  view.shape = shape;
  view.strides = contiguous_strides(shape);
  return view;
}

bool View::is_contiguous() const {
  if (count() == 0) return true;
  i64 expected = 1;
  for (int i = rank() - 1; i >= 0; --i) {
    if (shape[i] != 1 && strides[i] != expected) return false;
    expected *= shape[i];
  }
  return true;
}

Bounds View::bounds() const {
  if (count() == 0) return {offset, offset};
  static constexpr const char* what = "an element offset of a view";
  Bounds bounds{offset, core::checked_add(offset, 1, what)};
  for (int i = 0; i < rank(); ++i) {
    const i64 reach = core::checked_mul(shape[i] - 1, strides[i], what);
    i64& side = reach < 0 ? bounds.low : bounds.high;
    side = core::checked_add(side, reach, what);
  }
  return bounds;
}

void validate(const View& view, std::string_view role) {
  if (!is_dtype(view.dtype)) refuse(role, view, "has a dtype that is not a value of Dtype", "use one that is");
  if (view.shape.size() != view.strides.size())
    refuse(
        role, view,
        "has " + std::to_string(view.shape.size()) + " extents and " + std::to_string(view.strides.size()) + " strides",
        "give one stride per axis");
  const auto size = i64(size_of(view.dtype));
  if (view.align <= 0 || !std::has_single_bit(u64(view.align)))
    refuse(role, view, "claims an alignment of " + std::to_string(view.align) + " bytes", "give a power of two");
  if (view.align < size)
    refuse(role, view,
           "is aligned to " + std::to_string(view.align) + " bytes, but its elements are " + std::to_string(size) +
               " bytes wide",
           "copy it to memory aligned to its elements");
  for (const i64 extent : view.shape)
    if (extent < 0)
      refuse(role, view, "has the negative extent " + std::to_string(extent), "give extents of 0 or more");
  if (view.count() > max_bytes / size)
    refuse(role, view, "has more than " + std::to_string(max_bytes) + " bytes, repeated elements included",
           "do it in parts");
  const Bounds bounds = view.bounds();
  if (bounds.low < 0)
    refuse(role, view, "reaches to element " + std::to_string(bounds.low) + ", before the start of its buffer",
           "give the offset of element [0,...,0], which is not the lowest when a stride is negative");
  if (bounds.high > max_bytes / size)
    refuse(role, view,
           "reaches to element " + std::to_string(bounds.high - 1) + ", beyond " + std::to_string(max_bytes) + " bytes",
           "give strides and an offset that stay within a buffer");
}

std::string to_string(const View& view) {
  std::string text = text_of(view.dtype) + to_string(view.shape);
  if (!goes_without_strides(view)) {
    std::string strides = to_string(view.strides);
    strides.front() = '{';
    strides.back() = '}';
    text += strides;
  }
  if (view.offset != 0) text += (view.offset > 0 ? "+" : "") + std::to_string(view.offset);
  return text;
}

}  // namespace axisloom
