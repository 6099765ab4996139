// DLPack in C++: arrays of other libraries without a copy, and arrays given away.
//
//   void take(const DLManagedTensorVersioned& tensor) { axisloom::Array total = axisloom::sum(input_array(tensor)); }
//
// The structs are those of axisloom.h. A program that has dlpack.h includes it before this header; what has a version
// in its name needs DLPack 1.
#pragma once

#include <axisloom/axisloom.h>
#include <axisloom/device.hpp>
#include <axisloom/host_array.hpp>

namespace axisloom {

/// A dtype as DLPack's, in one lane, and back. Throws Error(dtype) for a type that is none here.
DLDataType dlpack_dtype(Dtype dtype);
Dtype dtype_of(const DLDataType& type);

/// A tensor in host memory as an argument of a call, which reads or writes its memory. Nothing is kept, and no deleter
/// is called. Throws Error(dtype), Error(shape), Error(usage), and Error(unsupported) for memory of a device.
InputArray input_array(const DLTensor& tensor);
OutputArray output_array(const DLTensor& tensor);

/// A tensor's view, for plans, wherever its memory lies: its buffer begins at the lowest element, or where the cl_mem
/// does. Throws as input_array does, and Error(unsupported) for memory that neither the host nor CUDA nor OpenCL has.
View view_of(const DLTensor& tensor);
/// The buffer of that view, in the memory of a device. Throws Error(usage) for memory that the device does not have.
Buffer buffer_of(const Device& device, const DLTensor& tensor);

#if DLPACK_MAJOR_VERSION >= 1
/// The same of a tensor with its owner. Throws Error(unsupported) for a later major version of DLPack, whose layout
/// nobody knows here, and Error(usage) for an output that may only be read.
InputArray input_array(const DLManagedTensorVersioned& tensor);
OutputArray output_array(const DLManagedTensorVersioned& tensor);

/// Gives an array away: the tensor owns it, and who has it last calls its deleter.
DLManagedTensorVersioned* to_dlpack(Array array);

#endif

}  // namespace axisloom
