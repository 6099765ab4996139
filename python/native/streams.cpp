#include "native/streams.hpp"

#include "device/device.hpp"

#include <map>
#include <string>
#include <utility>

namespace axisloom::python {
namespace {

void* handle_of(const nb::object& number) {
  void* const handle = PyLong_AsVoidPtr(number.ptr());
  if (!handle && PyErr_Occurred()) throw nb::python_error();
  return handle;
}

}  // namespace

const Device& device_named(std::string_view spec) {
  static auto& devices = *new std::map<std::string, Device, std::less<>>;
  const auto found = devices.find(spec);
  if (found != devices.end()) return found->second;
  return devices.emplace(std::string(spec), Device::open(spec)).first->second;
}

const Device& cuda_device(int ordinal) {
  return device_named("cuda:" + std::to_string(ordinal));
}

void* stream_handle(PyObject* stream) {
  static const Name protocol("__cuda_stream__"), torch("cuda_stream"), cupy("ptr");
  if (PyLong_Check(stream)) return handle_of(nb::borrow(stream));
  if (const nb::object method = attribute_or_none(stream, protocol); !method.is_none()) return handle_of(method()[1]);
  for (const Name& name : {torch, cupy})
    if (const nb::object handle = attribute_or_none(stream, name); !handle.is_none()) return handle_of(handle);
  throw_type_error("stream= has to be an int or an object with a CUDA stream, not %s", type_name(stream).c_str());
}

const Queue& queue_on(const Device& device, void* stream) {
  static auto& queues = *new std::map<std::pair<const void*, void*>, Queue>;
  Queue& queue = queues[{device.impl().get(), stream}];
  if (!queue.impl()) {
    queue = device.borrow_queue(stream);
    queue.impl()->omit_events();  // whoever gives a stream waits for that
  }
  return queue;
}

const Queue& own_queue(const Device& device) {
  static auto& queues = *new std::map<const void*, Queue>;
  Queue& queue = queues[device.impl().get()];
  if (!queue.impl()) queue = device.queue();
  return queue;
}

}  // namespace axisloom::python
