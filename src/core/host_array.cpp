// Arrays in host memory: where their buffers begin, how far those are aligned, and memory of their own.
#include <axisloom/error.hpp>
#include <axisloom/host_array.hpp>

#include "core/host_memory.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"

#include <cstdlib>

namespace axisloom {
namespace {

/// A row-major view of just so many elements.
View view_of(Dtype dtype, size_t elements, const Dims& shape) {
  View view = View::contiguous(dtype, shape);
  if (view.count() == i64(elements)) return view;
  throw Error(Errc::shape, concat(elements, " elements were given for ", to_string(view), ", which has ", view.count()),
              "give a shape of as many elements");
}

}  // namespace

InputArray::InputArray(const View& view, const void* begin) : view_(view), begin_(begin) {
  view_.align = i64(core::alignment_of(begin, core::host_alignment));
}

// The lowest element is where the buffer begins; with strides that are no array's, whoever plans with the view refuses.
InputArray::InputArray(Dtype dtype, const void* first, const Dims& shape, const Dims& strides) : begin_(first) {
  view_.dtype = dtype;
  view_.shape = shape;
  view_.strides = strides;
  if (shape.size() == strides.size()) view_.offset = -view_.bounds().low;
  // Modulo 2^64: the address of strides that are refused is never used.
  if (first) begin_ = reinterpret_cast<const void*>(u64(first) - u64(view_.offset) * size_of(dtype));
  view_.align = i64(core::alignment_of(begin_, core::host_alignment));
}

InputArray::InputArray(Dtype dtype, const void* first, size_t elements, const Dims& shape)
    : InputArray(view_of(dtype, elements, shape), first) {}

InputArray::InputArray(const Array& array) : view_(array.view()), begin_(array.data()) {}

OutputArray::OutputArray(Array& array) : InputArray(array) {}

Dims element_strides(Dtype dtype, const Dims& byte_strides) {
  const auto size = i64(size_of(dtype));
  Dims strides;
  for (const i64 stride : byte_strides) {
    if (stride % size != 0)
      throw Error(Errc::shape,
                  concat("a stride of ", stride, " bytes is no multiple of ", name(dtype), ", which has ", size),
                  "copy the array to memory of its own");
    strides.push_back(stride / size);
  }
  return strides;
}

Array::Array(Dtype dtype, const Dims& shape) : view_(View::contiguous(dtype, shape)) {
  view_.align = core::host_alignment;
  validate(view_, "array");
  const size_t bytes = size_t(view_.count()) * size_of(dtype);
  memory_.reset(core::allocate_host(std::max<size_t>(1, bytes)));
  if (!memory_)
    throw Error(Errc::out_of_memory, concat("the host cannot allocate ", bytes, " bytes for ", to_string(view_)),
                "free memory, or do it in parts");
}

void Array::Free::operator()(void* memory) const noexcept {
  std::free(memory);
}

size_t Array::count_of(Dtype dtype) const {
  if (dtype != view_.dtype)
    throw Error(Errc::dtype,
                concat("the array is ", to_string(view_), ", its elements were asked for as ", name(dtype)),
                "ask for them by the type of its dtype");
  return size_t(view_.count());
}

}  // namespace axisloom
