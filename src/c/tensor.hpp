// DLPack's tensors as arrays of Axisloom.
#pragma once

#include <axisloom/axisloom.h>
#include <axisloom/device.hpp>
#include <axisloom/host_array.hpp>

#include <string>

namespace axisloom::c {

/// Which tensor of a call, for messages: an input by number, or the output.
using Role = std::size_t;
inline constexpr Role the_input = 0, the_output = ~Role{0}, the_tensor = ~Role{1};
/// "input 0", "the output", "the tensor".
std::string text_of(Role role);

/// The tensor as an array for planning, wherever its memory lies: the view's buffer begins at its lowest element, or
/// where the cl_mem does. Throws Error(dtype), Error(shape), Error(usage) or, of memory that nobody here can use,
/// Error(unsupported).
InputArray array_of(const DLTensor* tensor, Role role);
/// The same of a tensor whose elements are read or written in host memory.
InputArray host_array_of(const DLTensor* tensor, Role role);

/// The buffer in which such a view of a tensor's memory begins. Throws as require_memory_of does.
Buffer buffer_of(const Device& device, const View& view, const DLTensor& tensor, Role role);

/// Throws Error(usage) unless a device can reach a tensor's memory by its own means.
void require_memory_of(const Device& device, const DLTensor& tensor, Role role);

/// Whether a plan that was made for one view fits an array of the other: strides count where there are steps to take.
bool same_layout(const View& planned, const View& given);

/// The address of a tensor in host memory that lies as was planned. Throws Error(shape) for one that does not.
const void* planned_host(const View& planned, const DLTensor* tensor, Role role);
/// The same of a tensor in the device's own memory, as a buffer.
Buffer planned_buffer(const Device& device, const View& planned, const DLTensor* tensor, Role role);

DLDataType data_type_of(Dtype dtype);
Dtype dtype_of(const DLDataType& type, Role role);
axl_array_type type_of(const View& view);

}  // namespace axisloom::c
