// Commands of the host: each is done, by the calling thread and the pool, when its call returns.
#include "core/text.hpp"
#include "device/host/device.hpp"
#include "device/host/fibers.hpp"
#include "device/host/floats.hpp"
#include "device/host/memory.hpp"
#include "device/host/program.hpp"

#include <algorithm>
#include <chrono>
#include <new>

namespace axisloom::device::host {

namespace {

using Clock = std::chrono::steady_clock;

/// Stacks for the items of groups take address space, and an entry for each in the system's table of a process's
/// memory, which has 65,530 by default: this many members hold no more than half of that.
unsigned most_members(unsigned items) {
  constexpr unsigned stacks = 16384;
  return items == 1 ? ~0U : std::max(1U, stacks / items);
}

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

/// The arguments as kernels take them: a list of addresses of values. Those of most kernels need no allocation.
class ArgumentList {
 public:
  explicit ArgumentList(std::span<const Arg> args) {
    if (args.size() > few) {
      more_values_.resize(args.size());
      more_addresses_.resize(args.size());
      values_ = more_values_.data();
      addresses_ = more_addresses_.data();
    }
    for (size_t i = 0; i < args.size(); ++i) {
      if (args[i].map) {
        if (maps_.empty()) maps_.reserve(args.size());  // since their addresses are taken
        values_[i] = &maps_.emplace_back(bound(*args[i].buffer, *args[i].map));
        continue;
      }
      if (args[i].buffer) addresses_[i] = args[i].buffer->host();
      values_[i] = args[i].buffer ? &addresses_[i] : args[i].data;
    }
  }
  const void* const* get() const { return values_; }

 private:
  static BoundMap bound(Buffer& buffer, const TensorMap& map) {
    BoundMap all{};
    all.begin = own(buffer).part("a tensor map", map.begin, 0);
    all.bytes = buffer.bytes() - map.begin;
    all.element = map.element;
    std::ranges::copy(map.extent, all.extent);
    std::ranges::copy(map.pitch, all.pitch);
    std::ranges::copy(map.box, all.box);
    return all;
  }

  static constexpr size_t few = 32;
  std::array<const void*, few> few_values_;
  std::array<void*, few> few_addresses_;
  std::vector<const void*> more_values_;
  std::vector<void*> more_addresses_;
  std::vector<BoundMap> maps_;
  const void** values_ = few_values_.data();
  void** addresses_ = few_addresses_.data();
};

/// Local memory for every member of a launch, kept by the thread that launches for its next one.
class LocalMemory {
 public:
  static constexpr size_t alignment = 128;

  /// So many bytes for each of the members, and behind them what kernels whose accesses are checked write instead of
  /// elsewhere. Throws Error(out_of_memory).
  void hold(size_t bytes, unsigned members) {
    constexpr size_t spill = 128;
    each_ = (bytes + spill + alignment - 1) / alignment * alignment;
    const size_t wanted = each_ * members;
    if (wanted <= held_) return;
    held_ = 0;
    memory_.reset(static_cast<u8*>(std::aligned_alloc(alignment, wanted)));
    if (!memory_)
      throw Error(Errc::out_of_memory, concat("cannot allocate ", wanted, " bytes of local memory"),
                  "use fewer threads: AXISLOOM_THREADS");
    held_ = wanted;
  }
  u8* of(unsigned member) const { return memory_.get() + each_ * member; }

 private:
  std::unique_ptr<u8, decltype(&std::free)> memory_{nullptr, std::free};
  size_t held_ = 0, each_ = 0;
};

/// What went wrong in the groups of a launch.
struct Faults {
  std::atomic<bool> without_stacks{false};  // a group could not be run
  std::atomic<const char*> what{nullptr};   // what a card would stop at, of the group that came last
};

/// A call, and what its members have in common.
struct Launch : KernelCall {
  Faults* faults = nullptr;
};

void run_items(const KernelCall& call, u32 items, Fibers::Item item, void* context) {
  if (!Fibers::of_this_thread().run(items, item, context))
    static_cast<const Launch&>(call).faults->without_stacks.store(true, std::memory_order_relaxed);
}

void note_fault(const KernelCall& call, const char* what) {
  static_cast<const Launch&>(call).faults->what.store(what, std::memory_order_relaxed);
}

class HostQueue final : public Queue {
 public:
  HostQueue(SharedHost host, bool timing, bool ordered)
      : host_(std::move(host)),
        timing_(timing),
        ordered_(ordered),
        untimed_(timing ? nullptr : std::make_shared<Done>()) {}

  SharedEvent launch(Program& program, const std::string& kernel, const Geometry& geometry, std::span<const Arg> args,
                     Waits waits) override {
    auto* const own_program = dynamic_cast<HostProgram*>(&program);
    if (!own_program) refuse(Errc::usage, kernel, "was built for another device than the queue");
    require_geometry(geometry, kernel);
    const ArgumentList list(args);
    return command(waits, [&] { run(*own_program, kernel, geometry, list.get()); });
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
  [[noreturn]] void refuse(Errc code, const std::string& kernel, const std::string& why) const {
    throw Error(code, {.message = concat("kernel \"", kernel, "\" ", why), .device = host_->info.label()});
  }

  void require_geometry(const Geometry& geometry, const std::string& kernel) const {
    const size_t most = host_->info.max_group;
    if (geometry.items == 0 || geometry.items > most)
      refuse(Errc::unsupported, kernel,
             concat("asks for groups of ", geometry.items, " work-items; the host has 1 to ", most));
    if (geometry.cluster > 1)
      refuse(Errc::unsupported, kernel, "asks for clusters of groups, which the host does not have");
  }

  SharedEvent command(Waits waits, const auto& work) {
    for (const SharedEvent& wait : waits)
      if (wait) wait->wait();
    std::unique_lock lock(mutex_, std::defer_lock);
    if (ordered_) lock.lock();
    if (!timing_) return work(), untimed_;
    Done::Times times{.begin = Clock::now()};
    work();
    times.end = Clock::now();
    return std::make_shared<Done>(times);
  }

  void run(const HostProgram& program, const std::string& kernel, const Geometry& geometry, const void* const* args) {
    Pool& pool = host_->pool;
    const unsigned members = unsigned(std::min<u64>({std::min(pool.threads(), geometry.most_threads),
                                                     most_members(geometry.items), std::max<u64>(geometry.groups, 1)}));
    thread_local LocalMemory local;
    local.hold(geometry.local_bytes, members);
    const LocalMemory& held = local;  // this thread's, for all members
    Faults faults;
    Launch launch{{args, program.settings(), geometry.groups, nullptr, geometry.local_bytes, run_items, Fibers::barrier,
                   note_fault},
                  &faults};
    const DefaultFloats floats;
    pool.run(geometry.groups, members, [&](u64 begin, u64 end, unsigned member) {
      Launch mine = launch;
      mine.local = held.of(member);
      program.entry()(mine, begin, end);
    });
    if (const char* const what = faults.what) refuse(Errc::device, kernel, concat("failed: ", what));
    if (faults.without_stacks)
      throw Error(Errc::out_of_memory, {.message = concat("kernel \"", kernel, "\": no memory for the stacks of ",
                                                          geometry.items, " work-items"),
                                        .device = host_->info.label(),
                                        .remedy = "use fewer threads: AXISLOOM_THREADS"});
  }

  SharedHost host_;
  const bool timing_;
  const bool ordered_;
  const SharedEvent untimed_;  // one for all commands: they are done, and that is all that it says
  std::mutex mutex_;           // a queue's commands run one after the other
};

}  // namespace

SharedQueue create_queue(SharedHost host, bool timing) {
  return std::make_shared<HostQueue>(std::move(host), timing, true);
}

SharedQueue create_immediate_queue(SharedHost host) {
  return std::make_shared<HostQueue>(std::move(host), false, false);
}

}  // namespace axisloom::device::host
