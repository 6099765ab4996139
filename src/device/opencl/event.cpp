// Waiting for OpenCL commands and reading their times.
#include "device/opencl/queue.hpp"

namespace axisloom::device::opencl {

void CommandEvent::flush() {
  if (flushed_.load(std::memory_order_acquire)) return;
  call(cl().clFlush, queue_->handle.get());
  flushed_.store(true, std::memory_order_release);
}

// Negative when the command failed: the code is then that of the command, whatever the call that waited says.
cl_int CommandEvent::status() const {
  const auto status = query<cl_int>(cl().clGetEventInfo, event_.get(), CL_EVENT_COMMAND_EXECUTION_STATUS);
  if (status < 0) throw call_error(cl().clWaitForEvents.name, status, {.message = "a queued command failed"});
  return status;
}

void CommandEvent::wait() {
  try {
    queue_->context->guarded([&] {
      const auto& entry = cl().clWaitForEvents;
      const cl_event event = event_.get();
      const cl_int code = entry.function(1, &event);
      if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) status();
      if (code != CL_SUCCESS) throw call_error(entry.name, code);
    });
  } catch (...) {
    queue_->drain();  // the caller may free the memory of commands that are still under way
    throw;
  }
}

bool CommandEvent::done() {
  return queue_->context->guarded([&] {
    flush();
    return status() == CL_COMPLETE;
  });
}

double CommandEvent::seconds() {
  return seconds_between(event_.get(), CL_PROFILING_COMMAND_START);
}

double CommandEvent::seconds_since(Event& earlier) {
  return seconds_between(static_cast<cl_event>(earlier.native()), CL_PROFILING_COMMAND_END);
}

double CommandEvent::seconds_between(cl_event from, cl_profiling_info from_what) {
  if (!queue_->timing) throw Error(Errc::usage, "this event has no time", "make its queue with timing on");
  return queue_->context->guarded([&] {
    if (status() != CL_COMPLETE) throw Error(Errc::usage, "this command has not finished yet", "wait for it first");
    const auto at = [](cl_event event, cl_profiling_info what) {
      return query<cl_ulong>(cl().clGetEventProfilingInfo, event, what);
    };
    const cl_ulong start = at(from, from_what);
    const cl_ulong end = at(event_.get(), CL_PROFILING_COMMAND_END);
    return end > start ? double(end - start) * 1e-9 : 0.0;
  });
}

}  // namespace axisloom::device::opencl
