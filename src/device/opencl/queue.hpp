// OpenCL command queues and the events of their commands.
#pragma once

#include "device/opencl/memory.hpp"
#include "device/opencl/program.hpp"

namespace axisloom::device::opencl {

/// What a queue shares with its events, which may outlive it.
struct QueueCore {
  SharedContext context;
  QueueHandle handle;
  bool timing = false;

  /// Waits as Queue::drain does.
  void drain() noexcept;
};

class CommandEvent final : public Event {
 public:
  explicit CommandEvent(std::shared_ptr<QueueCore> queue) : queue_(std::move(queue)) {}
  /// Made before its command is queued, since nothing may fail afterwards.
  void queued(EventHandle event) noexcept { event_ = std::move(event); }
  void wait() override;
  bool done() override;
  double seconds() override;
  double seconds_since(Event& earlier) override;
  void* native() const noexcept override { return event_.get(); }

  cl_event get() const noexcept { return event_.get(); }
  const QueueCore& queue() const noexcept { return *queue_; }
  /// Hands the command to the device: a poll, or a command of another queue that waits for it, could else wait forever.
  void flush();

 private:
  cl_int status() const;
  double seconds_between(cl_event from, cl_profiling_info from_what);

  std::shared_ptr<QueueCore> queue_;
  EventHandle event_;
  std::atomic<bool> flushed_{false};
};

class CommandQueue final : public Queue {
 public:
  explicit CommandQueue(std::shared_ptr<QueueCore> core) : core_(std::move(core)) {}
  SharedEvent launch(Program& program, const std::string& kernel, const Geometry& geometry, std::span<const Arg> args,
                     Waits waits) override;
  SharedEvent write(Buffer& to, size_t offset, std::span<const std::byte> from, Waits waits) override;
  SharedEvent read(Buffer& from, size_t offset, std::span<std::byte> to, Waits waits) override;
  SharedEvent copy(Buffer& from, size_t from_offset, Buffer& to, size_t to_offset, size_t bytes, Waits waits) override;
  SharedEvent fill(Buffer& to, size_t offset, size_t bytes, std::byte value, Waits waits) override;
  void flush() override;
  void finish() override;
  void drain() noexcept override { core_->drain(); }
  void* native() const noexcept override { return core_->handle.get(); }

 private:
  MemoryObject& own(Buffer& buffer) const;
  MemoryObject& unmapped(Buffer& buffer) const;
  std::vector<cl_event> native_waits(Waits waits) const;
  /// An empty command: what a transfer of no bytes and a launch of no groups become.
  SharedEvent marker(Waits waits);
  SharedEvent copy_mapped(MemoryObject& source, size_t from_offset, MemoryObject& target, size_t to_offset,
                          size_t bytes, Waits waits);
  void set_arguments(const KernelProgram::Lease& kernel, const std::string& name, std::span<const Arg> args) const;

  /// Calls a clEnqueue function: `args` are its arguments between the queue and the wait list.
  template <typename Pointer, typename... Args>
  SharedEvent enqueue(const Entry<Pointer>& entry, Waits waits, Args... args);
  template <typename Calls>
  auto or_drained(Calls&& calls);

  std::shared_ptr<QueueCore> core_;
};

SharedQueue create_queue(const SharedContext& context, bool timing);
SharedQueue borrow_queue(const SharedContext& context, cl_command_queue queue);

}  // namespace axisloom::device::opencl
