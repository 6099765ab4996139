// Threads that wait for a round, take their part of it, and report back.
#include "bench/team.hpp"

#include "device/host/system.hpp"

#include <axisloom/error.hpp>

#include <system_error>
#include <utility>

namespace axisloom::bench {

Team::Team(unsigned members) {
  const unsigned wanted = members != 0 ? members : device::host::processors();
  try {
    for (unsigned member = 1; member < wanted; ++member) threads_.emplace_back([this, member] { serve(member); });
  } catch (const std::system_error& error) {
    dismiss();
    throw Error(Errc::out_of_memory,
                "a thread for each of " + std::to_string(wanted) + " cores cannot be started: " + error.what(),
                "free memory, or end other programs");
  } catch (...) {
    dismiss();
    throw;
  }
}

Team::~Team() {
  dismiss();
}

void Team::dismiss() noexcept {
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  start_.notify_all();
  for (std::thread& thread : threads_) thread.join();
}

void Team::run(const std::function<void(unsigned)>& work) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
    running_ = threads_.size();
    ++round_;
  }
  start_.notify_all();
  do_part(work, 0);
  std::unique_lock lock(mutex_);
  done_.wait(lock, [this] { return running_ == 0; });
  if (failure_) std::rethrow_exception(std::exchange(failure_, nullptr));
}

void Team::do_part(const std::function<void(unsigned)>& work, unsigned member) noexcept {
  try {
    work(member);
  } catch (...) {
    const std::lock_guard lock(mutex_);
    if (!failure_) failure_ = std::current_exception();
  }
}

void Team::serve(unsigned member) {
  u64 served = 0;
  while (true) {
    std::unique_lock lock(mutex_);
    start_.wait(lock, [&] { return leaving_ || round_ != served; });
    if (leaving_) return;
    served = round_;
    const auto* work = work_;
    lock.unlock();
    do_part(*work, member);
    lock.lock();
    if (--running_ == 0) done_.notify_one();
  }
}

}  // namespace axisloom::bench
