// A program's own OpenCL context, queue and memory.
#define CL_TARGET_OPENCL_VERSION 120
#include <axisloom/axisloom.hpp>

#include <CL/cl.h>

#include <cstdio>
#include <numeric>
#include <vector>

namespace {

constexpr std::int64_t rows = 30, columns = 40;
constexpr std::size_t bytes = rows * columns * sizeof(float);

/// Queues the transpose of one cl_mem into another behind what the queue holds, and returns.
void transpose_on(const axisloom::Device& device, cl_command_queue commands, cl_mem in, cl_mem out) {
  const axisloom::View view = axisloom::View::contiguous(axisloom::Dtype::f32, {rows, columns});
  const axisloom::Plan plan = axisloom::plan(axisloom::transpose(), {view}, device);
  const axisloom::Buffer buffers[] = {device.borrow_buffer(in, bytes), device.borrow_buffer(out, bytes)};
  plan.run(device.borrow_queue(commands), buffers);
}

}  // namespace

int main() {
  cl_platform_id platform;
  cl_device_id id;
  if (clGetPlatformIDs(1, &platform, nullptr) != CL_SUCCESS ||
      clGetDeviceIDs(platform, CL_DEVICE_TYPE_ALL, 1, &id, nullptr) != CL_SUCCESS)
    return std::puts("there is no OpenCL device here") > 0 ? 0 : 1;
  const cl_context context = clCreateContext(nullptr, 1, &id, nullptr, nullptr, nullptr);
  const cl_command_queue commands = clCreateCommandQueue(context, id, 0, nullptr);
  std::vector<float> values(rows * columns), turned(values.size());
  std::iota(values.begin(), values.end(), 0.0F);
  const cl_mem in = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
  const cl_mem out = clCreateBuffer(context, CL_MEM_READ_WRITE, bytes, nullptr, nullptr);
  clEnqueueWriteBuffer(commands, in, CL_FALSE, 0, bytes, values.data(), 0, nullptr, nullptr);
  const axisloom::Device device = axisloom::Device::borrow_opencl(context, id);
  transpose_on(device, commands, in, out);
  clEnqueueReadBuffer(commands, out, CL_TRUE, 0, bytes, turned.data(), 0, nullptr, nullptr);
  return turned[1] == columns && turned.back() == values.back() ? 0 : 1;
}
