// CUDA as one of the runtimes: its cards, and what was looked for.
#pragma once

#include "device/cuda/context.hpp"
#include "device/cuda/nvrtc.hpp"

#include <functional>

namespace axisloom::device::cuda {

class CudaRuntime final : public Runtime {
 public:
  /// `nvrtc` is called when a compiler is first needed, and answers with something that outlives the runtime's devices.
  CudaRuntime(DriverLibrary driver, std::function<const NvrtcSearch&()> nvrtc)
      : driver_(std::move(driver)), nvrtc_(std::move(nvrtc)) {}

  std::vector<DeviceInfo> devices() override;
  SharedDevice open(int index) override;
  std::vector<RuntimeStatus> status() override;
  SharedDevice borrow(CUcontext context);

 private:
  int count();
  Card describe(int ordinal) const;

  DriverLibrary driver_;
  std::function<const NvrtcSearch&()> nvrtc_;
  bool started_ = false;
};

}  // namespace axisloom::device::cuda
