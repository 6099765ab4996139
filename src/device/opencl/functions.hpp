// The OpenCL entry points that Axisloom uses, as a table that is filled from libOpenCL at run time.
#pragma once

#ifndef CL_TARGET_OPENCL_VERSION
#define CL_TARGET_OPENCL_VERSION 300
#endif
// clCreateCommandQueue is the one way to make a queue that OpenCL 1.2 and 3.0 devices share.
#ifndef CL_USE_DEPRECATED_OPENCL_1_2_APIS
#define CL_USE_DEPRECATED_OPENCL_1_2_APIS
#endif
#include <CL/cl.h>
#include <CL/cl_ext.h>

#include "device/dynamic_library.hpp"
#include "device/entry_point.hpp"

namespace axisloom::device::opencl {

#define AXISLOOM_OPENCL_FUNCTIONS(X)  \
  X(clGetPlatformIDs)                 \
  X(clGetPlatformInfo)                \
  X(clGetDeviceIDs)                   \
  X(clGetDeviceInfo)                  \
  X(clRetainDevice)                   \
  X(clReleaseDevice)                  \
  X(clCreateContext)                  \
  X(clRetainContext)                  \
  X(clReleaseContext)                 \
  X(clGetContextInfo)                 \
  X(clCreateCommandQueue)             \
  X(clRetainCommandQueue)             \
  X(clReleaseCommandQueue)            \
  X(clGetCommandQueueInfo)            \
  X(clCreateBuffer)                   \
  X(clRetainMemObject)                \
  X(clReleaseMemObject)               \
  X(clGetMemObjectInfo)               \
  X(clSetMemObjectDestructorCallback) \
  X(clCreateProgramWithSource)        \
  X(clCreateProgramWithBinary)        \
  X(clReleaseProgram)                 \
  X(clBuildProgram)                   \
  X(clGetProgramInfo)                 \
  X(clGetProgramBuildInfo)            \
  X(clCreateKernel)                   \
  X(clReleaseKernel)                  \
  X(clSetKernelArg)                   \
  X(clGetKernelInfo)                  \
  X(clGetKernelWorkGroupInfo)         \
  X(clEnqueueNDRangeKernel)           \
  X(clEnqueueReadBuffer)              \
  X(clEnqueueWriteBuffer)             \
  X(clEnqueueCopyBuffer)              \
  X(clEnqueueFillBuffer)              \
  X(clEnqueueMapBuffer)               \
  X(clEnqueueUnmapMemObject)          \
  X(clEnqueueMarkerWithWaitList)      \
  X(clWaitForEvents)                  \
  X(clReleaseEvent)                   \
  X(clGetEventInfo)                   \
  X(clGetEventProfilingInfo)          \
  X(clFlush)                          \
  X(clFinish)

struct Functions {
#define AXISLOOM_OPENCL_ENTRY(name) EntryPoint<decltype(::name)> name{#name};
  AXISLOOM_OPENCL_FUNCTIONS(AXISLOOM_OPENCL_ENTRY)
#undef AXISLOOM_OPENCL_ENTRY
};

/// libOpenCL as found on this machine.
struct Library {
  DynamicLibrary file;
  Functions functions;
  std::vector<std::string> missing;  // entry points that the file does not have

  bool usable() const noexcept { return file && missing.empty(); }
};

/// Where the loader is looked for: by name, then at absolute paths below CONDA_PREFIX, CUDA_PATH and CUDA_HOME.
std::vector<std::string> library_candidates();

/// Opened on first use and never closed.
Library& library();

/// The table; entries may be replaced by tests. Null entries where the library is not usable.
inline Functions& cl() {
  return library().functions;
}

}  // namespace axisloom::device::opencl
