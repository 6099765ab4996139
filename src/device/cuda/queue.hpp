// A CUDA stream, of ours or the caller's, and the events of its commands.
#pragma once

#include "core/not_copied.hpp"
#include "device/cuda/context.hpp"
#include "device/cuda/memory.hpp"
#include "device/cuda/program.hpp"

#include <mutex>

namespace axisloom::device::cuda {

/// A CUevent from the context's store, given back when it goes.
class EventHandle : core::NotCopied {
 public:
  EventHandle(SharedContext context, bool timing)
      : context_(std::move(context)), timing_(timing), event_(context_->take_event(timing)) {}
  ~EventHandle() { context_->give_event(event_, timing_); }

  CUevent get() const noexcept { return event_; }
  const Context& context() const noexcept { return *context_; }

 private:
  SharedContext context_;
  bool timing_;
  CUevent event_;
};

class CudaEvent final : public Event {
 public:
  /// For a command of the queue of that number; with timing there is an event before the command too.
  CudaEvent(const SharedContext& context, bool timing, u64 queue);
  void wait() override;
  bool done() override;
  double seconds() override;
  double seconds_since(Event& earlier) override;
  void* native() const noexcept override { return end_.get(); }

  void record_start(CUstream stream);
  void record_end(CUstream stream);
  CUevent end() const noexcept { return end_.get(); }
  u64 queue() const noexcept { return queue_; }
  const Context& context() const noexcept { return end_.context(); }

 private:
  double seconds_from(CUevent begin);

  EventHandle end_;
  std::optional<EventHandle> start_;
  u64 queue_;
};

class CudaQueue final : public Queue {
 public:
  /// A new stream that does not synchronise with the legacy default stream.
  CudaQueue(SharedContext context, bool timing);
  /// The caller's stream; null is the legacy default stream.
  CudaQueue(SharedContext context, CUstream borrowed);
  ~CudaQueue() override;

  SharedEvent launch(Program& program, const std::string& kernel, const Geometry& geometry, std::span<const Arg> args,
                     Waits waits) override;
  SharedEvent write(Buffer& to, size_t offset, std::span<const std::byte> from, Waits waits) override;
  SharedEvent read(Buffer& from, size_t offset, std::span<std::byte> to, Waits waits) override;
  SharedEvent copy(Buffer& from, size_t from_offset, Buffer& to, size_t to_offset, size_t bytes, Waits waits) override;
  SharedEvent fill(Buffer& to, size_t offset, size_t bytes, std::byte value, Waits waits) override;
  void flush() override;
  void finish() override;
  void drain() noexcept override;
  void* native() const noexcept override { return stream_; }

 private:
  template <typename Enqueue>
  SharedEvent command(Waits waits, Enqueue&& enqueue);
  void wait_for(Event& event);
  void start(Kernel& kernel, const Geometry& geometry, std::span<const Arg> args);

  SharedContext context_;
  u64 number_;
  bool timing_ = false;
  bool owned_ = false;
  CUstream stream_ = nullptr;
  std::mutex mutex_;  // keeps a command together with its waits and events
};

}  // namespace axisloom::device::cuda
