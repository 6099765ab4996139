// The calls that make objects on the host. None of them knows the process: they work in a child after a fork.
#include "device/host/device.hpp"

#include "core/text.hpp"
#include "device/host/compile.hpp"
#include "device/host/memory.hpp"
#include "device/host/program.hpp"

namespace axisloom::device::host {

namespace {

class HostDevice final : public Device {
 public:
  HostDevice(unsigned threads, Isa isa) : host_(std::make_shared<Host>(threads, isa)) {}

  const DeviceInfo& info() const noexcept override { return host_->info; }
  std::string build_identity() const override {
    return joined({info().platform, info().name, info().api_version, compiler_identity(machine_compiler())}, "|");
  }

  SharedBuffer allocate(size_t bytes) override { return allocate_memory(info(), host_->pool, bytes); }
  SharedBuffer allocate_staging(size_t bytes) override { return allocate(bytes); }
  SharedBuffer wrap(void* host, size_t bytes) override { return wrap_memory(host, bytes); }
  SharedBuffer borrow_buffer(void* native, size_t bytes) override { return wrap_memory(native, bytes); }

  SharedQueue queue(bool timing) override { return create_queue(host_, timing); }
  SharedQueue immediate_queue() override { return create_immediate_queue(host_); }
  SharedQueue borrow_queue(void*) override {
    throw Error(Errc::unsupported, {.message = "the host has no queues that could be borrowed",
                                    .device = info().label(),
                                    .remedy = "make one with Device::queue"});
  }

  SharedProgram built_in(const std::string& name, std::span<const i32> settings) override {
    const Entry entry = find_kernel(built_in_kernels(), name, host_->isa);
    return entry ? std::make_shared<HostProgram>(entry, settings) : nullptr;
  }
  bool can_build() const override { return !machine_compiler().empty(); }
  SharedProgram build(const BuildRequest& request) override {
    const std::string compiler = machine_compiler();
    if (compiler.empty())
      throw Error(Errc::unsupported, {.message = concat("the host has no compiler for kernel ", request.name),
                                      .device = info().label(),
                                      .remedy = "let AXISLOOM_HOST_COMPILER name a C++ compiler"});
    auto program = std::make_shared<HostProgram>(compile(compiler, request, host_->isa));
    if (!program->entry())
      throw Error(Errc::device, concat("what ", compiler, " made of ", request.name, " cannot be loaded"));
    return program;
  }
  SharedProgram load(const BuildRequest&, std::span<const std::byte> binary) override {
    auto program = std::make_shared<HostProgram>(std::vector<std::byte>(binary.begin(), binary.end()));
    return program->entry() ? program : nullptr;
  }
  KernelAttributes attributes(Program&, const std::string&) override { return {.max_items = int(info().max_group)}; }

 private:
  SharedHost host_;
};

}  // namespace

SharedDevice make_device(unsigned threads, Isa isa) {
  return std::make_shared<HostDevice>(threads, isa);
}

}  // namespace axisloom::device::host
