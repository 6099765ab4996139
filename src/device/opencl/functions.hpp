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

/// libOpenCL as found on this machine; null entries where it is not usable.
struct Functions : EntryTable {
#define AXISLOOM_OPENCL_ENTRY(name) EntryPoint<decltype(::name)> name{#name, *this};
  AXISLOOM_OPENCL_FUNCTIONS(AXISLOOM_OPENCL_ENTRY)
#undef AXISLOOM_OPENCL_ENTRY

  bool usable() const noexcept {
    return missing.empty();
  }
};

/// Where the loader is looked for: by name, then at absolute paths below CONDA_PREFIX, CUDA_PATH and CUDA_HOME.
std::vector<std::string> library_candidates();

/// Opened on first use and never closed; entries may be replaced by tests.
Functions& cl();

}  // namespace axisloom::device::opencl
