// The arrays of a call, in one place: memory of the host, or of one device.
#pragma once

#include "native/array.hpp"
#include "native/calls.hpp"
#include "native/kinds.hpp"
#include "native/tensor.hpp"

#include <axisloom/device.hpp>
#include <axisloom/host_array.hpp>

#include <vector>

namespace axisloom::python {

/// Reads an array. Throws TypeError for a dtype that cannot be used.
Tensor tensor_of(PyObject* object, const Kind& kind);

/// An array as a plan takes it.
class Operand {
 public:
  /// In memory that can be addressed: where its elements begin, as their tensor says.
  explicit Operand(const Tensor& tensor) : array_(tensor.dtype, tensor.first, tensor.shape, tensor.strides) {}
  /// Row-major, from there on.
  Operand(const View& view, void* data) : array_(view.dtype, data, view.shape, view.strides) {}
  /// In a buffer of a device.
  Operand(const View& view, Buffer buffer) : array_(view, nullptr), buffer_(std::move(buffer)) {}

  const View& view() const { return array_.view(); }
  void* begin() const { return array_.begin(); }
  const Buffer& buffer() const { return buffer_; }
  void set_buffer(Buffer buffer) { buffer_ = std::move(buffer); }

 private:
  OutputArray array_;
  Buffer buffer_;
};

/// All inputs of a call.
class Operands {
 public:
  /// Throws ValueError for arrays in different places, TypeError for a dtype that cannot be used, or not by this
  /// operation.
  explicit Operands(const Call& call);

  bool on_host() const { return !device_; }
  /// Whether elements of one are bytes without a meaning here.
  bool opaque() const { return opaque_; }
  DLDevice place() const { return place_; }
  /// The one that holds them; none where that is the host.
  const Device& device() const { return device_; }
  const Queue& queue() const { return queue_; }
  /// Whether a call returns when its work is done: where no library's stream says what comes after it.
  bool waits() const { return waits_; }

  auto begin() const { return operands_.begin(); }
  auto end() const { return operands_.end(); }
  std::vector<const void*> begins() const;
  std::vector<Buffer> buffers(const Operand& output) const;

  /// A result of that view in memory at `data`.
  Operand on_device(const View& result, void* data) const;
  Operand of_holder(const Holder& holder) const;
  /// An output that the caller gave. Throws ValueError where it lies elsewhere.
  Operand output(PyObject* object, const Tensor& tensor) const;

 private:
  Operand operand(PyObject* object, const Tensor& tensor) const;
  /// In memory of the device that has an address.
  Operand addressed(Operand operand) const;
  void choose_queue(const Call& call);

  std::vector<Operand> operands_;
  std::vector<nb::object> copies_;  ///< that stand in for the caller's arrays
  bool opaque_ = false;
  DLDevice place_ = {kDLCPU, 0};
  Device device_;
  Queue queue_;
  bool waits_ = true;
};

}  // namespace axisloom::python
