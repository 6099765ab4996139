// A program's own CUDA context, stream and memory. What it needs of the driver it declares itself, so that it can be
// compiled without the toolkit; with it, #include <cuda.h> takes the place of the declarations.
#include <axisloom/axisloom.hpp>

#include <dlfcn.h>

#include <cstdio>
#include <numeric>
#include <vector>

namespace {

using CUdevice = int;
using CUcontext = struct CUctx_st*;
using CUstream = struct CUstream_st*;
using CUdeviceptr = unsigned long long;

constexpr std::int64_t rows = 30, columns = 40;
constexpr std::size_t bytes = rows * columns * sizeof(float);

/// Queues the transpose of one array into another behind what the stream holds, and returns. The device, which has the
/// kernels, must outlive them.
void transpose_on(const axisloom::Device& device, CUstream stream, CUdeviceptr in, CUdeviceptr out) {
  const axisloom::View view = axisloom::View::contiguous(axisloom::Dtype::f32, {rows, columns});
  const axisloom::Plan plan = axisloom::plan(axisloom::transpose(), {view}, device);
  const auto buffer = [&](CUdeviceptr address) {
    return device.borrow_buffer(reinterpret_cast<void*>(address), bytes);
  };
  const axisloom::Buffer buffers[] = {buffer(in), buffer(out)};
  plan.run(device.borrow_queue(stream), buffers);
}

/// A function of the driver; its arguments are given as it declares them.
template <class... Arguments>
void call(void* driver, const char* name, Arguments... arguments) {
  const auto function = reinterpret_cast<int (*)(Arguments...)>(dlsym(driver, name));
  if (!function || function(arguments...) != 0) std::printf("%s failed\n", name);
}

}  // namespace

int main() {
  void* const driver = dlopen("libcuda.so.1", RTLD_NOW);
  if (!driver) return std::puts("there is no CUDA driver here") > 0 ? 0 : 1;
  CUdevice card = 0;
  CUcontext context = nullptr;
  CUstream stream = nullptr;
  CUdeviceptr in = 0, out = 0;
  call(driver, "cuInit", 0U);
  call(driver, "cuDeviceGet", &card, 0);
  call(driver, "cuDevicePrimaryCtxRetain", &context, card);
  call(driver, "cuCtxSetCurrent", context);
  call(driver, "cuStreamCreate", &stream, 0U);
  call(driver, "cuMemAlloc_v2", &in, bytes);
  call(driver, "cuMemAlloc_v2", &out, bytes);
  std::vector<float> values(rows * columns), turned(values.size());
  std::iota(values.begin(), values.end(), 0.0F);
  call(driver, "cuMemcpyHtoD_v2", in, static_cast<const void*>(values.data()), bytes);
  const axisloom::Device device = axisloom::Device::borrow_cuda(context);
  transpose_on(device, stream, in, out);
  call(driver, "cuStreamSynchronize", stream);
  call(driver, "cuMemcpyDtoH_v2", static_cast<void*>(turned.data()), out, bytes);
  return turned[1] == columns && turned.back() == values.back() ? 0 : 1;
}
