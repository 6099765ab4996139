// Commands of the host: each is done, by the calling thread and the pool, when its call returns.
#include "core/per_thread.hpp"
#include "core/short_list.hpp"
#include "core/text.hpp"
#include "device/host/device.hpp"
#include "device/host/fibers.hpp"
#include "device/host/floats.hpp"
#include "device/host/memory.hpp"
#include "device/host/program.hpp"
#include "device/host/threads.hpp"

#include <algorithm>
#include <chrono>
#include <mutex>
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

/// Local memory for every member of a launch, kept by the thread that launches for its next one.
class LocalMemory {
 public:
  static constexpr size_t alignment = 128;
  static constexpr size_t spill = 128;  // bytes behind those of a member, see hold

  /// So many bytes for each of the members, and behind them what kernels whose accesses are checked write instead of
  /// elsewhere. Throws Error(out_of_memory).
  void hold(size_t bytes, unsigned members) {
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
  u8* of(unsigned member) const noexcept { return memory_.get() + each_ * member; }

 private:
  std::unique_ptr<u8, decltype(&std::free)> memory_{nullptr, std::free};
  size_t held_ = 0, each_ = 0;
};

const LocalMemory& held_memory(size_t bytes, unsigned members) {
  LocalMemory* const memory = core::PerThread<LocalMemory>::get();
  if (!memory) throw std::bad_alloc();
  memory->hold(bytes, members);
  return *memory;
}

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
  Fibers* const fibers = core::PerThread<Fibers>::get();
  if (!fibers || !fibers->run(items, item, context))
    static_cast<const Launch&>(call).faults->without_stacks.store(true, std::memory_order_relaxed);
}

void note_fault(const KernelCall& call, const char* what) {
  static_cast<const Launch&>(call).faults->what.store(what, std::memory_order_relaxed);
}

class HostQueue final : public Queue {
 public:
  HostQueue(SharedHost host, bool timing, bool ordered) : host_(std::move(host)), timing_(timing), ordered_(ordered) {}

  SharedEvent launch(Program& program, const std::string& kernel, const Geometry& geometry, std::span<const Arg> args,
                     Waits waits) override {
    if (typeid(program) != typeid(HostProgram))
      refuse(Errc::usage, kernel, "was built for another device than the queue");
    const ArgumentList list(args);
    return command(waits, [&] { launch_now(program, kernel, geometry, list.get()); });
  }

  /// The program is one of the host's.
  void launch_now(Program& program, const std::string& kernel, const Geometry& geometry,
                  const void* const* args) override {
    if (geometry.items != 1 || geometry.cluster > 1) require_geometry(geometry, kernel);
    run(static_cast<const HostProgram&>(program), kernel, geometry, args);
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
    if (!timing_) return work(), untimed();
    Done::Times times{.begin = Clock::now()};
    work();
    times.end = Clock::now();
    return std::make_shared<Done>(times);
  }

  void run(const HostProgram& program, const std::string& kernel, const Geometry& geometry, const void* const* args) {
    Faults faults;
    Launch launch{{args, program.settings(), geometry.groups, nullptr, geometry.local_bytes, run_items, Fibers::barrier,
                   note_fault},
                  &faults};
    const unsigned members = members_of(geometry);
    const DefaultFloats floats;
    if (members > 1 || geometry.local_bytes > 0)
      share(launch, program.entry(), members, geometry.wakes);
    else if (geometry.groups > 0)
      run_alone(launch, program.entry());
    if (const char* const what = faults.what) refuse(Errc::device, kernel, concat("failed: ", what));
    if (faults.without_stacks) refuse_stacks(kernel, geometry.items);
  }

  unsigned members_of(const Geometry& geometry) const {
    const u64 most = std::min<u64>(geometry.groups, geometry.most_threads);
    if (most <= 1) return 1;
    return unsigned(std::min<u64>({most, host_->pool.threads(), thread_limit(), most_members(geometry.items)}));
  }

  /// Without local memory a group needs no more than the place of accesses that checks turn away.
  static void run_alone(Launch& launch, Entry entry) {
    alignas(LocalMemory::alignment) std::array<u8, LocalMemory::spill> turned_away;
    launch.local = turned_away.data();
    entry(launch, 0, launch.groups);
  }

  void share(const Launch& launch, Entry entry, unsigned members, Wakes wakes) {
    const LocalMemory& held = held_memory(launch.local_bytes, members);  // this thread's, for all members
    host_->pool.run(
        launch.groups, members,
        [&](u64 begin, u64 end, unsigned member) {
          Launch mine = launch;
          mine.local = held.of(member);
          entry(mine, begin, end);
        },
        wakes);
  }

  [[noreturn]] void refuse_stacks(const std::string& kernel, unsigned items) const {
    throw Error(Errc::out_of_memory,
                {.message = concat("kernel \"", kernel, "\": no memory for the stacks of ", items, " work-items"),
                 .device = host_->info.label(),
                 .remedy = "use fewer threads: AXISLOOM_THREADS"});
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
