// axisloom.Array: an array that Axisloom owns, on the host or on a device, or that it holds for somebody else.
#pragma once

#include "native/python.hpp"
#include "native/tensor.hpp"

#include <axisloom/device.hpp>

#include <memory>

namespace axisloom::python {

/// The object behind axisloom.Array.
class Holder {
 public:
  /// New memory, row-major, on that device; without one on the host.
  Holder(Dtype dtype, const Dims& shape, const Device& device);
  /// Memory of somebody else, which `owner` keeps.
  Holder(const Tensor& tensor, nb::object owner);

  const View& view() const { return view_; }
  /// Whether its memory is the host's.
  bool on_host() const { return !device_; }
  const Device& device() const { return device_; }
  const Buffer& buffer() const { return buffer_; }
  bool writable() const { return writable_; }
  /// Element [0,...,0], on the host or on a CUDA device; null for arrays without elements.
  void* first() const { return first_; }
  /// As an array of a call.
  Tensor tensor() const;
  /// The same memory in another shape; the view has to be contiguous. Throws Error(shape) for another number of
  /// elements.
  Holder reshaped(const Dims& shape) const;
  /// A part of it, in its memory.
  Holder part(const View& view) const;

 private:
  View view_;
  Device device_;
  Buffer buffer_;
  std::shared_ptr<void> memory_;  ///< of the host, where it is the library's
  nb::object owner_;
  void* first_ = nullptr;
  DLDevice place_ = {kDLCPU, 0};
  bool writable_ = true;
};

/// axisloom.Array.
nb::object array_type();
/// A new one.
nb::object new_array(Holder holder);
/// The holder behind an axisloom.Array.
Holder& holder_of(PyObject* array);

/// Adds axisloom.Array and what makes it to the module.
void bind_array(nb::module_& module);

}  // namespace axisloom::python
