// Opening and borrowing OpenCL devices.
#pragma once

#include "device/device.hpp"
#include "device/opencl/functions.hpp"

namespace axisloom::device::opencl {

/// A device in a context of its own.
SharedDevice open_device(cl_device_id id, int index);
/// A device in the caller's context; `index` as in DeviceInfo.
SharedDevice borrow_device(cl_context context, cl_device_id id, int index);

}  // namespace axisloom::device::opencl
