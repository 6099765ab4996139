// Contexts and events by the CUDA driver.
#include "bench/peers/cuda_call.hpp"

#include "bench/peers/libraries.hpp"

#include <axisloom/error.hpp>

namespace axisloom::bench {
namespace {

const cuda::DriverApi& driver() {
  static const cuda::DriverLibrary library = cuda::open_driver();
  if (!library.api) throw Error(Errc::unsupported, "the CUDA driver cannot be opened");
  return *library.api;
}

constexpr Requirement require_driver{"the CUDA driver"};

}  // namespace

void require_cuda(const Workload& workload) {
  if (workload.device().info().api != Api::cuda) refuse("runs on CUDA devices only");
}

CurrentContext::CurrentContext(cuda::CUstream stream) {
  cuda::CUcontext context = nullptr;
  require_driver(driver().cuStreamGetCtx(stream, &context), "cuStreamGetCtx");
  require_driver(driver().cuCtxPushCurrent_v2(context), "cuCtxPushCurrent");
}

CurrentContext::~CurrentContext() {
  cuda::CUcontext popped = nullptr;
  driver().cuCtxPopCurrent_v2(&popped);
}

CudaCall::CudaCall(Workload& workload, std::string name, std::string how)
    : Contestant(workload, std::move(name), std::move(how)) {
  const CurrentContext current(stream());
  for (cuda::CUevent* event : {&begin_, &end_}) {
    require_driver(driver().cuEventCreate(event, 0), "cuEventCreate");
    at_end([event] { driver().cuEventDestroy_v2(*event); });
  }
}

CudaCall::~CudaCall() {
  try {
    const CurrentContext current(stream());
    for (; !ends_.empty(); ends_.pop_back()) ends_.back()();
  } catch (const Error&) {
    // A context that is gone has taken everything along.
  }
}

cuda::CUstream CudaCall::stream() const {
  return static_cast<cuda::CUstream>(workload().queue().impl()->native());
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
