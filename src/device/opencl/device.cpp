// Opening and borrowing OpenCL devices, and the calls that make objects on them.
#include "device/opencl/device.hpp"

#include "device/opencl/describe.hpp"

#include <algorithm>

namespace axisloom::device::opencl {

namespace {

// The runtime that calls this knows no exceptions.
void CL_CALLBACK report(const char* text, const void*, size_t, void*) noexcept try {
  log(std::string("OpenCL: ") + (text ? text : ""));
} catch (...) {
}

SharedDevice make_device(ContextHandle handle, DeviceHandle id, int index) {
  DeviceInfo info = describe(id.get(), index);
  auto context = std::make_shared<Context>(std::move(handle), std::move(id), std::move(info));
  context->guarded([&] {
    DeviceInfo& known = context->info();
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
  const cl_device_id devices[] = {id};
  ContextHandle context(create(cl().clCreateContext, &properties[0], 1, &devices[0], &report, nullptr));
  return make_device(std::move(context), std::move(device), index);
}

SharedDevice borrow_device(cl_context context, cl_device_id id, int index) {
  const auto devices = query_list<cl_device_id>(cl().clGetContextInfo, context, CL_CONTEXT_DEVICES);
  if (std::ranges::find(devices, id) == devices.end())
    throw Error(Errc::usage, "cannot borrow this cl_context: the cl_device_id is not one of its devices");
  DeviceHandle device = retain<DeviceHandle>(cl().clRetainDevice, id);
  return make_device(retain<ContextHandle>(cl().clRetainContext, context), std::move(device), index);
}

std::string OpenclDevice::build_identity() const {
  return context_->guarded([&] { return opencl::build_identity(context_->device()); });
}

SharedBuffer OpenclDevice::allocate(size_t bytes) {
  return context_->guarded([&] { return allocate_memory(context_, bytes); });
}

SharedBuffer OpenclDevice::allocate_staging(size_t bytes) {
  return context_->guarded([&] { return allocate_staging_memory(context_, bytes); });
}

SharedBuffer OpenclDevice::wrap(void* host, size_t bytes) {
  return context_->guarded([&] { return wrap_memory(context_, host, bytes); });
}

SharedBuffer OpenclDevice::borrow_buffer(void* native, size_t bytes) {
  return context_->guarded([&] { return borrow_memory(context_, static_cast<cl_mem>(native), bytes); });
}

SharedQueue OpenclDevice::queue(bool timing) {
  return context_->guarded([&] { return create_queue(context_, timing); });
}

SharedQueue OpenclDevice::borrow_queue(void* native) {
  return context_->guarded([&] { return opencl::borrow_queue(context_, static_cast<cl_command_queue>(native)); });
}

SharedProgram OpenclDevice::build(const BuildRequest& request) {
  return context_->guarded([&] { return build_program(context_, request); });
}

SharedProgram OpenclDevice::load(const BuildRequest& request, std::span<const std::byte> binary) {
  return context_->guarded([&] { return load_program(context_, request, binary); });
}

KernelAttributes OpenclDevice::attributes(Program& program, const std::string& kernel) {
  return context_->guarded([&] {
    auto* const own = dynamic_cast<KernelProgram*>(&program);
    if (!own || own->context().get() != context_->get())
      throw Error(Errc::usage, "kernel \"" + kernel + "\" was built for another device");
    return own->attributes(kernel);
  });
}

}  // namespace axisloom::device::opencl
