// Queueing commands: checks of what is given, then one OpenCL call each; waiting for them and reading their times.
#include "device/opencl/queue.hpp"

#include "device/opencl/memory.hpp"
#include "device/opencl/program.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace axisloom::device::opencl {

namespace {

void require_range(const char* what, const Buffer& buffer, size_t offset, size_t bytes) {
  if (offset <= buffer.bytes() && bytes <= buffer.bytes() - offset) return;
  throw Error(Errc::usage, concat(what, " of ", bytes, " bytes at offset ", offset, " exceeds the buffer of ",
                                  buffer.bytes(), " bytes"));
}

size_t global_size(const Geometry& geometry, const std::string& kernel) {
  if (geometry.items == 0)
    throw Error(Errc::usage, "kernel \"" + kernel + "\" is launched with groups of 0 work-items");
  if (geometry.cluster > 1)
    throw Error(Errc::unsupported, "kernel \"" + kernel + "\" asks for clusters of groups, which OpenCL does not have");
  if (geometry.groups > std::numeric_limits<size_t>::max() / geometry.items)
    throw Error(Errc::usage, "kernel \"" + kernel + "\" is launched with more work-items than 64 bits can count");
  return size_t(geometry.groups) * geometry.items;
}

constexpr size_t fill_width = 16;  // bytes of a fill's pattern

// So many times a byte, in memory that outlives every command.
const std::byte* repeated(std::byte value) {
  static const auto table = [] {
    std::array<std::byte, 256 * fill_width> bytes{};
    for (size_t i = 0; i < bytes.size(); ++i) bytes[i] = std::byte(i / fill_width);
    return bytes;
  }();
  return table.data() + std::to_integer<size_t>(value) * fill_width;
}

/// What a queue shares with its events, which may outlive it.
struct QueueCore {
  SharedContext context;
  QueueHandle handle;
  bool timing = false;

  /// Waits as Queue::drain does.
  void drain() noexcept {
    if (forked()) return;
    const Functions& runtime = cl();
    if (runtime.clFinish(handle) == CL_SUCCESS) return;
    // A runtime that cannot finish a queue may yet be able to wait for its last command.
    cl_event last = nullptr;
    if (runtime.clEnqueueMarkerWithWaitList(handle, 0, nullptr, &last) != CL_SUCCESS) return;
    const EventHandle owner(last);
    runtime.clWaitForEvents(1, &last);
  }
};

class CommandEvent final : public Event {
 public:
  explicit CommandEvent(std::shared_ptr<QueueCore> queue) : queue_(std::move(queue)) {}
  /// Made before its command is queued, since nothing may fail afterwards.
  void queued(EventHandle event) noexcept { event_ = std::move(event); }

  void wait() override {
    try {
      queue_->context->guarded([&] {
        const auto& entry = cl().clWaitForEvents;
        const cl_event event = event_;
        const cl_int code = entry(1, &event);
        if (code == CL_EXEC_STATUS_ERROR_FOR_EVENTS_IN_WAIT_LIST) status();
        check(entry, code);
      });
    } catch (...) {
      queue_->drain();  // the caller may free the memory of commands that are still under way
      throw;
    }
  }

  bool done() override {
    return queue_->context->guarded([&] {
      flush();
      return status() == CL_COMPLETE;
    });
  }

  double seconds() override { return seconds_between(event_, CL_PROFILING_COMMAND_START); }

  double seconds_since(Event& earlier) override {
    return seconds_between(static_cast<cl_event>(earlier.native()), CL_PROFILING_COMMAND_END);
  }

  void* native() const noexcept override { return event_; }

  cl_event get() const noexcept { return event_; }
  const QueueCore& queue() const noexcept { return *queue_; }

  /// Hands the command to the device: a poll, or a command of another queue that waits for it, could else wait forever.
  void flush() {
    if (flushed_.load(std::memory_order_acquire)) return;
    call(cl().clFlush, queue_->handle);
    flushed_.store(true, std::memory_order_release);
  }

 private:
  // Negative when the command failed: the code is then that of the command, whatever the call that waited says.
  cl_int status() const {
    const auto status = query<cl_int>(cl().clGetEventInfo, event_, CL_EVENT_COMMAND_EXECUTION_STATUS);
    if (status < 0) throw call_error(cl().clWaitForEvents.name, status, {.message = "a queued command failed"});
    return status;
  }

  double seconds_between(cl_event from, cl_profiling_info from_what) {
    if (!queue_->timing) throw Error(Errc::usage, "this event has no time", "make its queue with timing on");
    return queue_->context->guarded([&] {
      if (status() != CL_COMPLETE) throw Error(Errc::usage, "this command has not finished yet", "wait for it first");
      const auto at = [](cl_event event, cl_profiling_info what) {
        return query<cl_ulong>(cl().clGetEventProfilingInfo, event, what);
      };
      const cl_ulong start = at(from, from_what);
      const cl_ulong end = at(event_, CL_PROFILING_COMMAND_END);
      return end > start ? double(end - start) * 1e-9 : 0.0;
    });
  }

  std::shared_ptr<QueueCore> queue_;
  EventHandle event_;
  std::atomic<bool> flushed_{false};
};

class CommandQueue final : public Queue {
 public:
  CommandQueue(const SharedContext& context, QueueHandle handle, bool timing)
      : core_(std::make_shared<QueueCore>(QueueCore{context, std::move(handle), timing})) {}

  SharedEvent launch(Program& program, const std::string& kernel, const Geometry& geometry, std::span<const Arg> args,
                     Waits waits) override {
    return core_->context->guarded([&] {
      auto* const own_program = dynamic_cast<KernelProgram*>(&program);
      if (!own_program || own_program->context().get() != core_->context->get())
        throw Error(Errc::usage, "kernel \"" + kernel + "\" was built for another device or context than the queue");
      const size_t global[] = {global_size(geometry, kernel), 1};
      if (global[0] == 0) return marker(waits);
      const size_t local[] = {geometry.items, 1};
      const KernelProgram::Lease lease(*own_program, kernel);
      set_arguments(lease, kernel, args);
      return enqueue(cl().clEnqueueNDRangeKernel, waits, lease.get(), cl_uint{geometry.rehearsal ? 2u : 1u}, nullptr,
                     &global[0], &local[0]);
    });
  }

  SharedEvent write(Buffer& to, size_t offset, std::span<const std::byte> from, Waits waits) override {
    return core_->context->guarded([&] {
      const cl_mem memory = unmapped(to).get();
      require_range("a write", to, offset, from.size());
      if (from.empty()) return marker(waits);
      return enqueue(cl().clEnqueueWriteBuffer, waits, memory, CL_FALSE, offset, from.size(), from.data());
    });
  }

  SharedEvent read(Buffer& from, size_t offset, std::span<std::byte> to, Waits waits) override {
    return core_->context->guarded([&] {
      const cl_mem memory = unmapped(from).get();
      require_range("a read", from, offset, to.size());
      if (to.empty()) return marker(waits);
      return enqueue(cl().clEnqueueReadBuffer, waits, memory, CL_FALSE, offset, to.size(), to.data());
    });
  }

  SharedEvent copy(Buffer& from, size_t from_offset, Buffer& to, size_t to_offset, size_t bytes, Waits waits) override {
    MemoryObject& source = own(from);
    MemoryObject& target = own(to);
    require_range("a copy", from, from_offset, bytes);
    require_range("a copy", to, to_offset, bytes);
    if (source.mapped() || target.mapped()) return copy_mapped(source, from_offset, target, to_offset, bytes, waits);
    const bool overlap = from_offset < to_offset + bytes && to_offset < from_offset + bytes;
    if (source.get() == target.get() && overlap && bytes)
      throw Error(Errc::overlap, "a copy within one buffer overlaps itself");
    return core_->context->guarded([&] {
      if (bytes == 0) return marker(waits);
      return enqueue(cl().clEnqueueCopyBuffer, waits, source.get(), target.get(), from_offset, to_offset, bytes);
    });
  }

  SharedEvent fill(Buffer& to, size_t offset, size_t bytes, std::byte value, Waits waits) override {
    return core_->context->guarded([&] {
      const cl_mem memory = unmapped(to).get();
      require_range("a fill", to, offset, bytes);
      if (bytes == 0) return marker(waits);
      // Runtimes fill in steps of the pattern, and a wide one is many times as fast. What stands before and behind the
      // wide steps is written: with a pattern of one byte NVIDIA's (driver 580) faults from 2^31 on, fills another
      // place from 2^32 on, and never ends when 2^31 bytes or more are to be filled.
      const std::byte* const pattern = repeated(value);
      const size_t head = std::min(bytes, (fill_width - offset % fill_width) % fill_width);
      const size_t tail = (bytes - head) % fill_width, body = bytes - head - tail;
      SharedEvent last;
      const auto put = [&](size_t from, size_t length) {
        if (length > 0)
          last = enqueue(cl().clEnqueueWriteBuffer, last ? Waits{} : waits, memory, CL_FALSE, from, length, pattern);
      };
      return or_drained([&] {
        put(offset, head);
        if (body > 0)
          last = enqueue(cl().clEnqueueFillBuffer, last ? Waits{} : waits, memory, pattern, fill_width, offset + head,
                         body);
        put(offset + head + body, tail);
        return last;
      });
    });
  }

  void flush() override {
    core_->context->guarded([&] { call(cl().clFlush, core_->handle); });
  }

  void finish() override {
    or_drained([&] { core_->context->guarded([&] { call(cl().clFinish, core_->handle); }); });
  }

  void drain() noexcept override { core_->drain(); }
  void* native() const noexcept override { return core_->handle; }

 private:
  MemoryObject& own(Buffer& buffer) const {
    auto* const memory = dynamic_cast<MemoryObject*>(&buffer);
    if (memory && memory->context().get() == core_->context->get()) return *memory;
    throw Error(Errc::usage, {.message = "a buffer belongs to another device or context than the queue",
                              .device = core_->context->info.label(),
                              .remedy = "allocate it from the device of the queue"});
  }

  MemoryObject& unmapped(Buffer& buffer) const {
    MemoryObject& memory = own(buffer);
    if (!memory.mapped()) return memory;
    throw Error(Errc::usage, "a staging buffer is host memory on this device and can only be copied from or to",
                "use Buffer::host(), or copy to an allocated buffer");
  }

  std::vector<cl_event> native_waits(Waits waits) const {
    std::vector<cl_event> list;
    list.reserve(waits.size());
    for (const SharedEvent& wait : waits) {
      if (!wait) continue;
      auto* const event = dynamic_cast<CommandEvent*>(wait.get());
      if (!event || event->queue().context->get() != core_->context->get())
        throw Error(Errc::usage, "an event to wait for belongs to another device or context than the queue",
                    "wait for it on the host before queueing");
      if (event->queue().handle != core_->handle) event->flush();
      list.push_back(event->get());
    }
    return list;
  }

  /// Calls a clEnqueue function: `args` are its arguments between the queue and the wait list.
  SharedEvent enqueue(const auto& entry, Waits waits, const auto&... args) {
    const std::vector<cl_event> list = native_waits(waits);
    auto made = std::make_shared<CommandEvent>(core_);
    cl_event event = nullptr;
    call(entry, core_->handle, args..., cl_uint(list.size()), list.empty() ? nullptr : list.data(), &event);
    made->queued(EventHandle(event));
    return made;
  }

  /// An empty command: what a transfer of no bytes and a launch of no groups become.
  SharedEvent marker(Waits waits) { return enqueue(cl().clEnqueueMarkerWithWaitList, waits); }

  // Mapped memory is host memory until it is unmapped: copying it is a write or a read.
  SharedEvent copy_mapped(MemoryObject& source, size_t from_offset, MemoryObject& target, size_t to_offset,
                          size_t bytes, Waits waits) {
    MemoryObject& staging = source.mapped() ? source : target;
    auto* const host = static_cast<std::byte*>(staging.host()) + (source.mapped() ? from_offset : to_offset);
    auto event = source.mapped() ? write(target, to_offset, {host, bytes}, waits)
                                 : read(source, from_offset, {host, bytes}, waits);
    return or_drained([&] {
      staging.keep_mapped_until(event);
      flush();
      return event;
    });
  }

  void set_arguments(const KernelProgram::Lease& kernel, const std::string& name, std::span<const Arg> args) const {
    if (args.size() != kernel.arguments())
      throw Error(Errc::usage,
                  concat("kernel \"", name, "\" takes ", kernel.arguments(), " arguments and was given ", args.size()));
    const auto& entry = cl().clSetKernelArg;
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].map)
        throw Error(Errc::unsupported, "kernel \"" + name + "\" takes a tensor map, which OpenCL does not have");
      const cl_mem memory = args[i].buffer ? unmapped(*args[i].buffer).get() : nullptr;
      const size_t size = memory ? sizeof memory : args[i].size;
      const cl_int code = entry(kernel.get(), cl_uint(i), size, memory ? &memory : args[i].data);
      if (code == CL_SUCCESS) continue;
      throw call_error(entry.name, code,
                       {.message = concat("argument ", i, " of kernel \"", name, "\", given ",
                                          memory ? "a buffer" : concat(size, " bytes by value"), ", was refused")});
    }
  }

  std::shared_ptr<QueueCore> core_;
};

}  // namespace

SharedQueue create_queue(const SharedContext& context, bool timing) {
  const cl_command_queue_properties properties = timing ? CL_QUEUE_PROFILING_ENABLE : 0;
  QueueHandle handle(create(cl().clCreateCommandQueue, context->get(), context->device(), properties));
  return std::make_shared<CommandQueue>(context, std::move(handle), timing);
}

SharedQueue borrow_queue(const SharedContext& context, cl_command_queue queue) {
  const auto refuse = [](const std::string& why) {
    throw Error(Errc::usage, "cannot borrow this cl_command_queue: " + why);
  };
  if (!queue) refuse("it is null");
  const auto& info = cl().clGetCommandQueueInfo;
  cl_context its_context = nullptr;
  const cl_int code = info(queue, CL_QUEUE_CONTEXT, sizeof its_context, &its_context, nullptr);
  if (code == CL_INVALID_COMMAND_QUEUE) refuse("it is none");  // which says nothing about the device
  check(info, code);
  if (its_context != context->get()) refuse("it belongs to another context");
  if (query<cl_device_id>(info, queue, CL_QUEUE_DEVICE) != context->device()) refuse("it belongs to another device");
  const auto properties = query<cl_command_queue_properties>(info, queue, CL_QUEUE_PROPERTIES);
  if (properties & CL_QUEUE_OUT_OF_ORDER_EXEC_MODE_ENABLE) refuse("its commands may run out of order");
  const bool timing = properties & CL_QUEUE_PROFILING_ENABLE;
  QueueHandle handle = retain<QueueHandle>(cl().clRetainCommandQueue, queue);
  return std::make_shared<CommandQueue>(context, std::move(handle), timing);
}

}  // namespace axisloom::device::opencl
