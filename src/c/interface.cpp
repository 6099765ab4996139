// The functions of axisloom.h but those of errors: each is a call of the C++ interface behind a guard.
#include <axisloom/call.hpp>
#include <axisloom/plan.hpp>
#include <axisloom/version.hpp>

#include "c/failure.hpp"
#include "c/operation.hpp"
#include "c/tensor.hpp"
#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/short_list.hpp"
#include "core/text.hpp"

#include <vector>

using namespace axisloom;

struct axl_device {
  Device device;
  std::string label = device.info().label();
};
struct axl_queue {
  Queue queue;
};
struct axl_plan {
  Plan plan;
};

namespace axisloom::c {
namespace {

constexpr size_t usual = 4;  // arrays of a call; more are kept on the heap
using Tensors = std::span<const DLTensor* const>;

Tensors tensors_of(const DLTensor* const* inputs, size_t count) {
  if (count > 0) required(inputs, "the list of inputs");
  return {inputs, count};
}

/// A view of memory of that alignment in bytes; 0: as its elements are. Planning refuses what is no power of two, or
/// too large a number to be one.
View aligned(View view, size_t bytes) {
  view.align = bytes > 0 ? i64(bytes) : i64(size_of(core::component_of(view.dtype)));
  return view;
}

std::vector<View> views_of(Tensors inputs, size_t alignment) {
  std::vector<View> views;
  for (const DLTensor* tensor : inputs) views.push_back(aligned(array_of(tensor, views.size()).view(), alignment));
  return views;
}

Device device_of(const axl_device* device) {
  return device ? device->device : Device::open("host");
}

/// Hands over what was made: it is the caller's from here on.
template <class Handle>
void give(Handle** place, auto&& made) {
  *place = new Handle{std::forward<decltype(made)>(made)};
}

void require_count(const Plan& plan, size_t inputs) {
  if (inputs + 1 == plan.views().size()) return;
  throw Error(Errc::usage,
              {.message = concat("needs ", plan.views().size() - 1, " inputs, got ", inputs), .op = plan.report().op});
}

void require_planned(const View& planned, const View& given, Role role) {
  if (same_layout(planned, given)) return;
  throw Error(Errc::shape, concat(text_of(role), " is ", to_string(given), ", planned was ", to_string(planned)),
              "make a plan for arrays like this one");
}

/// The address of a tensor in host memory that is as planned.
const void* planned_host(const View& planned, const DLTensor* tensor, Role role) {
  const InputArray array = host_array_of(tensor, role);
  require_planned(planned, array.view(), role);
  return array.begin();
}

/// The same of a tensor in the device's own memory, as a buffer.
Buffer planned_buffer(const Device& device, const View& planned, const DLTensor* tensor, Role role) {
  const InputArray array = array_of(tensor, role);
  require_memory_of(device, *tensor, role);
  require_planned(planned, array.view(), role);
  if (planned.count() == 0) return {};
  const void* const native = array.begin() ? array.begin() : tensor->data;  // a cl_mem has no beginning of its own
  return device.borrow_buffer(const_cast<void*>(native), size_t(planned.bounds().high) * size_of(planned.dtype));
}

void run_planned(const Plan& plan, Tensors inputs, const DLTensor* output) {
  require_count(plan, inputs.size());
  core::ShortList<const void*, usual> begins(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) begins.push_back(planned_host(plan.views()[i], inputs[i], i));
  const void* const out = planned_host(plan.views().back(), output, the_output);
  plan.run({begins.data(), begins.size()}, const_cast<void*>(out));
}

void enqueue_planned(const Plan& plan, const Queue& queue, Tensors inputs, const DLTensor* output) {
  require_count(plan, inputs.size());
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < inputs.size(); ++i)
    buffers.push_back(planned_buffer(plan.device(), plan.views()[i], inputs[i], i));
  buffers.push_back(planned_buffer(plan.device(), plan.views().back(), output, the_output));
  plan.run(queue, buffers);
}

void run_once(const Operation& op, Tensors inputs, const DLTensor* output, const Device& device) {
  core::ShortList<InputArray, usual> arrays(inputs.size());
  for (const DLTensor* tensor : inputs) arrays.push_back(host_array_of(tensor, arrays.size()));
  const InputArray out = host_array_of(output, the_output);
  run_into(OutputArray(out.view(), const_cast<void*>(out.begin())), op, {arrays.data(), arrays.size()}, device);
}

}  // namespace
}  // namespace axisloom::c

using namespace axisloom::c;

const char* axl_version() {
  return version().data();  // a literal, which ends with a 0
}

axl_status axl_result(const axl_operation* operation, const DLTensor* const* inputs, size_t count,
                      axl_array_type* result) {
  return guarded([&] {
    axl_array_type& type = required(result, "the result");
    type = type_of(result_view(operation_of(operation), views_of(tensors_of(inputs, count), 0)));
  });
}

axl_status axl_device_open(const char* specification, axl_device** device) {
  return guarded([&] { give(&required(device, "the device"), Device::open(specification ? specification : "auto")); });
}

axl_status axl_device_borrow_cuda(void* context, axl_device** device) {
  return guarded([&] { give(&required(device, "the device"), Device::borrow_cuda(context)); });
}

axl_status axl_device_borrow_opencl(void* context, void* id, axl_device** device) {
  return guarded([&] { give(&required(device, "the device"), Device::borrow_opencl(context, id)); });
}

const char* axl_device_label(const axl_device* device) {
  return device ? device->label.c_str() : nullptr;
}

void axl_device_free(axl_device* device) {
  delete device;
}

axl_status axl_queue_create(const axl_device* device, axl_queue** queue) {
  return guarded([&] { give(&required(queue, "the queue"), required(device, "the device").device.queue()); });
}

axl_status axl_queue_borrow(const axl_device* device, void* native, axl_queue** queue) {
  return guarded(
      [&] { give(&required(queue, "the queue"), required(device, "the device").device.borrow_queue(native)); });
}

axl_status axl_queue_finish(const axl_queue* queue) {
  return guarded([&] { required(queue, "the queue").queue.finish(); });
}

void axl_queue_free(axl_queue* queue) {
  delete queue;
}

axl_status axl_run(const axl_operation* operation, const DLTensor* const* inputs, size_t count, const DLTensor* output,
                   const axl_device* device) {
  return guarded([&] {
    run_once(operation_of(operation), tensors_of(inputs, count), output, device ? device->device : Device());
  });
}

axl_status axl_plan_create(const axl_operation* operation, const DLTensor* const* inputs, size_t count,
                           const DLTensor* output, size_t alignment, const axl_device* device, axl_plan** plan) {
  return guarded([&] {
    axl_plan** const place = &required(plan, "the plan");
    const Operation op = operation_of(operation);
    std::vector<View> views = views_of(tensors_of(inputs, count), alignment);
    views.push_back(aligned(output ? array_of(output, the_output).view() : result_view(op, views), alignment));
    give(place, axisloom::plan(op, views, device_of(device)));
  });
}

axl_status axl_plan_result(const axl_plan* plan, axl_array_type* result) {
  return guarded([&] { required(result, "the result") = type_of(required(plan, "the plan").plan.views().back()); });
}

axl_status axl_plan_run(const axl_plan* plan, const DLTensor* const* inputs, size_t count, const DLTensor* output) {
  return guarded([&] { run_planned(required(plan, "the plan").plan, tensors_of(inputs, count), output); });
}

axl_status axl_plan_enqueue(const axl_plan* plan, const axl_queue* queue, const DLTensor* const* inputs, size_t count,
                            const DLTensor* output) {
  return guarded([&] {
    enqueue_planned(required(plan, "the plan").plan, required(queue, "the queue").queue, tensors_of(inputs, count),
                    output);
  });
}

void axl_plan_free(axl_plan* plan) {
  delete plan;
}
