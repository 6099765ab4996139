// What a DLTensor says, checked, as a View and an address.
#include "c/tensor.hpp"

#include <axisloom/error.hpp>

#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <vector>

namespace axisloom::c {
namespace {

static_assert(AXL_MAX_RANK == max_rank);

[[noreturn]] void refuse(Role role, const std::string& message, const char* remedy, Errc code = Errc::usage) {
  throw Error(code, concat(text_of(role), " ", message), remedy);
}

// A float of half the bits with the exponents of the whole.
bool is_bfloat(const core::FloatFormat& format) {
  constexpr int bits = 16, exponent_bits = 8;
  return format.bits() == bits && format.exponent_bits == exponent_bits;
}

DLDataTypeCode code_of(Dtype dtype) {
  switch (core::kind_of(dtype)) {
    case core::NumberKind::boolean:
      return kDLBool;
    case core::NumberKind::unsigned_integer:
      return kDLUInt;
    case core::NumberKind::signed_integer:
      return kDLInt;
    case core::NumberKind::floating:
      return is_bfloat(*core::float_format(dtype)) ? kDLBfloat : kDLFloat;
    case core::NumberKind::complex:
      return kDLComplex;
  }
  return kDLFloat;
}

}  // namespace

DLDataType data_type_of(Dtype dtype) {
  constexpr size_t bits_of_byte = 8;
  return {std::uint8_t(code_of(dtype)), std::uint8_t(bits_of_byte * size_of(dtype)), 1};
}

Dtype dtype_of(const DLDataType& type, Role role) {
  static const std::vector<DLDataType> known = [] {
    std::vector<DLDataType> types;
    for (const Dtype dtype : all_dtypes()) types.push_back(data_type_of(dtype));
    return types;
  }();
  for (size_t i = 0; i < known.size(); ++i)
    if (type.code == known[i].code && type.bits == known[i].bits && type.lanes == known[i].lanes)
      return all_dtypes()[i];
  refuse(role, concat("has DLPack's dtype of code ", type.code, ", ", type.bits, " bits and ", type.lanes, " lanes"),
         "give bool of 8 bits, integers of 8 to 64, floats of 16 to 64, bfloat of 16, or complex of 64 or 128, in one "
         "lane",
         Errc::dtype);
}

namespace {

Dims dims_of(const std::int64_t* values, const DLTensor& tensor, Role role) {
  if (tensor.ndim < 0) refuse(role, concat("has ", tensor.ndim, " axes"), "give 0 or more", Errc::shape);
  if (tensor.ndim > 0 && !values) refuse(role, "has axes, but its shape is null", "give an extent for each axis");
  return Dims(std::span(values, size_t(tensor.ndim)));
}

// By way of integers: data may be null.
const void* first_of(const DLTensor& tensor) {
  return tensor.data ? reinterpret_cast<const void*>(std::uintptr_t(tensor.data) + tensor.byte_offset) : nullptr;
}

// A cl_mem is no address: what lies before element [0,...,0] is part of the view.
InputArray array_in_cl_mem(View view, const DLTensor& tensor, Role role) {
  const u64 size = size_of(view.dtype);
  if (tensor.byte_offset % size != 0 || tensor.byte_offset > u64(max_bytes))
    refuse(role, concat("begins at byte ", tensor.byte_offset, " of its cl_mem, and its elements have ", size),
           "give an offset of whole elements", Errc::shape);
  view.offset = i64(tensor.byte_offset / size);
  return {view, nullptr};
}

bool in_host_memory(const DLTensor& tensor) {
  return tensor.device.device_type == kDLCPU || tensor.device.device_type == kDLCUDAHost;
}

}  // namespace

std::string text_of(Role role) {
  return role == the_output ? "the output" : role == the_tensor ? "the tensor" : concat("input ", role);
}

InputArray array_of(const DLTensor* pointer, Role role) {
  if (!pointer) refuse(role, "is null", "give a tensor");
  const DLTensor& tensor = *pointer;
  const Dtype dtype = dtype_of(tensor.dtype, role);
  const Dims shape = dims_of(tensor.shape, tensor, role);
  const Dims strides = tensor.strides ? dims_of(tensor.strides, tensor, role) : contiguous_strides(shape);
  switch (tensor.device.device_type) {
    case kDLCPU:
    case kDLCUDAHost:
    case kDLCUDA:
    case kDLCUDAManaged:
      return {dtype, first_of(tensor), shape, strides};
    case kDLOpenCL:
      return array_in_cl_mem({.dtype = dtype, .shape = shape, .strides = strides}, tensor, role);
  }
  refuse(role, concat("lies in memory of DLPack's device type ", int(tensor.device.device_type)),
         "give memory of the host, CUDA or OpenCL", Errc::unsupported);
}

InputArray host_array_of(const DLTensor* tensor, Role role) {
  InputArray array = array_of(tensor, role);
  if (!in_host_memory(*tensor)) refuse(role, "is not in host memory", "make a plan, and queue it", Errc::unsupported);
  if (!tensor->data && array.view().count() > 0) refuse(role, "has elements, but its data is null", "give its address");
  return array;
}

Buffer buffer_of(const Device& device, const View& view, const DLTensor& tensor, Role role) {
  require_memory_of(device, tensor, role);
  if (view.count() == 0) return {};
  const void* const begin = array_of(&tensor, role).begin();
  const void* const native = begin ? begin : tensor.data;  // a cl_mem has no beginning of its own
  return device.borrow_buffer(const_cast<void*>(native), size_t(view.bounds().high) * size_of(view.dtype));
}

void require_memory_of(const Device& device, const DLTensor& tensor, Role role) {
  const DLDevice& place = tensor.device;
  const auto reaches = [&] {
    switch (device.info().api) {
      case Api::host:
        return in_host_memory(tensor);
      case Api::opencl:
        return place.device_type == kDLOpenCL;
      case Api::cuda:
        return place.device_type == kDLCUDAManaged ||
               (place.device_type == kDLCUDA && place.device_id == device.info().index);
    }
    return false;
  };
  if (!reaches())
    refuse(role,
           concat("lies in memory of DLPack's device ", int(place.device_type), ":", place.device_id,
                  ", and the plan is for ", device.info().label()),
           "give memory of that device, or run on host memory");
}

bool same_layout(const View& planned, const View& given) {
  if (planned.dtype != given.dtype || planned.shape != given.shape || planned.offset != given.offset) return false;
  if (planned.strides == given.strides || planned.count() == 0) return true;
  for (int axis = 0; axis < planned.rank(); ++axis)
    if (planned.shape[axis] != 1 && planned.strides[axis] != given.strides[axis]) return false;
  return true;
}

namespace {

void require_planned(const View& planned, const View& given, Role role) {
  if (same_layout(planned, given)) return;
  throw Error(Errc::shape, concat(text_of(role), " is ", to_string(given), ", planned was ", to_string(planned)),
              "make a plan for arrays like this one");
}

}  // namespace

const void* planned_host(const View& planned, const DLTensor* tensor, Role role) {
  const InputArray array = host_array_of(tensor, role);
  require_planned(planned, array.view(), role);
  return array.begin();
}

Buffer planned_buffer(const Device& device, const View& planned, const DLTensor* tensor, Role role) {
  const InputArray array = array_of(tensor, role);
  require_memory_of(device, *tensor, role);
  require_planned(planned, array.view(), role);
  return buffer_of(device, planned, *tensor, role);
}

axl_array_type type_of(const View& view) {
  axl_array_type type{data_type_of(view.dtype), view.rank(), {}};
  std::ranges::copy(view.shape, type.shape);
  return type;
}

}  // namespace axisloom::c
