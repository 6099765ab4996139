// DLPack's table of functions by which libraries hand over their tensors without a call of Python's: DLPack 1.3,
// DLPackExchangeAPI. PyTorch has it from 2.10 on.
#pragma once

#include "native/python.hpp"
#include "native/tensor.hpp"

namespace axisloom::python {

/// The table, as dlpack.h of DLPack 1.3 lays it out.
struct ExchangeApi {
  DLPackVersion version;
  ExchangeApi* older;
  int (*allocate)(DLTensor* prototype, DLManagedTensorVersioned** out, void* context,
                  void (*set_error)(void* context, const char* kind, const char* message));
  int (*managed_from_object)(void* object, DLManagedTensorVersioned** out);
  int (*managed_to_object)(DLManagedTensorVersioned* tensor, void** out);
  int (*tensor_from_object)(void* object, DLTensor* out);
  int (*current_stream)(DLDeviceType device_type, std::int32_t device_id, void** out);
};

/// The table of a type, or null where it has none that is known here.
const ExchangeApi* exchange_api(PyObject* type);

/// What the object is. It keeps the memory. Throws what the library does, such as for a tensor without memory.
Tensor exchanged_tensor(const ExchangeApi& api, PyObject* object);
/// What a tensor of DLPack is, whoever owns it.
Tensor described_tensor(const DLTensor& tensor);

/// A new row-major object of the library, in the memory of that device, and where its elements begin.
nb::object new_exchanged(const ExchangeApi& api, Dtype dtype, const Dims& shape, DLDevice place, void** data);

/// The stream on which the library works now.
void* current_stream(const ExchangeApi& api, DLDevice place);

}  // namespace axisloom::python
