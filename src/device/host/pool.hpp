// The threads that run kernels on the host.
//
// A run counts from 0 to n and deals the numbers to its members: the calling thread, which is member 0, and as many
// workers as are wanted. Each begins with its own stretch, the same one in every run of that size, so that it meets the
// memory that it touched first; who is done helps the others. Workers wait for the next run awake for a short while,
// then asleep. Nobody waits for a worker that the system has not got round to: a run is over when all numbers are done
// and those who took any have left.
#pragma once

#include "core/integers.hpp"
#include "core/not_copied.hpp"
#include "device/device.hpp"

#include <pthread.h>

#include <atomic>
#include <memory>
#include <type_traits>

namespace axisloom::device::host {

class Pool : core::NotCopied {
 public:
  /// Does begin ... end - 1, as that member. May not throw.
  using Work = void (*)(void* context, u64 begin, u64 end, unsigned member);

  /// `threads` with the caller; they start when they are first needed.
  explicit Pool(unsigned threads);
  ~Pool();

  unsigned threads() const noexcept { return threads_; }

  /// Does 0 ... count - 1 and returns when all is done, with at most that many members. While another thread's run goes
  /// on, or within a run, the caller does it alone. After a fork the child has workers of its own. Where it wakes
  /// nobody, workers take part that are awake anyway, and none is started: little work is done before a worker comes,
  /// and calling it takes the caller's time.
  void run(u64 count, unsigned most_members, Work work, void* context, Wakes wakes = Wakes::always) noexcept;
  void run(u64 count, unsigned most_members, auto&& work, Wakes wakes = Wakes::always) noexcept {
    using Callable = std::remove_reference_t<decltype(work)>;
    const auto call = [](void* context, u64 begin, u64 end, unsigned member) {
      (*static_cast<Callable*>(context))(begin, end, member);
    };
    run(count, most_members, call, &work, wakes);
  }

 private:
  static constexpr size_t line = 64;  // bytes that processors take from each other at a time

  struct Member {
    alignas(line) std::atomic<u64> next{0};  // of its own stretch
    u64 end = 0;
    alignas(line) std::atomic<u32> asleep{0};  // 1: until somebody makes it 0
    Pool* pool = nullptr;
    pthread_t thread = {};
    std::atomic<int> kept_off{-1};  // that processor, on which its last waker was
  };

  struct Job {
    Work work = nullptr;
    void* context = nullptr;
    u64 share = 0;  // numbers that are taken at a time
  };

  bool calls_for(Wakes wakes) const noexcept;
  void note_end(Wakes wakes) noexcept;
  bool take_turn() noexcept;
  void forget_workers() noexcept;
  unsigned started(unsigned wanted) noexcept;
  u64 begin_alone(u64 count, Work work, void* context) noexcept;
  void deal(u64 begin, u64 end) noexcept;
  void wake_some() noexcept;
  bool wake(Member& member) noexcept;
  static void keep_off_waker(Member& member) noexcept;
  void close_and_wait() noexcept;

  static void* begin_worker(void* member) noexcept;
  void serve(Member& self) noexcept;
  bool enter() noexcept;
  void leave() noexcept;
  void take_part(unsigned member) noexcept;
  void wait_for_call(Member& self, u32 calls) noexcept;

  const unsigned threads_;
  bool spins_ = false;
  std::unique_ptr<Member[]> members_;

  // Of the thread whose turn it is.
  std::atomic<u32> turn_{0};    // 0: nobody's; else the generation of the process in which it was taken
  unsigned generation_ = 0;     // in which the workers were started
  unsigned started_ = 1;        // members, with the caller
  std::atomic<unsigned> able_;  // members that the system grants
  std::atomic<i64> ended_{0};   // when the last run did that may wake: ticks of the clock

  alignas(line) std::atomic<unsigned> awake_{0};  // workers

  alignas(line) std::atomic<u32> calls_{0};  // changes with every run
  std::atomic<bool> stopping_{false};

  alignas(line) std::atomic<u32> gate_{0};  // open, awaited, and how many workers are inside
  Job job_;                                 // written while the gate is closed and nobody inside, read inside
  std::atomic<unsigned> wanted_{0};         // members; settled while somebody is inside
  std::atomic<unsigned> woken_{0};          // members who need not be woken any more
};

}  // namespace axisloom::device::host
