// Views: how an array lies in a buffer, which offsets it touches, and which views are refused.
#include <axisloom/array.hpp>

#include <bit>

#include "core/checked.hpp"
#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

namespace axisloom {
namespace {

bool is_dtype(Dtype dtype) {
  return size_t(dtype) < all_dtypes().size();
}

std::string text_of(Dtype dtype) {
  return is_dtype(dtype) ? std::string(name(dtype)) : concat("dtype ", int(dtype));
}

/// Whether strides would say nothing new; of shapes that no array has they do.
bool goes_without_strides(const View& view) {
  try {
    return view.shape.size() == view.strides.size() && view.is_contiguous();
  } catch (const Error&) {
    return false;
  }
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
  const auto refuse = [&](const std::string& message, const char* remedy, Errc code = Errc::shape) {
    // The shape alone: a view that is refused may have no well-formed text of its own.
    throw Error(code, {.message = concat("the ", role, " ", message),
                       .shapes = text_of(view.dtype) + to_string(view.shape),
                       .remedy = remedy});
  };
  if (!is_dtype(view.dtype)) refuse("has a dtype that is not a value of Dtype", "use one that is", Errc::dtype);
  if (view.shape.size() != view.strides.size())
    refuse(concat("has ", view.shape.size(), " extents and ", view.strides.size(), " strides"),
           "give one stride per axis");
  const auto size = i64(size_of(view.dtype));
  if (view.align <= 0 || !std::has_single_bit(u64(view.align)))
    refuse(concat("claims an alignment of ", view.align, " bytes"), "give a power of two", Errc::usage);
  if (view.align < i64(size_of(core::component_of(view.dtype))))
    refuse(concat("is aligned to ", view.align, " bytes, but its elements are ", size, " bytes wide"),
           "copy it to memory aligned to its elements", Errc::usage);
  for (const i64 extent : view.shape)
    if (extent < 0) refuse(concat("has the negative extent ", extent), "give extents of 0 or more");
  if (view.count() > max_bytes / size)
    refuse(concat("has more than ", max_bytes, " bytes, repeated elements included"), "do it in parts");
  const Bounds bounds = view.bounds();
  if (bounds.low < 0)
    refuse(concat("reaches to element ", bounds.low, ", before the start of its buffer"),
           "give the offset of element [0,...,0], which is not the lowest when a stride is negative");
  if (bounds.high > max_bytes / size)
    refuse(concat("reaches to element ", bounds.high - 1, ", beyond ", max_bytes, " bytes"),
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
  return text + offset_text(view.offset);
}

}  // namespace axisloom
