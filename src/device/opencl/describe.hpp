// What an OpenCL device says of itself.
#pragma once

#include "device/opencl/errors.hpp"

namespace axisloom::device::opencl {

/// `index`: among all OpenCL devices, in the order of platforms; -1 for one that is not listed.
DeviceInfo describe(cl_device_id device, int index);
/// Everything a program binary of that device depends on besides its source and options.
std::string build_identity(cl_device_id device);
/// Bytes to which OpenCL aligns every buffer that it allocates itself.
size_t reported_alignment(cl_device_id device);
bool is_nvidia(const DeviceInfo& info);

}  // namespace axisloom::device::opencl
