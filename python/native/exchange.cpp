#include "native/exchange.hpp"

#include "native/memory.hpp"

#include <axisloom/dlpack.hpp>

#include <memory>
#include <string>

namespace axisloom::python {
namespace {

constexpr unsigned known_major = 1;  // a later one may lay out everything anew

/// A result in memory that is kept when the library lets it go.
struct Large {
  DLManagedTensorVersioned tensor = {};
  Dims shape, strides;
};

void give_back(DLManagedTensorVersioned* tensor) {
  auto* const large = static_cast<Large*>(tensor->manager_ctx);
  give_memory(large->tensor.dl_tensor.data);
  delete large;
}

DLManagedTensorVersioned* large_tensor(Dtype dtype, const Dims& shape, std::size_t bytes) {
  auto large = std::make_unique<Large>();
  large->shape = shape;
  large->strides = contiguous_strides(shape);
  large->tensor.version = {DLPACK_MAJOR_VERSION, DLPACK_MINOR_VERSION};
  large->tensor.manager_ctx = large.get();
  large->tensor.deleter = give_back;
  DLTensor& described = large->tensor.dl_tensor;
  described.data = take_memory(bytes);
  described.device = {kDLCPU, 0};
  described.ndim = shape.size();
  described.dtype = dlpack_dtype(dtype);
  described.shape = large->shape.begin();
  described.strides = large->strides.begin();
  return &large.release()->tensor;
}

/// Rethrows what an allocator says.
void set_allocation_error(void* context, const char* kind, const char* message) {
  *static_cast<std::string*>(context) = std::string(kind) + ": " + message;
}

/// By the library's own allocator.
DLManagedTensorVersioned* allocated(const ExchangeApi& api, Dtype dtype, Dims shape, DLDevice place) {
  DLTensor prototype = {};
  prototype.device = place;
  prototype.ndim = shape.size();
  prototype.dtype = dlpack_dtype(dtype);
  prototype.shape = shape.begin();
  DLManagedTensorVersioned* made = nullptr;
  std::string message;
  if (api.allocate(&prototype, &made, &message, set_allocation_error) == 0) return made;
  PyErr_SetString(PyExc_MemoryError, message.c_str());
  throw nb::python_error();
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
  tensor.strides = from.strides ? Dims(std::span(from.strides, size_t(from.ndim))) : contiguous_strides(tensor.shape);
  tensor.place = from.device;
  return tensor;
}

Tensor exchanged_tensor(const ExchangeApi& api, PyObject* object) {
  DLTensor described = {};
  if (api.tensor_from_object(object, &described) != 0) throw nb::python_error();
  return described_tensor(described);
}

nb::object new_exchanged(const ExchangeApi& api, Dtype dtype, const Dims& shape, DLDevice place, void** data) {
  const std::size_t bytes = std::size_t(element_count(shape)) * size_of(dtype);
  const bool large = place.device_type == kDLCPU && bytes >= large_result;
  DLManagedTensorVersioned* const made =
      large ? large_tensor(dtype, shape, bytes) : allocated(api, dtype, shape, place);
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
