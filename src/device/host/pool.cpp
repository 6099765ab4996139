// Dealing, waking and waiting; and the threads themselves.
#include "device/host/pool.hpp"

#include "device/host/floats.hpp"
#include "device/host/system.hpp"
#include "device/process.hpp"

#include <dlfcn.h>
#include <sched.h>
#include <csignal>

#include <algorithm>
#include <chrono>

namespace axisloom::device::host {

namespace {

using Clock = std::chrono::steady_clock;

/// How long a thread waits awake: some ten times what it takes to wake one (5 us), so that a program that launches one
/// kernel after the other finds its workers awake, and one that does not wastes little.
constexpr auto spin_time = std::chrono::microseconds(50);
constexpr int pauses_per_look = 32;  // at the clock

/// A run that wakes nobody at first does so when so much is left: what it works on was not in the caches in which its
/// plan expected it. With less an EPYC 9005 was faster alone: 1 MiB copied in a cold cache in 44 us, by both cores
/// in 55. A Xeon, which reads twice as slowly there: 256 x 256 floats transposed in 57 us alone, in 80 by both; 4 MiB
/// copied in 310 us alone, in 235 by both. The first share takes longest, so that more seems left than is.
constexpr auto worth_calling = std::chrono::microseconds(200);

/// A member fetches so often from its own stretch: often enough that a slow one can be helped, and rarely enough that
/// fetching costs nothing.
constexpr u64 fetches = 16;

/// Members that each wakes who is awake: waking takes a system call, and those who are woken help with it.
constexpr int wakes_each = 2;

constexpr u32 gate_open = u32{1} << 31;
constexpr u32 gate_awaited = u32{1} << 30;  // the caller sleeps until nobody is inside

/// Of all pools: with more threads than processors, one that waits awake would be in another's way.
std::atomic<unsigned> all_threads{0};

void pause() noexcept {
#if defined(__x86_64__) || defined(__i386__)
  __builtin_ia32_pause();
#elif defined(__aarch64__)
  asm volatile("yield");
#endif
}

/// Waits awake, for a while; false when it was not enough.
bool spin_until(auto&& done) noexcept {
  const auto end = Clock::now() + spin_time;
  do {
    for (int i = 0; i < pauses_per_look; ++i) {
      if (done()) return true;
      pause();
    }
  } while (Clock::now() < end);
  return false;
}

/// Workers stand in this library's code for as long as the process lives, so it must not be unloaded.
void keep_library() noexcept {
  Dl_info info{};
  if (dladdr(reinterpret_cast<const void*>(&keep_library), &info) != 0 && info.dli_fname)
    static_cast<void>(dlopen(info.dli_fname, RTLD_NOW | RTLD_NOLOAD | RTLD_NODELETE));
}

}  // namespace

Pool::Pool(unsigned threads)
    : threads_(std::max(1U, threads)), members_(std::make_unique<Member[]>(threads_)), able_(threads_) {
  for (unsigned i = 0; i < threads_; ++i) members_[i].pool = this;
  spins_ = all_threads.fetch_add(threads_) + threads_ <= processors();
}

Pool::~Pool() {
  all_threads.fetch_sub(threads_);
  if (generation_ != fork_generation()) return;  // the workers are the parent's
  stopping_.store(true, std::memory_order_relaxed);
  calls_.fetch_add(1);
  for (unsigned i = 1; i < started_; ++i) {
    wake(members_[i]);
    pthread_join(members_[i].thread, nullptr);
  }
}

void Pool::run(u64 count, unsigned most_members, Work work, void* context, Wakes wakes) noexcept {
  const auto wanted = unsigned(std::min<u64>({able_.load(std::memory_order_relaxed), most_members, count}));
  bool calls = wanted > 1 && calls_for(wakes);
  u64 done = 0;
  if (wanted > 1 && !calls && awake_.load(std::memory_order_relaxed) == 0 && wakes == Wakes::in_a_row) {
    done = begin_alone(count, work, context);
    calls = count - done > 1;
  }
  const bool alone = wanted <= 1 || (!calls && awake_.load(std::memory_order_relaxed) == 0);
  if (alone || !take_turn()) {
    if (done < count) work(context, done, count, 0);
    note_end(wakes);
    return;
  }
  job_ = {work, context, 0};
  const unsigned members = calls ? started(wanted) : std::min(wanted, started_);
  wanted_.store(members, std::memory_order_relaxed);
  woken_.store(calls ? 1 : members, std::memory_order_relaxed);
  deal(done, count);
  gate_.store(gate_open, std::memory_order_release);
  calls_.fetch_add(1);
  wake_some();
  take_part(0);
  close_and_wait();
  turn_.store(0, std::memory_order_release);
  note_end(wakes);
}

// A worker that slept for long comes late, and slowly: what it has taken by then is waited for.
bool Pool::calls_for(Wakes wakes) const noexcept {
  if (wakes != Wakes::in_a_row) return wakes == Wakes::always;
  const Clock::duration since_end(Clock::now().time_since_epoch().count() - ended_.load(std::memory_order_relaxed));
  return since_end < spin_time;
}

void Pool::note_end(Wakes wakes) noexcept {
  if (wakes != Wakes::never) ended_.store(Clock::now().time_since_epoch().count(), std::memory_order_relaxed);
}

// Does the first numbers, and returns how many: all of them, or at most half where the others are to take long.
u64 Pool::begin_alone(u64 count, Work work, void* context) noexcept {
  const auto start = Clock::now();
  const u64 share = std::max<u64>(1, count / fetches);
  u64 done = 0;
  while (done + share <= count / 2) {
    work(context, done, done + share, 0);
    done += share;
    if ((Clock::now() - start) * (count - done) / done > worth_calling) return done;
  }
  work(context, done, count, 0);
  return count;
}

// A turn of an older generation is that of a thread of the parent, which is not here.
bool Pool::take_turn() noexcept {
  const unsigned now = fork_generation();
  u32 seen = turn_.load(std::memory_order_relaxed);
  if (seen == now || !turn_.compare_exchange_strong(seen, now, std::memory_order_acquire)) return false;
  if (generation_ != now) forget_workers();
  generation_ = now;
  return true;
}

void Pool::forget_workers() noexcept {
  started_ = 1;
  awake_.store(0, std::memory_order_relaxed);
  gate_.store(0, std::memory_order_relaxed);
  for (unsigned i = 0; i < threads_; ++i) members_[i].asleep.store(0, std::memory_order_relaxed);
}

// How many members there are, when so many are wanted. What the system refuses is not asked for again.
unsigned Pool::started(unsigned wanted) noexcept {
  if (started_ >= wanted) return wanted;
  keep_library();
  sigset_t all, before;
  sigfillset(&all);
  for (const int fault : {SIGBUS, SIGSEGV, SIGFPE, SIGILL, SIGTRAP})
    sigdelset(&all, fault);                     // come from the thread's own work
  pthread_sigmask(SIG_SETMASK, &all, &before);  // which workers inherit: signals are for the program's own threads
  for (; started_ < wanted; ++started_) {
    Member& next = members_[started_];
    if (pthread_create(&next.thread, nullptr, begin_worker, &next) != 0) break;
    next.kept_off.store(-1, std::memory_order_relaxed);
    keep_off_waker(next);
    awake_.fetch_add(1, std::memory_order_relaxed);
    pthread_setname_np(next.thread, "axisloom");
  }
  pthread_sigmask(SIG_SETMASK, &before, nullptr);
  if (started_ < wanted) able_.store(started_, std::memory_order_relaxed);
  return started_;
}

void Pool::deal(u64 begin, u64 end) noexcept {
  const u64 members = wanted_.load(std::memory_order_relaxed), count = end - begin;
  const u64 least = count / members, more = count % members;
  job_.share = std::max<u64>(1, least / fetches);
  for (u64 i = 0; i < members; ++i) {
    members_[i].next.store(begin, std::memory_order_relaxed);
    begin += least + (i < more ? 1 : 0);
    members_[i].end = begin;
  }
}

// Those who are awake have seen the call. Each who comes wakes some of the others.
void Pool::wake_some() noexcept {
  const unsigned wanted = wanted_.load(std::memory_order_relaxed);
  for (int left = wakes_each; left > 0;) {
    if (woken_.load(std::memory_order_relaxed) >= wanted) return;
    const unsigned next = woken_.fetch_add(1, std::memory_order_relaxed);
    if (next >= wanted) return;
    if (wake(members_[next])) --left;
  }
}

bool Pool::wake(Member& member) noexcept {
  if (member.asleep.load() == 0 || member.asleep.exchange(0) == 0) return false;
  keep_off_waker(member);
  member.asleep.notify_one();
  return true;
}

// Linux may queue a woken thread behind its waker though another processor is idle: an idle one of a KVM guest looks
// taken by the host (vcpu_is_preempted). On two of them three workers in four had not come after 480 us; kept off, they
// come after 30 to 75.
void Pool::keep_off_waker(Member& member) noexcept {
  const int here = sched_getcpu();
  if (member.kept_off.exchange(here, std::memory_order_relaxed) != here) keep_off_this_processor(member.thread);
}

void Pool::close_and_wait() noexcept {
  gate_.fetch_and(~gate_open, std::memory_order_acq_rel);
  const auto left = [this] { return gate_.load(std::memory_order_acquire) == 0; };
  if (left() || (spins_ && spin_until(left))) return;
  u32 seen = gate_.fetch_or(gate_awaited, std::memory_order_acq_rel) | gate_awaited;
  for (; seen != gate_awaited; seen = gate_.load(std::memory_order_acquire)) gate_.wait(seen);
  gate_.store(0, std::memory_order_relaxed);
}

void* Pool::begin_worker(void* member) noexcept {
  set_default_floats();
  Member& self = *static_cast<Member*>(member);
  self.pool->serve(self);
  return nullptr;
}

void Pool::serve(Member& self) noexcept {
  const auto number = unsigned(&self - members_.get());
  const auto wanted = [&] { return number < wanted_.load(std::memory_order_relaxed); };
  for (;;) {
    const u32 calls = calls_.load();  // first, so that none is missed
    if (stopping_.load(std::memory_order_relaxed)) return;
    if (wanted() && enter()) {
      if (wanted()) {
        wake_some();
        take_part(number);
      }
      leave();
    }
    wait_for_call(self, calls);
  }
}

void Pool::wait_for_call(Member& self, u32 calls) noexcept {
  const auto called = [&] { return calls_.load(std::memory_order_acquire) != calls; };
  if (called() || (spins_ && spin_until(called))) return;
  // Either it sees the call, or who calls sees that it sleeps.
  awake_.fetch_sub(1, std::memory_order_relaxed);
  self.asleep.store(1);
  if (calls_.load() == calls) self.asleep.wait(1);
  self.asleep.store(0, std::memory_order_relaxed);
  awake_.fetch_add(1, std::memory_order_relaxed);
}

bool Pool::enter() noexcept {
  u32 seen = gate_.load(std::memory_order_relaxed);
  while (seen & gate_open)
    if (gate_.compare_exchange_weak(seen, seen + 1, std::memory_order_acquire)) return true;
  return false;
}

void Pool::leave() noexcept {
  if (gate_.fetch_sub(1, std::memory_order_release) == (gate_awaited | 1)) gate_.notify_one();
}

void Pool::take_part(unsigned member) noexcept {
  const unsigned members = wanted_.load(std::memory_order_relaxed);
  for (unsigned i = 0; i < members; ++i) {
    Member& from = members_[(member + i) % members];
    while (from.next.load(std::memory_order_relaxed) < from.end) {
      const u64 begin = from.next.fetch_add(job_.share, std::memory_order_relaxed);
      if (begin >= from.end) break;
      job_.work(job_.context, begin, std::min(begin + job_.share, from.end), member);
    }
  }
}

}  // namespace axisloom::device::host
