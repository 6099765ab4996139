// Opening and borrowing OpenCL devices and command queues.
#pragma once

#include "device/opencl/context.hpp"

namespace axisloom::device::opencl {

/// A device in a context of its own.
SharedDevice open_device(cl_device_id id, int index);
/// A device in the caller's context; `index` as in DeviceInfo.
SharedDevice borrow_device(cl_context context, cl_device_id id, int index);

SharedQueue create_queue(const SharedContext& context, bool timing);
SharedQueue borrow_queue(const SharedContext& context, cl_command_queue queue);

}  // namespace axisloom::device::opencl
