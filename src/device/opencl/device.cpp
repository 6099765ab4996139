// Opening and borrowing OpenCL devices, and the calls that make objects on them.
#include "device/opencl/device.hpp"

#include "device/opencl/describe.hpp"
#include "device/opencl/memory.hpp"
#include "device/opencl/program.hpp"
#include "device/opencl/queue.hpp"

#include <algorithm>

namespace axisloom::device::opencl {

namespace {

// The runtime that calls this knows no exceptions.
void CL_CALLBACK report(const char* text, const void*, size_t, void*) noexcept try {
  log(concat("OpenCL: ", text ? text : ""));
} catch (...) {
}

class OpenclDevice final : public Device {
  /// What a function makes for this context.
  auto make(auto maker, const auto&... args) {
    return context_->guarded([&] { return maker(context_, args...); });
  }

 public:
  explicit OpenclDevice(SharedContext context) : context_(std::move(context)) {}

  const DeviceInfo& info() const noexcept override { return context_->info; }
  bool lost() const noexcept override { return context_->lost(); }
  std::string build_identity() const override {
    return context_->guarded([&] { return opencl::build_identity(context_->device()); });
  }

  SharedBuffer allocate(size_t bytes) override { return make(allocate_memory, bytes); }
  SharedBuffer allocate_staging(size_t bytes) override { return make(allocate_staging_memory, bytes); }
  SharedBuffer wrap(void* host, size_t bytes) override { return make(wrap_memory, host, bytes); }
  SharedBuffer borrow_buffer(void* native, size_t bytes) override {
    return make(borrow_memory, static_cast<cl_mem>(native), bytes);
  }

  SharedQueue queue(bool timing) override { return make(create_queue, timing); }
  SharedQueue borrow_queue(void* native) override {
    return make(opencl::borrow_queue, static_cast<cl_command_queue>(native));
  }

  SharedProgram build(const BuildRequest& request) override { return make(build_program, request); }
  SharedProgram load(const BuildRequest& request, std::span<const std::byte> binary) override {
    return make(load_program, request, binary);
  }
  KernelAttributes attributes(Program& program, const std::string& kernel) override {
    return context_->guarded([&] {
      auto* const own = dynamic_cast<KernelProgram*>(&program);
      if (!own || own->context().get() != context_->get())
        throw Error(Errc::usage, "kernel \"" + kernel + "\" was built for another device");
      return own->attributes(kernel);
    });
  }

 private:
  SharedContext context_;
};

SharedDevice make_device(ContextHandle handle, DeviceHandle id, int index) {
  DeviceInfo info = describe(id, index);
  auto context = std::make_shared<Context>(std::move(handle), std::move(id), std::move(info));
  context->guarded([&] {
    DeviceInfo& known = context->info;
    if (!known.unified_memory || works_in_place(context)) return;
    known.unified_memory = false;
    known.base_alignment = reported_alignment(context->device());
  });
  return std::make_shared<OpenclDevice>(std::move(context));
}

}  // namespace

SharedDevice open_device(cl_device_id id, int index) {
  const auto platform = query<cl_platform_id>(cl().clGetDeviceInfo, id, CL_DEVICE_PLATFORM);
  const cl_context_properties properties[] = {CL_CONTEXT_PLATFORM, reinterpret_cast<cl_context_properties>(platform),
                                              0};
  DeviceHandle device = retain<DeviceHandle>(cl().clRetainDevice, id);
  ContextHandle context(create(cl().clCreateContext, &properties[0], 1, &id, &report, nullptr));
  return make_device(std::move(context), std::move(device), index);
}

SharedDevice borrow_device(cl_context context, cl_device_id id, int index) {
  const auto devices = query_list<cl_device_id>(cl().clGetContextInfo, context, CL_CONTEXT_DEVICES);
  if (std::ranges::find(devices, id) == devices.end())
    throw Error(Errc::usage, "cannot borrow this cl_context: the cl_device_id is not one of its devices");
  DeviceHandle device = retain<DeviceHandle>(cl().clRetainDevice, id);
  return make_device(retain<ContextHandle>(cl().clRetainContext, context), std::move(device), index);
}

}  // namespace axisloom::device::opencl
