// The CUDA device's factory functions; compiling is NVRTC's work, loading the driver's.
#include "device/cuda/device.hpp"

#include "device/cuda/compile.hpp"
#include "device/cuda/memory.hpp"
#include "device/cuda/program.hpp"

namespace axisloom::device::cuda {

namespace {

class CudaDevice final : public Device {
 public:
  CudaDevice(SharedContext context, const NvrtcSearch& search) : context_(std::move(context)), search_(search) {}

  const SharedContext& context() const noexcept { return context_; }
  const DeviceInfo& info() const noexcept override { return context_->card.info; }
  bool lost() const noexcept override { return context_->lost(); }
  std::string build_identity() const override {
    const DeviceInfo& about = info();
    return joined({about.platform, about.name, about.architecture, "driver " + about.driver,
                   about.compiler.empty() ? "no compiler" : about.compiler},
                  "; ");
  }

  SharedBuffer allocate(size_t bytes) override { return allocate_memory(context_, bytes); }
  SharedBuffer allocate_staging(size_t bytes) override { return allocate_staging_memory(context_, bytes); }
  /// A card's own memory is the fast one, so host memory is never used in place.
  SharedBuffer wrap(void*, size_t) override {
    context_->require_usable();
    return nullptr;
  }
  SharedBuffer borrow_buffer(void* native, size_t bytes) override { return borrow_memory(context_, native, bytes); }

  SharedQueue queue(bool timing) override { return create_queue(context_, timing); }
  SharedQueue urgent_queue() override { return create_queue(context_, false, kGreatestPriority); }
  SharedQueue borrow_queue(void* native) override {
    return cuda::borrow_queue(context_, static_cast<CUstream>(native));
  }

  SharedProgram build(const BuildRequest& request) override {
    context_->require_usable();
    try {
      const Card& card = context_->card;
      const std::shared_ptr<const Nvrtc> compiler = choose_nvrtc(search_, card.driver);
      const std::string architecture = target_architecture(*compiler, card.capability);
      std::string messages;
      const std::vector<std::byte> binary = compile_cuda(*compiler, request, architecture, &messages);
      if (!messages.empty()) log(request.name + ": " + messages);
      std::string rejected;
      if (auto program = CudaProgram::load(context_, request.name, binary, rejected)) return program;
      throw Error(Errc::device,
                  "the driver, which knows CUDA " + card.driver.text() + ", rejects " + request.name +
                      " as compiled by NVRTC " + compiler->version.text() + " for " + architecture + ": " + rejected,
                  "install an NVRTC that is not newer than the driver, or a newer driver");
    } catch (const Error& error) {
      throw error.with({.device = info().label()});
    }
  }

  SharedProgram load(const BuildRequest& request, std::span<const std::byte> binary) override {
    context_->require_usable();
    std::string rejected;
    return CudaProgram::load(context_, request.name, binary, rejected);
  }

  KernelAttributes attributes(Program& program, const std::string& kernel) override {
    const auto scope = context_->enter();
    return own<CudaProgram>(program, *context_, "program").kernel(kernel).attributes();
  }

 private:
  SharedContext context_;
  const NvrtcSearch& search_;
};

}  // namespace

SharedDevice open_device(std::shared_ptr<const DriverApi> api, Card card, const NvrtcSearch& search,
                         CUcontext borrowed) {
  return std::make_shared<CudaDevice>(std::make_shared<Context>(std::move(api), std::move(card), borrowed), search);
}

const SharedContext& context_of(const Device& device) {
  return dynamic_cast<const CudaDevice&>(device).context();
}

}  // namespace axisloom::device::cuda
