// Names and meanings of OpenCL's error codes.
#include "device/opencl/errors.hpp"

#include <iterator>

namespace axisloom::device::opencl {

namespace {

// NVIDIA's own code for a kernel that read or wrote outside its buffers; it is in no header.
constexpr cl_int nvidia_illegal_access = -9999;

// Codes count down: each list begins with the name of the code that it is called after.
constexpr std::string_view names_from_success[] = {"CL_SUCCESS",
                                                   "CL_DEVICE_NOT_FOUND",
                                                   "CL_DEVICE_NOT_AVAILABLE",
                                                   "CL_COMPILER_NOT_AVAILABLE",
                                                   "CL_MEM_OBJECT_ALLOCATION_FAILURE",
                                                   "CL_OUT_OF_RESOURCES",
                                                   "CL_OUT_OF_HOST_MEMORY",
                                                   "CL_PROFILING_INFO_NOT_AVAILABLE",
                                                   "CL_MEM_COPY_OVERLAP",
                                                   "CL_IMAGE_FORMAT_MISMATCH",
                                                   "CL_IMAGE_FORMAT_NOT_SUPPORTED",
                                                   "CL_BUILD_PROGRAM_FAILURE",
                                                   "CL_MAP_FAILURE",
                                                   "CL_MISALIGNED_SUB_BUFFER_OFFSET",
                                                   "CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST",
                                                   "CL_COMPILE_PROGRAM_FAILURE",
                                                   "CL_LINKER_NOT_AVAILABLE",
                                                   "CL_LINK_PROGRAM_FAILURE",
                                                   "CL_DEVICE_PARTITION_FAILED",
                                                   "CL_KERNEL_ARG_INFO_NOT_AVAILABLE"};
constexpr std::string_view names_from_invalid_value[] = {"CL_INVALID_VALUE",
                                                         "CL_INVALID_DEVICE_TYPE",
                                                         "CL_INVALID_PLATFORM",
                                                         "CL_INVALID_DEVICE",
                                                         "CL_INVALID_CONTEXT",
                                                         "CL_INVALID_QUEUE_PROPERTIES",
                                                         "CL_INVALID_COMMAND_QUEUE",
                                                         "CL_INVALID_HOST_PTR",
                                                         "CL_INVALID_MEM_OBJECT",
                                                         "CL_INVALID_IMAGE_FORMAT_DESCRIPTOR",
                                                         "CL_INVALID_IMAGE_SIZE",
                                                         "CL_INVALID_SAMPLER",
                                                         "CL_INVALID_BINARY",
                                                         "CL_INVALID_BUILD_OPTIONS",
                                                         "CL_INVALID_PROGRAM",
                                                         "CL_INVALID_PROGRAM_EXECUTABLE",
                                                         "CL_INVALID_KERNEL_NAME",
                                                         "CL_INVALID_KERNEL_DEFINITION",
                                                         "CL_INVALID_KERNEL",
                                                         "CL_INVALID_ARG_INDEX",
                                                         "CL_INVALID_ARG_VALUE",
                                                         "CL_INVALID_ARG_SIZE",
                                                         "CL_INVALID_KERNEL_ARGS",
                                                         "CL_INVALID_WORK_DIMENSION",
                                                         "CL_INVALID_WORK_GROUP_SIZE",
                                                         "CL_INVALID_WORK_ITEM_SIZE",
                                                         "CL_INVALID_GLOBAL_OFFSET",
                                                         "CL_INVALID_EVENT_WAIT_LIST",
                                                         "CL_INVALID_EVENT",
                                                         "CL_INVALID_OPERATION",
                                                         "CL_INVALID_GL_OBJECT",
                                                         "CL_INVALID_BUFFER_SIZE",
                                                         "CL_INVALID_MIP_LEVEL",
                                                         "CL_INVALID_GLOBAL_WORK_SIZE",
                                                         "CL_INVALID_PROPERTY",
                                                         "CL_INVALID_IMAGE_DESCRIPTOR",
                                                         "CL_INVALID_COMPILER_OPTIONS",
                                                         "CL_INVALID_LINKER_OPTIONS",
                                                         "CL_INVALID_DEVICE_PARTITION_COUNT"};
static_assert(CL_SUCCESS - CL_KERNEL_ARG_INFO_NOT_AVAILABLE + 1 == std::size(names_from_success));
static_assert(CL_INVALID_VALUE - CL_INVALID_DEVICE_PARTITION_COUNT + 1 == std::size(names_from_invalid_value));

// Calls whose CL_OUT_OF_RESOURCES is a kernel's doing (registers, local memory, a fault), not a lack of memory.
bool concerns_execution(std::string_view call) {
  return call == "clEnqueueNDRangeKernel" || call == "clFinish" || call == "clWaitForEvents" ||
         call == "clGetEventInfo" || call == "clFlush";
}

}  // namespace

std::string_view code_name(cl_int code) noexcept {
  if (code == CL_PLATFORM_NOT_FOUND_KHR) return "CL_PLATFORM_NOT_FOUND_KHR";
  if (code == nvidia_illegal_access) return "NVIDIA: illegal read or write in a kernel";
  const auto name_in = [code](std::span<const std::string_view> names, cl_int first) {
    const auto at = size_t(first - code);
    return at < names.size() ? names[at] : "unknown code";
  };
  return code > CL_INVALID_VALUE ? name_in(names_from_success, CL_SUCCESS)
                                 : name_in(names_from_invalid_value, CL_INVALID_VALUE);
}

Errc classify(std::string_view call, cl_int code) noexcept {
  switch (code) {
    case CL_MEM_OBJECT_ALLOCATION_FAILURE:
    case CL_OUT_OF_HOST_MEMORY:
    case CL_INVALID_BUFFER_SIZE:
      return Errc::out_of_memory;
    case CL_OUT_OF_RESOURCES:
      return concerns_execution(call) ? Errc::device : Errc::out_of_memory;
    case CL_DEVICE_NOT_AVAILABLE:
    case CL_INVALID_DEVICE:
    case CL_INVALID_CONTEXT:
    case CL_INVALID_COMMAND_QUEUE:
    case nvidia_illegal_access:
      return Errc::device_lost;
    default:
      return Errc::device;
  }
}

Error call_error(const char* call, cl_int code, ErrorParts parts) {
  const std::string code_text(code_name(code));
  parts.message = parts.message.empty() ? "OpenCL returned " + code_text : parts.message + ": " + code_text;
  parts.call = call;
  parts.native = code;
  const Errc errc = classify(call, code);
  if (errc == Errc::device_lost && parts.remedy.empty()) parts.remedy = "open the device again; its buffers are gone";
  return Error(errc, std::move(parts));
}

}  // namespace axisloom::device::opencl
