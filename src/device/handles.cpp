// The public handles: each forwards to the backend interface's object that it holds, and says so when it holds none.
#include "core/text.hpp"
#include "device/device.hpp"
#include "device/process.hpp"

#include <mutex>
#include <utility>
#include <vector>

namespace axisloom {

void device::keep_forever(SharedBuffer buffer) {
  static std::mutex mutex;
  static auto& kept = *new std::vector<SharedBuffer>;
  const std::lock_guard lock(mutex);
  kept.push_back(std::move(buffer));
}

namespace {

auto& require(const auto& impl, const char* what, const char* remedy) {
  if (!impl) throw Error(Errc::usage, concat("this ", what, " is empty"), remedy);
  return *impl;
}

device::Device& impl_of(const Device& device) {
  return require(device.impl(), "Device", "make it with Device::open, borrow_opencl or borrow_cuda");
}
device::Queue& impl_of(const Queue& queue) {
  return require(queue.impl(), "Queue", "make it with Device::queue or borrow_queue");
}
device::Buffer& impl_of(const Buffer& buffer) {
  return require(buffer.impl(), "Buffer", "make it with Device::allocate, wrap or borrow_buffer");
}

std::vector<device::SharedEvent> impls_of(std::span<const Event> events) {
  std::vector<device::SharedEvent> impls;
  impls.reserve(events.size());
  for (const Event& event : events)
    if (event.impl()) impls.push_back(event.impl());
  return impls;
}

Device borrowed(const auto& borrow) {
  device::require_same_process();
  Device device(borrow());
  device::remember_process();
  return device;
}

}  // namespace

void Event::wait() const {
  if (impl_) impl_->wait();
}

bool Event::done() const {
  return !impl_ || impl_->done();
}

double Event::seconds() const {
  return require(impl_, "Event", "use an event of a queue that was made with timing").seconds();
}

size_t Buffer::bytes() const {
  return impl_ ? impl_->bytes() : 0;
}

Event Queue::write(const Buffer& to, size_t offset, std::span<const std::byte> from,
                   std::span<const Event> wait) const {
  return Event(impl_of(*this).write(impl_of(to), offset, from, impls_of(wait)));
}

Event Queue::read(const Buffer& from, size_t offset, std::span<std::byte> to, std::span<const Event> wait) const {
  return Event(impl_of(*this).read(impl_of(from), offset, to, impls_of(wait)));
}

void Queue::finish() const {
  impl_of(*this).finish();
}

Device Device::open(std::string_view spec) {
  return Device(device::open(spec));
}

Device Device::borrow_opencl(void* context, void* id) {
  return borrowed([&] { return device::borrow_opencl(context, id); });
}

Device Device::borrow_cuda(void* context) {
  return borrowed([&] { return device::borrow_cuda(context); });
}

const DeviceInfo& Device::info() const {
  return impl_of(*this).info();
}

Buffer Device::allocate(size_t bytes) const {
  return Buffer(impl_of(*this).allocate(bytes));
}

Buffer Device::wrap(void* host, size_t bytes) const {
  device::Device& impl = impl_of(*this);
  auto buffer = impl.wrap(host, bytes);
  if (!buffer)
    throw Error(Errc::unsupported, {.message = "this device cannot use host memory in place",
                                    .device = impl.info().label(),
                                    .remedy = "allocate a buffer and write to it"});
  return Buffer(std::move(buffer));
}

Buffer Device::borrow_buffer(void* native, size_t bytes) const {
  return Buffer(impl_of(*this).borrow_buffer(native, bytes));
}

Queue Device::queue(bool timing) const {
  return Queue(impl_of(*this).queue(timing));
}

Queue Device::borrow_queue(void* native) const {
  return Queue(impl_of(*this).borrow_queue(native));
}

}  // namespace axisloom
