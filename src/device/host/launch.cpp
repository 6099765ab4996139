// Groups of a launch, dealt to the pool's members, with what they need while they run.
#include "device/host/launch.hpp"

#include "core/per_thread.hpp"
#include "core/text.hpp"
#include "device/host/fibers.hpp"
#include "device/host/floats.hpp"
#include "device/host/threads.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdlib>
#include <memory>
#include <new>
#include <typeinfo>

namespace axisloom::device::host {
namespace {

/// Stacks for the items of groups take address space, and an entry for each in the system's table of a process's
/// memory, which has 65,530 by default: this many members hold no more than half of that.
unsigned most_members(unsigned items) {
  constexpr unsigned stacks = 16384;
  return items <= 1 ? ~0U : std::max(1U, stacks / items);
}

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

}  // namespace

/// What kernels are called with, and what its members have in common.
struct HostLaunch::Call : KernelCall {
  Faults* faults = nullptr;

  static void run_items(const KernelCall& call, u32 items, Fibers::Item item, void* context) {
    Fibers* const fibers = core::PerThread<Fibers>::get();
    if (!fibers || !fibers->run(items, item, context))
      static_cast<const Call&>(call).faults->without_stacks.store(true, std::memory_order_relaxed);
  }
  static void note_fault(const KernelCall& call, const char* what) {
    static_cast<const Call&>(call).faults->what.store(what, std::memory_order_relaxed);
  }
};

HostLaunch::HostLaunch(Host& host, Program& program, const std::string& kernel, const Geometry& geometry)
    : host_(host),
      kernel_(kernel),
      groups_(geometry.groups),
      local_bytes_(geometry.local_bytes),
      items_(geometry.items),
      wakes_(geometry.wakes) {
  if (typeid(program) != typeid(HostProgram)) refuse(Errc::usage, "was built for another device than the queue");
  require_geometry(geometry);
  const auto& built = static_cast<const HostProgram&>(program);
  entry_ = built.entry();
  const std::span<const i32> settings = built.settings();
  const bool few = settings.size() <= own_settings_.size();
  if (few) std::ranges::copy(settings, own_settings_.begin());
  settings_ = few ? own_settings_.data() : settings.data();
  most_members_ =
      unsigned(std::min<u64>({groups_, geometry.most_threads, host.pool.threads(), most_members(geometry.items)}));
}

[[gnu::hot]] void HostLaunch::run(const void* const* args) const {
  Faults faults;
  Call call{{args, settings_, groups_, nullptr, local_bytes_, Call::run_items, Fibers::barrier, Call::note_fault},
            &faults};
  const unsigned taking_part = members();
  const DefaultFloats floats;
  if (taking_part > 1)
    share(call, taking_part);
  else if (groups_ > 0)
    run_alone(call);
  if (const char* const what = faults.what) refuse(Errc::device, concat("failed: ", what));
  if (faults.without_stacks) refuse_stacks();
}

[[gnu::hot]] unsigned HostLaunch::members() const noexcept {
  return most_members_ <= 1 ? 1 : std::min(most_members_, thread_limit());
}

[[gnu::hot]] void HostLaunch::run_alone(Call& call) const {
  // Without local memory a group needs no more than the place of accesses that checks turn away.
  alignas(LocalMemory::alignment) std::array<u8, LocalMemory::spill> turned_away;
  call.local = local_bytes_ > 0 ? held_memory(local_bytes_, 1).of(0) : turned_away.data();
  entry_(call, 0, groups_);
}

void HostLaunch::share(const Call& call, unsigned members) const {
  const LocalMemory& held = held_memory(local_bytes_, members);  // this thread's, for all members
  host_.pool.run(
      groups_, members,
      [&](u64 begin, u64 end, unsigned member) {
        Call mine = call;
        mine.local = held.of(member);
        entry_(mine, begin, end);
      },
      wakes_);
}

void HostLaunch::require_geometry(const Geometry& geometry) const {
  const size_t most = host_.info.max_group;
  if (geometry.items == 0 || geometry.items > most)
    refuse(Errc::unsupported, concat("asks for groups of ", geometry.items, " work-items; the host has 1 to ", most));
  if (geometry.cluster > 1) refuse(Errc::unsupported, "asks for clusters of groups, which the host does not have");
}

void HostLaunch::refuse(Errc code, const std::string& why) const {
  throw Error(code, {.message = concat("kernel \"", kernel_, "\" ", why), .device = host_.info.label()});
}

void HostLaunch::refuse_stacks() const {
  throw Error(Errc::out_of_memory,
              {.message = concat("kernel \"", kernel_, "\": no memory for the stacks of ", items_, " work-items"),
               .device = host_.info.label(),
               .remedy = "use fewer threads: AXISLOOM_THREADS"});
}

}  // namespace axisloom::device::host
