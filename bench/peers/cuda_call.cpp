// Contexts and events by the CUDA driver.
#include "bench/peers/cuda_call.hpp"

#include "bench/peers/peers.hpp"

#include <axisloom/error.hpp>

namespace axisloom::bench {
namespace {

const device::cuda::DriverApi& driver() {
  static const device::cuda::DriverLibrary library = device::cuda::open_driver();
  if (!library.api) throw Error(Errc::unsupported, "the CUDA driver cannot be opened");
  return *library.api;
}

void require_driver(int code, const char* call) {
  if (code != 0) throw Error(Errc::device, {.message = "the CUDA driver fails", .call = call, .native = code});
}

}  // namespace

CurrentContext::CurrentContext(device::cuda::CUstream stream) {
  device::cuda::CUcontext context = nullptr;
  require_driver(driver().cuStreamGetCtx(stream, &context), "cuStreamGetCtx");
  require_driver(driver().cuCtxPushCurrent_v2(context), "cuCtxPushCurrent");
}

CurrentContext::~CurrentContext() {
  device::cuda::CUcontext popped = nullptr;
  driver().cuCtxPopCurrent_v2(&popped);
}

CudaCall::CudaCall(Workload& workload, std::string name, std::string how)
    : Contestant(workload, std::move(name), std::move(how), Role::peer) {
  const CurrentContext current(stream());
  for (device::cuda::CUevent* event : {&begin_, &end_})
    require_driver(driver().cuEventCreate(event, 0), "cuEventCreate");
}

CudaCall::~CudaCall() {
  try {
    const CurrentContext current(stream());
    for (device::cuda::CUevent event : {begin_, end_}) driver().cuEventDestroy_v2(event);
  } catch (const Error&) {
    // A context that is gone has taken its events along.
  }
}

device::cuda::CUstream CudaCall::stream() const {
  return static_cast<device::cuda::CUstream>(workload().queue().impl()->native());
}

Timing CudaCall::run() {
  const CurrentContext current(stream());
  const double start = now();
  require_driver(driver().cuEventRecord(begin_, stream()), "cuEventRecord");
  call();
  require_driver(driver().cuEventRecord(end_, stream()), "cuEventRecord");
  require_driver(driver().cuEventSynchronize(end_), "cuEventSynchronize");
  const double stop = now();
  float milliseconds = 0;
  require_driver(driver().cuEventElapsedTime(&milliseconds, begin_, end_), "cuEventElapsedTime");
  return {stop - start, double(milliseconds) * 1e-3};
}

}  // namespace axisloom::bench
