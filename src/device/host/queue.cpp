// Commands of the host: each is done, by the calling thread and the pool, when its call returns.
#include "core/short_list.hpp"
#include "core/text.hpp"
#include "device/host/device.hpp"
#include "device/host/launch.hpp"
#include "device/host/memory.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
#include <new>

namespace axisloom::device::host {

namespace {

using Clock = std::chrono::steady_clock;

/// A finished command.
class Done final : public Event {
 public:
  struct Times {
    Clock::time_point begin = {}, end = {};
  };
  Done() = default;
  explicit Done(const Times& times) : times_(times), timed_(true) {}

  void wait() override {}
  bool done() override { return true; }
  double seconds() override { return seconds_from(times_.begin); }
  double seconds_since(Event& earlier) override {
    const auto* const before = dynamic_cast<const Done*>(&earlier);
    if (!before || !before->timed_) refuse_time();
    return seconds_from(before->times_.end);
  }
  void* native() const noexcept override { return nullptr; }

 private:
  [[noreturn]] static void refuse_time() {
    throw Error(Errc::usage, "this event has no time", "make its queue with timing on");
  }
  double seconds_from(Clock::time_point begin) const {
    if (!timed_) refuse_time();
    return std::max(0.0, std::chrono::duration<double>(times_.end - begin).count());
  }

  Times times_;
  bool timed_ = false;
};

/// The event of all commands without a time: they are done, and that is all that it says. Nobody owns it, so that
/// handing it out counts nothing; it is never destroyed.
SharedEvent untimed() {
  static Done& done = *new Done;
  return {SharedEvent(), &done};
}

/// The arguments as kernels take them: a list of addresses of values. Those of most kernels need no allocation.
class ArgumentList {
 public:
  explicit ArgumentList(std::span<const Arg> args) : values_(args.size()), addresses_(args.size()) {
    for (const Arg& arg : args) {
      if (arg.map) {
        if (maps_.empty()) maps_.reserve(args.size());  // since their addresses are taken
        values_.push_back(&maps_.emplace_back(bound(*arg.buffer, *arg.map)));
      } else if (arg.buffer) {
        values_.push_back(&addresses_.emplace_back(arg.buffer->host()));
      } else {
        values_.push_back(arg.data);
      }
    }
  }
  const void* const* get() const { return values_.data(); }

 private:
  static BoundMap bound(Buffer& buffer, const TensorMap& map) {
    if (map.begin > buffer.bytes()) throw Error(Errc::usage, "a tensor map begins beyond the end of its buffer");
    BoundMap all{};
    all.begin = static_cast<std::byte*>(buffer.host()) + map.begin;  // also of memory lent for a run
    all.bytes = buffer.bytes() - map.begin;
    all.element = map.element;
    std::ranges::copy(map.extent, all.extent);
    std::ranges::copy(map.pitch, all.pitch);
    std::ranges::copy(map.box, all.box);
    return all;
  }

  static constexpr size_t few = 32;
  core::ShortList<const void*, few> values_;
  core::ShortList<void*, few> addresses_;
  std::vector<BoundMap> maps_;
};

class HostQueue final : public Queue {
 public:
  HostQueue(SharedHost host, bool timing, bool ordered) : host_(std::move(host)), timing_(timing), ordered_(ordered) {}

  SharedEvent launch(Program& program, const std::string& kernel, const Geometry& geometry, std::span<const Arg> args,
                     Waits waits) override {
    const HostLaunch ready(*host_, program, kernel, geometry);
    const ArgumentList list(args);
    return command(waits, [&] { ready.run(list.get()); });
  }

  std::unique_ptr<ReadyLaunch> ready(Program& program, const std::string& kernel, const Geometry& geometry) override {
    return std::make_unique<HostLaunch>(*host_, program, kernel, geometry);
  }

  SharedEvent write(Buffer& to, size_t offset, std::span<const std::byte> from, Waits waits) override {
    std::byte* const target = own(to).part("a write", offset, from.size());
    return command(waits, [&] { copy_bytes(host_->pool, target, from.data(), from.size()); });
  }

  SharedEvent read(Buffer& from, size_t offset, std::span<std::byte> to, Waits waits) override {
    const std::byte* const source = own(from).part("a read", offset, to.size());
    return command(waits, [&] { copy_bytes(host_->pool, to.data(), source, to.size()); });
  }

  SharedEvent copy(Buffer& from, size_t from_offset, Buffer& to, size_t to_offset, size_t bytes, Waits waits) override {
    const std::byte* const source = own(from).part("a copy", from_offset, bytes);
    std::byte* const target = own(to).part("a copy", to_offset, bytes);
    if (bytes > 0 && std::less<>()(source, target + bytes) && std::less<>()(target, source + bytes))
      throw Error(Errc::overlap, "source and target of a copy share memory");
    return command(waits, [&] { copy_bytes(host_->pool, target, source, bytes); });
  }

  SharedEvent fill(Buffer& to, size_t offset, size_t bytes, std::byte value, Waits waits) override {
    std::byte* const target = own(to).part("a fill", offset, bytes);
    return command(waits, [&] { fill_bytes(host_->pool, target, bytes, value); });
  }

  void flush() override {}
  void finish() override { drain(); }
  /// Another thread's command may be under way.
  void drain() noexcept override { const std::lock_guard lock(mutex_); }
  void* native() const noexcept override { return nullptr; }

 private:
  SharedEvent command(Waits waits, const auto& work) {
    for (const SharedEvent& wait : waits)
      if (wait) wait->wait();
    std::unique_lock lock(mutex_, std::defer_lock);
    if (ordered_) lock.lock();
    if (!timing_) return work(), untimed();
    Done::Times times{.begin = Clock::now()};
    work();
    times.end = Clock::now();
    return std::make_shared<Done>(times);
  }

  SharedHost host_;
  const bool timing_;
  const bool ordered_;
  std::mutex mutex_;  // a queue's commands run one after the other
};

}  // namespace

SharedQueue create_queue(SharedHost host, bool timing) {
  return std::make_shared<HostQueue>(std::move(host), timing, true);
}

SharedQueue create_immediate_queue(SharedHost host) {
  return std::make_shared<HostQueue>(std::move(host), false, false);
}

}  // namespace axisloom::device::host
