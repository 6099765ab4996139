// DLPack in C++: the tensors of the C interface as arguments, views and buffers, and arrays that become tensors.
#include <axisloom/dlpack.hpp>
#include <axisloom/error.hpp>

#include "c/tensor.hpp"
#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <memory>
#include <utility>

namespace axisloom {
namespace {

constexpr i64 cl_mem_alignment = 128;  // bytes, of every cl_mem: OpenCL's widest element

const DLTensor& tensor_of(const DLManagedTensorVersioned& managed) {
  if (managed.version.major > DLPACK_MAJOR_VERSION)
    throw Error(
        Errc::unsupported,
        concat("the tensor is of version ", managed.version.major, " of DLPack, known is ", DLPACK_MAJOR_VERSION),
        "ask its maker for that version");
  return managed.dl_tensor;
}

OutputArray output_of(const InputArray& array) {
  return {array.view(), const_cast<void*>(array.begin())};
}

/// An array, and the tensor that owns it.
struct Given {
  explicit Given(Array array) : owned(std::move(array)), shape(owned.shape()), strides(owned.view().strides) {
    tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
    tensor.manager_ctx = this;
    tensor.deleter = [](DLManagedTensorVersioned* self) { delete static_cast<Given*>(self->manager_ctx); };
    tensor.dl_tensor.data = owned.data();
    tensor.dl_tensor.device = {kDLCPU, 0};
    tensor.dl_tensor.ndim = shape.size();
    tensor.dl_tensor.dtype = dlpack_dtype(owned.dtype());
    tensor.dl_tensor.shape = shape.begin();
    tensor.dl_tensor.strides = strides.begin();
  }

  Array owned;
  Dims shape, strides;
  DLManagedTensorVersioned tensor{};
};

}  // namespace

DLDataType dlpack_dtype(Dtype dtype) {
  return c::data_type_of(dtype);
}

Dtype dtype_of(const DLDataType& type) {
  return c::dtype_of(type, c::the_tensor);
}

InputArray input_array(const DLTensor& tensor) {
  return c::host_array_of(&tensor, c::the_tensor);
}

OutputArray output_array(const DLTensor& tensor) {
  return output_of(input_array(tensor));
}

InputArray input_array(const DLManagedTensorVersioned& tensor) {
  return input_array(tensor_of(tensor));
}

OutputArray output_array(const DLManagedTensorVersioned& tensor) {
  if ((tensor.flags & DLPACK_FLAG_BITMASK_READ_ONLY) != 0)
    throw Error(Errc::usage, "the tensor may only be read", "give an output of its own");
  return output_array(tensor_of(tensor));
}

View view_of(const DLTensor& tensor) {
  View view = c::array_of(&tensor, c::the_tensor).view();
  if (tensor.device.device_type == kDLOpenCL) view.align = cl_mem_alignment;
  return view;
}

Buffer buffer_of(const Device& device, const DLTensor& tensor) {
  return c::buffer_of(device, view_of(tensor), tensor, c::the_tensor);
}

DLManagedTensorVersioned* to_dlpack(Array array) {
  return &(new Given(std::move(array)))->tensor;
}

}  // namespace axisloom
