#include "native/exchange.hpp"

#include <axisloom/dlpack.hpp>

#include <string>

namespace axisloom::python {
namespace {

constexpr unsigned known_major = 1;  // a later one may lay out everything anew

/// Rethrows what an allocator says.
void set_allocation_error(void* context, const char* kind, const char* message) {
  *static_cast<std::string*>(context) = std::string(kind) + ": " + message;
}

}  // namespace

const ExchangeApi* exchange_api(PyObject* type) {
  static const Name attribute("__dlpack_c_exchange_api__");
  const nb::object capsule = attribute_or_none(type, attribute);
  if (capsule.is_none()) return nullptr;
  auto* api = static_cast<ExchangeApi*>(PyCapsule_GetPointer(capsule.ptr(), "dlpack_exchange_api"));
  if (!api) PyErr_Clear();
  while (api && api->version.major > known_major) api = api->older;
  return api && api->version.major == known_major && api->tensor_from_object ? api : nullptr;
}

Tensor described_tensor(const DLTensor& from) {
  Tensor tensor;
  tensor.dtype = dtype_of(from.dtype);
  tensor.first = from.data ? static_cast<char*>(from.data) + from.byte_offset : nullptr;
  tensor.shape = Dims(std::span(from.shape, size_t(from.ndim)));
  tensor.strides =
      from.strides ? Dims(std::span(from.strides, size_t(from.ndim))) : contiguous_strides(tensor.shape);
  tensor.place = from.device;
  return tensor;
}

Tensor exchanged_tensor(const ExchangeApi& api, PyObject* object) {
  DLTensor described = {};
  if (api.tensor_from_object(object, &described) != 0) throw nb::python_error();
  return described_tensor(described);
}

nb::object new_exchanged(const ExchangeApi& api, Dtype dtype, const Dims& shape, DLDevice place, void** data) {
  Dims extents = shape;
  DLTensor prototype = {};
  prototype.device = place;
  prototype.ndim = extents.size();
  prototype.dtype = dlpack_dtype(dtype);
  prototype.shape = extents.begin();
  DLManagedTensorVersioned* made = nullptr;
  std::string message;
  if (api.allocate(&prototype, &made, &message, set_allocation_error) != 0) {
    PyErr_SetString(PyExc_MemoryError, message.c_str());
    throw nb::python_error();
  }
  *data = static_cast<char*>(made->dl_tensor.data) + made->dl_tensor.byte_offset;
  void* object = nullptr;
  if (api.managed_to_object(made, &object) != 0) throw nb::python_error();
  return nb::steal(static_cast<PyObject*>(object));
}

void* current_stream(const ExchangeApi& api, DLDevice place) {
  void* stream = nullptr;
  if (place.device_type != kDLCPU && api.current_stream(place.device_type, place.device_id, &stream) != 0)
    throw nb::python_error();
  return stream;
}

}  // namespace axisloom::python
