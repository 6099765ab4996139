// Operations, devices, queues and plans of axisloom.h: each function is a call of the C++ interface behind a guard.
#include <axisloom/call.hpp>
#include <axisloom/plan.hpp>
#include <axisloom/version.hpp>

#include "c/failure.hpp"
#include "c/handles.hpp"
#include "c/operation.hpp"
#include "c/tensor.hpp"
#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/short_list.hpp"
#include "core/text.hpp"

#include <memory>
#include <vector>

using namespace axisloom;

struct axl_plan {
  Plan plan;
};
struct axl_event {
  Event event;
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

void require_count(const Plan& plan, size_t inputs) {
  if (inputs + 1 == plan.views().size()) return;
  throw Error(Errc::usage,
              {.message = concat("needs ", plan.views().size() - 1, " inputs, got ", inputs), .op = plan.report().op});
}

void run_planned(const Plan& plan, Tensors inputs, const DLTensor* output) {
  require_count(plan, inputs.size());
  core::ShortList<const void*, usual> begins(inputs.size());
  for (size_t i = 0; i < inputs.size(); ++i) begins.push_back(planned_host(plan.views()[i], inputs[i], i));
  const void* const out = planned_host(plan.views().back(), output, the_output);
  plan.run({begins.data(), begins.size()}, const_cast<void*>(out));
}

Event enqueue_planned(const Plan& plan, const Queue& queue, Tensors inputs, const DLTensor* output,
                      std::span<const Event> wait = {}) {
  require_count(plan, inputs.size());
  std::vector<Buffer> buffers;
  for (size_t i = 0; i < inputs.size(); ++i)
    buffers.push_back(planned_buffer(plan.device(), plan.views()[i], inputs[i], i));
  buffers.push_back(planned_buffer(plan.device(), plan.views().back(), output, the_output));
  return plan.run(queue, buffers, {}, wait);
}

/// Events to wait for; null ones are done.
std::vector<Event> events_of(const axl_event* const* events, size_t count) {
  if (count > 0) required(events, "the list of events");
  std::vector<Event> list;
  for (const axl_event* event : std::span(events, count))
    if (event) list.push_back(event->event);
  return list;
}

IndexWidth index_of(std::int32_t index) {
  switch (index) {
    case AXL_INDEX_AUTOMATIC:
      return IndexWidth::automatic;
    case AXL_INDEX_32:
      return IndexWidth::bits32;
    case AXL_INDEX_64:
      return IndexWidth::bits64;
    default:
      throw Error(Errc::usage, concat("there are no indices of ", index, " bits"), "give 0, 32 or 64");
  }
}

PlanOptions options_of(const axl_plan_options* pointer) {
  PlanOptions options;
  const auto given = sized_copy(pointer, "the options have", "axl_plan_options");
  if (given.candidate) options.candidate = given.candidate;
  if (given.configuration_count > 0) required(given.configuration, "the configuration");
  for (const axl_length& value : std::span(given.configuration, given.configuration_count))
    options.configuration[&required(value.name, "the name of a tunable")] = value.value;
  options.index = index_of(given.index);
  options.in_place = given.in_place != 0;
  options.checked = given.checked != 0;
  return options;
}

Plan plan_for(const axl_operation* operation, Tensors inputs, const DLTensor* output, size_t alignment,
              const axl_device* device, const PlanOptions& options) {
  const Operation op = operation_of(operation);
  std::vector<View> views = views_of(inputs, alignment);
  views.push_back(aligned(output ? array_of(output, the_output).view() : result_view(op, views), alignment));
  return axisloom::plan(op, views, device_of(device), options);
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

axl_status axl_queue_create_timed(const axl_device* device, axl_queue** queue) {
  return guarded([&] { give(&required(queue, "the queue"), required(device, "the device").device.queue(true)); });
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
  return axl_plan_create_with(operation, inputs, count, output, alignment, device, nullptr, plan);
}

axl_status axl_plan_create_with(const axl_operation* operation, const DLTensor* const* inputs, size_t count,
                                const DLTensor* output, size_t alignment, const axl_device* device,
                                const axl_plan_options* options, axl_plan** plan) {
  return guarded([&] {
    axl_plan** const place = &required(plan, "the plan");
    give(place, plan_for(operation, tensors_of(inputs, count), output, alignment, device, options_of(options)));
  });
}

const char* axl_plan_candidate(const axl_plan* plan) {
  return plan ? plan->plan.report().candidate.c_str() : nullptr;
}

axl_status axl_plan_workspace(const axl_plan* plan, size_t* bytes) {
  return guarded(
      [&] { required(bytes, "the number of bytes") = required(plan, "the plan").plan.report().workspace_bytes; });
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

axl_status axl_plan_enqueue_after(const axl_plan* plan, const axl_queue* queue, const DLTensor* const* inputs,
                                  size_t count, const DLTensor* output, const axl_event* const* events,
                                  size_t event_count, axl_event** event) {
  return guarded([&] {
    std::unique_ptr<axl_event> made(event ? new axl_event : nullptr);  // before the work is under way
    const Event done = enqueue_planned(required(plan, "the plan").plan, required(queue, "the queue").queue,
                                       tensors_of(inputs, count), output, events_of(events, event_count));
    if (!event) return;
    made->event = done;
    *event = made.release();
  });
}

axl_status axl_event_wait(const axl_event* event) {
  return guarded([&] { required(event, "the event").event.wait(); });
}

axl_status axl_event_done(const axl_event* event, std::int32_t* done) {
  return guarded([&] { required(done, "the answer") = required(event, "the event").event.done() ? 1 : 0; });
}

axl_status axl_event_seconds(const axl_event* event, double* seconds) {
  return guarded([&] { required(seconds, "the number of seconds") = required(event, "the event").event.seconds(); });
}

void axl_event_free(axl_event* event) {
  delete event;
}

void axl_plan_free(axl_plan* plan) {
  delete plan;
}
