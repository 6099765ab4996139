// OpenCL command queues, and the events of their commands.
#pragma once

#include "device/opencl/context.hpp"

namespace axisloom::device::opencl {

SharedQueue create_queue(const SharedContext& context, bool timing);
SharedQueue borrow_queue(const SharedContext& context, cl_command_queue queue);

}  // namespace axisloom::device::opencl
