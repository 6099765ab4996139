// Commands on a stream. Nothing here allocates device memory or waits, so a stream under capture can be used.
#include "device/cuda/device.hpp"
#include "device/cuda/memory.hpp"
#include "device/cuda/program.hpp"
#include "device/cuda/tensor_map.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace axisloom::device::cuda {

namespace {

/// CUDA's limit for the first dimension of a grid.
constexpr u64 kMaxGroups = std::numeric_limits<i32>::max();

u64 next_number() {
  static std::atomic<u64> last{0};
  return ++last;
}

/// The arguments as the driver takes them: a list of addresses of values.
class ArgumentList {
 public:
  ArgumentList(std::span<const Arg> args, const Context& context) : addresses_(args.size()), pointers_(args.size()) {
    maps_.reserve(size_t(std::ranges::count_if(args, [](const Arg& arg) { return arg.map; })));
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].buffer) addresses_[i] = own<CudaBuffer>(*args[i].buffer, context, "buffer").address();
      pointers_[i] = args[i].buffer ? &addresses_[i] : const_cast<void*>(args[i].data);
      if (!args[i].map) continue;
      maps_.push_back(encode(context, addresses_[i], *args[i].map));
      pointers_[i] = &maps_.back();
    }
  }
  void** get() { return pointers_.data(); }

 private:
  std::vector<CUdeviceptr> addresses_;
  std::vector<CUtensorMap> maps_;
  std::vector<void*> pointers_;
};

void require_geometry(const Geometry& geometry, const std::string& kernel, const Context& context) {
  const Card& card = context.card;
  const auto refuse = [&](Errc code, const std::string& what) {
    context.refuse(code, "kernel " + kernel + " " + what);
  };
  if (geometry.groups > kMaxGroups)
    refuse(Errc::unsupported, concat("asks for ", geometry.groups, " groups; CUDA launches at most ", kMaxGroups));
  if (geometry.items == 0 || geometry.items > card.info.max_group)
    refuse(Errc::unsupported,
           concat("asks for groups of ", geometry.items, " work-items; the device has 1 to ", card.info.max_group));
  if (geometry.cluster <= 1) return;
  if (!card.clusters) refuse(Errc::unsupported, "asks for clusters, which the device does not have");
  if (geometry.groups % geometry.cluster != 0)
    refuse(Errc::usage,
           concat("asks for ", geometry.groups, " groups, not a multiple of its clusters of ", geometry.cluster));
}

struct GiveBack {
  SharedContext context;
  bool timing;
  void operator()(CUevent event) const noexcept { context->give_event(event, timing); }
};

/// A CUevent from the context's store, given back when it goes.
using EventHandle = std::unique_ptr<CUevent_st, GiveBack>;

EventHandle take_event(const SharedContext& context, bool timing) {
  return {context->take_event(timing), {context, timing}};
}

class CudaEvent final : public Event {
 public:
  /// For a command of the queue of that number; with timing there is an event before the command too.
  CudaEvent(const SharedContext& context, bool timing, u64 queue)
      : end_(take_event(context, timing)), start_(timing ? take_event(context, timing) : nullptr), queue_(queue) {}

  void wait() override {
    try {
      const auto scope = context().enter();
      context().call(&DriverApi::cuEventSynchronize, end_.get());
    } catch (...) {  // the caller may free the memory of commands that are still under way
      context().release([&](const DriverApi& api) { api.cuEventSynchronize(end_.get()); });
      throw;
    }
  }

  bool done() override {
    const auto scope = context().enter();
    const auto& entry = context().api->cuEventQuery;
    const CUresult result = entry(end_.get());
    if (result == kNotReady) return false;
    context().check(result, entry.name);
    return true;
  }

  double seconds() override { return seconds_from(start_.get()); }

  double seconds_since(Event& earlier) override {
    return seconds_from(start_ ? static_cast<CUevent>(earlier.native()) : nullptr);
  }

  void* native() const noexcept override { return end_.get(); }

  void record_start(CUstream stream) {
    if (start_) record(start_, stream);
  }

  void record_end(CUstream stream) { record(end_, stream); }

  CUevent end() const noexcept { return end_.get(); }
  u64 queue() const noexcept { return queue_; }
  const Context& context() const noexcept { return *end_.get_deleter().context; }

 private:
  void record(const EventHandle& event, CUstream stream) {
    context().call(&DriverApi::cuEventRecord, event.get(), stream);
  }

  double seconds_from(CUevent begin) {
    context().require_usable();
    if (begin == nullptr)
      throw Error(Errc::usage, "the event has no times: its queue was made without timing",
                  "make the queue with timing");
    wait();
    const auto scope = context().enter();
    float milliseconds = 0;
    context().call(&DriverApi::cuEventElapsedTime, &milliseconds, begin, end_.get());
    return double(milliseconds) * 1e-3;
  }

  EventHandle end_;
  EventHandle start_;  // null without timing
  u64 queue_;
};

class CudaQueue final : public Queue {
 public:
  /// A new stream that does not synchronise with the legacy default stream.
  CudaQueue(SharedContext context, bool timing, int priority)
      : context_(std::move(context)), timing_(timing), owned_(true) {
    const auto scope = context_->enter();
    context_->call(&DriverApi::cuStreamCreateWithPriority, &stream_, kStreamNonBlocking, priority);
  }

  /// The caller's stream; null is the legacy default stream.
  CudaQueue(SharedContext context, CUstream borrowed) : context_(std::move(context)), stream_(borrowed) {
    const auto scope = context_->enter();
    // Handles that stand for a default stream of whatever context is current: legacy (0 and 1) and per thread (2).
    if (reinterpret_cast<std::uintptr_t>(borrowed) <= 2) return;
    CUcontext its_context = nullptr;
    context_->call(&DriverApi::cuStreamGetCtx, borrowed, &its_context);
    if (its_context != context_->get()) context_->refuse(Errc::usage, "the borrowed stream belongs to another context");
  }

  ~CudaQueue() override {
    if (!owned_) return;
    context_->release([&](const DriverApi& api) { api.cuStreamDestroy_v2(stream_); });
  }

  SharedEvent launch(Program& program, const std::string& kernel, const Geometry& geometry, std::span<const Arg> args,
                     Waits waits) override {
    require_geometry(geometry, kernel, *context_);
    auto& own_program = own<CudaProgram>(program, *context_, "program");
    return command(waits, events_, [&] {
      Kernel& found = own_program.kernel(kernel);
      found.require_arguments(args);
      found.allow(geometry.local_bytes, geometry.cluster);
      if (geometry.groups > 0) start(found, geometry, args);
    });
  }

  SharedEvent write(Buffer& to, size_t offset, std::span<const std::byte> from, Waits waits) override {
    return transfer(waits, &DriverApi::cuMemcpyHtoDAsync_v2, part(to, offset, from.size()), from.data(), from.size());
  }

  SharedEvent read(Buffer& from, size_t offset, std::span<std::byte> to, Waits waits) override {
    return transfer(waits, &DriverApi::cuMemcpyDtoHAsync_v2, to.data(), part(from, offset, to.size()), to.size());
  }

  SharedEvent copy(Buffer& from, size_t from_offset, Buffer& to, size_t to_offset, size_t bytes, Waits waits) override {
    const CUdeviceptr source = part(from, from_offset, bytes);
    const CUdeviceptr target = part(to, to_offset, bytes);
    if (bytes > 0 && source < target + bytes && target < source + bytes)
      context_->refuse(Errc::overlap, "source and target of a copy share memory");
    return transfer(waits, &DriverApi::cuMemcpyAsync, target, source, bytes);
  }

  SharedEvent fill(Buffer& to, size_t offset, size_t bytes, std::byte value, Waits waits) override {
    return transfer(waits, &DriverApi::cuMemsetD8Async, part(to, offset, bytes), std::to_integer<u8>(value), bytes);
  }

  void copy_rows(const Rows& rows) {
    const auto side = [](const RowsSide& one) {
      return CUmemcpySide{.type = kMemoryDevice, .device = one.begin, .pitch = one.pitch, .height = one.height};
    };
    const CUmemcpy3D copy{
        .from = side(rows.from), .to = side(rows.to), .width = rows.width, .height = rows.count, .depth = rows.slices};
    command({}, false, [&] { context_->call(&DriverApi::cuMemcpy3DAsync_v2, &copy, stream_); });
  }

  SharedEvent mark() {
    return command({}, true, [] {});
  }

  void begin_after(const SharedEvent& event) {
    command({&event, 1}, false, [] {});
  }

  bool is_captured() {
    const auto scope = context_->enter();
    int status = kCaptureNone;
    context_->call(&DriverApi::cuStreamIsCapturing, stream_, &status);
    return status != kCaptureNone;
  }

  void omit_events() override { events_ = false; }

  /// The driver submits commands as they are queued.
  void flush() override { context_->require_usable(); }

  void finish() override {
    or_drained([&] {
      const auto scope = context_->enter();
      context_->call(&DriverApi::cuStreamSynchronize, stream_);
    });
  }

  void drain() noexcept override {
    context_->release([&](const DriverApi& api) { api.cuStreamSynchronize(stream_); });
  }

  void* native() const noexcept override { return stream_; }

 private:
  SharedEvent command(Waits waits, bool with_event, auto&& enqueue) {
    const auto scope = context_->enter();
    const auto event = with_event ? std::make_shared<CudaEvent>(context_, timing_, number_) : nullptr;
    const std::lock_guard lock(mutex_);
    for (const SharedEvent& wait : waits)
      if (wait) wait_for(*wait);
    if (event) event->record_start(stream_);
    enqueue();
    if (event) or_drained([&] { event->record_end(stream_); });
    return event;
  }

  SharedEvent transfer(Waits waits, auto DriverApi::*function, auto to, auto from, size_t bytes) {
    return command(waits, true, [&] {
      if (bytes > 0) context_->call(function, to, from, bytes, stream_);
    });
  }

  void wait_for(Event& event) {
    auto& command = own<CudaEvent>(event, *context_, "event to wait for");
    // A stream is ordered already; and one under capture may not wait for an event from before the capture.
    if (command.queue() == number_) return;
    context_->call(&DriverApi::cuStreamWaitEvent, stream_, command.end(), 0U);
  }

  CUdeviceptr part(Buffer& buffer, size_t offset, size_t bytes) const {
    return own<CudaBuffer>(buffer, *context_, "buffer").part(offset, bytes);
  }

  void start(Kernel& kernel, const Geometry& geometry, std::span<const Arg> args) {
    const DriverApi& api = *context_->api;
    ArgumentList list(args, *context_);
    const auto groups = unsigned(geometry.groups);
    const auto local_bytes = unsigned(geometry.local_bytes);
    const auto check = [&](CUresult result, const char* call) {
      if (result == kSuccess) return;
      context_->check(result, call,
                      concat("launching ", kernel.name(), " with ", groups, " groups of ", geometry.items, ", ",
                             local_bytes, " bytes of local memory and clusters of ", geometry.cluster));
    };
    std::array<CUlaunchAttribute, 2> attributes;
    unsigned count = 0;
    if (geometry.cluster > 1)
      attributes[count++] = {.id = kLaunchAttributeClusterDimension, .cluster = {geometry.cluster, 1, 1}};
    if (geometry.awaits_earlier && context_->card.clusters)  // cards since sm_90 have both
      attributes[count++] = {.id = kLaunchAttributeProgrammaticSerialization, .allowed = 1};
    if (count == 0) {
      const auto& launch = api.cuLaunchKernel;
      check(launch(kernel.get(), groups, 1U, 1U, geometry.items, 1U, 1U, local_bytes, stream_, list.get(), nullptr),
            launch.name);
      return;
    }
    const CUlaunchConfig config{.grid_x = groups,
                                .block_x = geometry.items,
                                .shared_bytes = local_bytes,
                                .stream = stream_,
                                .attributes = attributes.data(),
                                .attribute_count = count};
    const auto& launch = api.cuLaunchKernelEx;
    check(launch(&config, kernel.get(), list.get(), nullptr), launch.name);
  }

  SharedContext context_;
  u64 number_ = next_number();
  bool timing_ = false;
  bool owned_ = false;
  bool events_ = true;  // of launches
  CUstream stream_ = nullptr;
  std::mutex mutex_;  // keeps a command together with its waits and events
};

CudaQueue& own(Queue& queue) {
  auto* const mine = dynamic_cast<CudaQueue*>(&queue);
  if (!mine) throw Error(Errc::usage, "the queue is not one of CUDA", "give one of the device");
  return *mine;
}

}  // namespace

SharedEvent mark(Queue& queue) {
  return own(queue).mark();
}

void begin_after(Queue& queue, const SharedEvent& event) {
  own(queue).begin_after(event);
}

bool is_captured(Queue& queue) {
  return own(queue).is_captured();
}

void copy_rows(Queue& queue, const Rows& rows) {
  own(queue).copy_rows(rows);
}

SharedQueue create_queue(const SharedContext& context, bool timing, int priority) {
  return std::make_shared<CudaQueue>(context, timing, priority);
}

SharedQueue borrow_queue(const SharedContext& context, CUstream stream) {
  return std::make_shared<CudaQueue>(context, stream);
}

}  // namespace axisloom::device::cuda
