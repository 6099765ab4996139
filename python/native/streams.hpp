// Devices and queues by what Python code has of them.
#pragma once

#include "native/python.hpp"

#include <axisloom/device.hpp>

#include <string_view>

namespace axisloom::python {

/// The device that a specification names; opened once.
const Device& device_named(std::string_view spec);
/// The CUDA device of that ordinal.
const Device& cuda_device(int ordinal);

/// The stream of CUDA behind an int, or an object that has one: __cuda_stream__ (cuda.core and others), cuda_stream
/// (PyTorch), ptr (CuPy). Throws TypeError.
void* stream_handle(PyObject* stream);

/// A queue for a caller's stream, and the one on which Axisloom works where there is none; both are kept.
const Queue& queue_on(const Device& device, void* stream);
const Queue& own_queue(const Device& device);

}  // namespace axisloom::python
