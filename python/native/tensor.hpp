// An array of any library, as a call sees it.
#pragma once

#include "native/python.hpp"

#include <axisloom/axisloom.h>
#include <axisloom/host_array.hpp>

namespace axisloom::python {

/// Where an array lies and what it is. It owns nothing but what had to be copied for it.
struct Tensor {
  Dtype dtype = Dtype::u8;
  void* first = nullptr;         ///< element [0,...,0]
  Dims shape, strides;           ///< strides in elements
  DLDevice place = {kDLCPU, 0};  ///< where it lies
  bool opaque = false;           ///< elements are bytes without a meaning here: they can be moved
  bool writable = true;          ///< it may be an output
  nb::object owner = {};         ///< a copy that stands in for the caller's array
  bool is_copy() const { return owner.is_valid(); }
};

/// Whether elements are in memory of the host.
inline bool on_host(const Tensor& tensor) {
  return tensor.place.device_type == kDLCPU || tensor.place.device_type == kDLCUDAHost;
}

}  // namespace axisloom::python
