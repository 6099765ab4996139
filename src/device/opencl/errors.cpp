// Names and meanings of OpenCL's error codes.
#include "device/opencl/errors.hpp"

#include <algorithm>

namespace axisloom::device::opencl {

namespace {

// NVIDIA's own code for a kernel that read or wrote outside its buffers; it is in no header.
constexpr cl_int nvidia_illegal_access = -9999;

struct CodeName {
  cl_int code;
  std::string_view name;
};

constexpr CodeName code_names[] = {
#define AXISLOOM_CODE(code) {code, #code},
    AXISLOOM_CODE(CL_SUCCESS) AXISLOOM_CODE(CL_DEVICE_NOT_FOUND) AXISLOOM_CODE(CL_DEVICE_NOT_AVAILABLE) AXISLOOM_CODE(
        CL_COMPILER_NOT_AVAILABLE) AXISLOOM_CODE(CL_MEM_OBJECT_ALLOCATION_FAILURE) AXISLOOM_CODE(CL_OUT_OF_RESOURCES)
        AXISLOOM_CODE(CL_OUT_OF_HOST_MEMORY) AXISLOOM_CODE(CL_PROFILING_INFO_NOT_AVAILABLE) AXISLOOM_CODE(
            CL_MEM_COPY_OVERLAP) AXISLOOM_CODE(CL_BUILD_PROGRAM_FAILURE) AXISLOOM_CODE(CL_MAP_FAILURE)
            AXISLOOM_CODE(CL_MISALIGNED_SUB_BUFFER_OFFSET) AXISLOOM_CODE(CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST)
                AXISLOOM_CODE(CL_COMPILE_PROGRAM_FAILURE) AXISLOOM_CODE(CL_LINKER_NOT_AVAILABLE) AXISLOOM_CODE(
                    CL_LINK_PROGRAM_FAILURE) AXISLOOM_CODE(CL_DEVICE_PARTITION_FAILED)
                    AXISLOOM_CODE(CL_KERNEL_ARG_INFO_NOT_AVAILABLE) AXISLOOM_CODE(CL_INVALID_VALUE) AXISLOOM_CODE(
                        CL_INVALID_DEVICE_TYPE) AXISLOOM_CODE(CL_INVALID_PLATFORM) AXISLOOM_CODE(CL_INVALID_DEVICE)
                        AXISLOOM_CODE(CL_INVALID_CONTEXT) AXISLOOM_CODE(CL_INVALID_QUEUE_PROPERTIES) AXISLOOM_CODE(
                            CL_INVALID_COMMAND_QUEUE) AXISLOOM_CODE(CL_INVALID_HOST_PTR)
                            AXISLOOM_CODE(CL_INVALID_MEM_OBJECT) AXISLOOM_CODE(CL_INVALID_BINARY) AXISLOOM_CODE(
                                CL_INVALID_BUILD_OPTIONS) AXISLOOM_CODE(CL_INVALID_PROGRAM)
                                AXISLOOM_CODE(CL_INVALID_PROGRAM_EXECUTABLE) AXISLOOM_CODE(
                                    CL_INVALID_KERNEL_NAME) AXISLOOM_CODE(CL_INVALID_KERNEL_DEFINITION)
                                    AXISLOOM_CODE(CL_INVALID_KERNEL) AXISLOOM_CODE(CL_INVALID_ARG_INDEX) AXISLOOM_CODE(
                                        CL_INVALID_ARG_VALUE) AXISLOOM_CODE(CL_INVALID_ARG_SIZE)
                                        AXISLOOM_CODE(CL_INVALID_KERNEL_ARGS) AXISLOOM_CODE(CL_INVALID_WORK_DIMENSION)
                                            AXISLOOM_CODE(CL_INVALID_WORK_GROUP_SIZE) AXISLOOM_CODE(
                                                CL_INVALID_WORK_ITEM_SIZE) AXISLOOM_CODE(CL_INVALID_GLOBAL_OFFSET)
                                                AXISLOOM_CODE(CL_INVALID_EVENT_WAIT_LIST) AXISLOOM_CODE(
                                                    CL_INVALID_EVENT) AXISLOOM_CODE(CL_INVALID_OPERATION)
                                                    AXISLOOM_CODE(CL_INVALID_BUFFER_SIZE) AXISLOOM_CODE(
                                                        CL_INVALID_GLOBAL_WORK_SIZE) AXISLOOM_CODE(CL_INVALID_PROPERTY)
                                                        AXISLOOM_CODE(CL_INVALID_COMPILER_OPTIONS)
                                                            AXISLOOM_CODE(CL_INVALID_LINKER_OPTIONS)
                                                                AXISLOOM_CODE(CL_INVALID_DEVICE_PARTITION_COUNT)
                                                                    AXISLOOM_CODE(CL_PLATFORM_NOT_FOUND_KHR)
#undef AXISLOOM_CODE
                                                                        {nvidia_illegal_access,
                                                                         "NVIDIA: illegal read or write in a kernel"},
};

// Calls whose CL_OUT_OF_RESOURCES is a kernel's doing (registers, local memory, a fault), not a lack of memory.
bool concerns_execution(std::string_view call) {
  return call == "clEnqueueNDRangeKernel" || call == "clFinish" || call == "clWaitForEvents" ||
         call == "clGetEventInfo" || call == "clFlush";
}

}  // namespace

std::string_view code_name(cl_int code) noexcept {
  const auto* const found = std::ranges::find(code_names, code, &CodeName::code);
  return found == std::end(code_names) ? "unknown code" : found->name;
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
