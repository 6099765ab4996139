// A communicator whose ranks are threads of one process, for tests.
#pragma once

#include <axisloom/exchange.hpp>
#include <axisloom/host_array.hpp>

#include <algorithm>
#include <condition_variable>
#include <cstring>
#include <deque>
#include <exception>
#include <map>
#include <memory>
#include <mutex>
#include <thread>
#include <utility>
#include <vector>

namespace axisloom::test {

/// What the ranks have in common.
struct ThreadJob {
  explicit ThreadJob(int size, bool windows) : size(size), windows(windows), given(std::size_t(size)) {}

  /// Returns when all ranks have called it.
  void barrier() {
    std::unique_lock lock(mutex);
    const int turn = turns;
    if (++arrived == size) {
      arrived = 0;
      ++turns;
      changed.notify_all();
    }
    changed.wait(lock, [&] { return turns != turn; });
  }

  const int size;
  const bool windows;  // whether it gives any
  std::mutex mutex;
  std::condition_variable changed;
  int arrived = 0, turns = 0;
  std::vector<std::vector<std::byte>> given;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages;  // from, to
  std::map<int, std::shared_ptr<ThreadJob>> groups;
};

class ThreadMessages : public MessagesInFlight {
 public:
  ThreadMessages(std::shared_ptr<ThreadJob> job, int rank, std::span<const IncomingMessage> in)
      : job_(std::move(job)), rank_(rank), in_(in.begin(), in.end()) {}
  void wait() override {
    std::unique_lock lock(job_->mutex);
    for (const IncomingMessage& message : in_) {
      auto& queue = job_->messages[{message.from, rank_}];
      job_->changed.wait(lock, [&] { return !queue.empty(); });
      if (queue.front().size() != message.bytes.size()) std::terminate();
      std::ranges::copy(queue.front(), message.bytes.begin());
      queue.pop_front();
    }
  }

 private:
  std::shared_ptr<ThreadJob> job_;
  int rank_;
  std::vector<IncomingMessage> in_;
};

/// Windows of a thread each: memory that all of them hold.
class ThreadWindows : public SharedWindows {
 public:
  ThreadWindows(std::shared_ptr<ThreadJob> job, std::vector<std::span<std::byte>> windows, Array own)
      : job_(std::move(job)), windows_(std::move(windows)), own_(std::move(own)) {}
  ~ThreadWindows() override { job_->barrier(); }
  std::span<std::byte> of(int rank) const override { return windows_[std::size_t(rank)]; }
  void barrier() override { job_->barrier(); }

 private:
  std::shared_ptr<ThreadJob> job_;
  std::vector<std::span<std::byte>> windows_;
  Array own_;
};

class ThreadCommunicator : public Communicator {
 public:
  ThreadCommunicator(std::shared_ptr<ThreadJob> job, int rank) : job_(std::move(job)), rank_(rank) {}

  int rank() const override { return rank_; }
  int size() const override { return job_->size; }

  std::vector<std::byte> allgather(std::span<const std::byte> mine) override {
    job_->given[std::size_t(rank_)].assign(mine.begin(), mine.end());
    job_->barrier();
    std::vector<std::byte> all;
    for (const auto& one : job_->given) all.insert(all.end(), one.begin(), one.end());
    job_->barrier();
    return all;
  }

  std::unique_ptr<MessagesInFlight> start_alltoallv(std::span<const OutgoingMessage> out,
                                                    std::span<const IncomingMessage> in) override {
    const std::lock_guard lock(job_->mutex);
    for (const OutgoingMessage& message : out) {
      job_->messages[{rank_, message.to}].emplace_back(message.bytes.begin(), message.bytes.end());
      most_bytes_ = std::max(most_bytes_, message.bytes.size());
    }
    job_->changed.notify_all();
    return std::make_unique<ThreadMessages>(job_, rank_, in);
  }

  std::shared_ptr<Communicator> split(int group) override {
    const std::vector<int> groups = gathered(group);
    const int size = int(std::ranges::count(groups, group));
    const auto place = int(std::count(groups.begin(), groups.begin() + rank_, group));
    std::shared_ptr<ThreadJob> job;
    {
      const std::lock_guard lock(job_->mutex);
      auto& known = job_->groups[group];
      if (!known) known = std::make_shared<ThreadJob>(size, job_->windows);
      job = known;
    }
    job_->barrier();
    if (rank_ == 0) job_->groups.clear();
    job_->barrier();
    return std::make_shared<ThreadCommunicator>(job, place);
  }

  std::unique_ptr<SharedWindows> share(std::size_t bytes) override {
    if (!job_->windows) return nullptr;
    Array own(Dtype::u8, {std::int64_t(bytes)});
    std::vector<std::span<std::byte>> windows;
    for (const std::span<std::byte> one : gathered(std::span(static_cast<std::byte*>(own.data()), bytes)))
      windows.push_back(one);
    return std::make_unique<ThreadWindows>(job_, std::move(windows), std::move(own));
  }

  /// The longest message that this rank has sent.
  std::size_t most_bytes() const { return most_bytes_; }

 private:
  template <class T>
  std::vector<T> gathered(const T& mine) {
    const std::vector<std::byte> bytes = allgather(std::as_bytes(std::span(&mine, 1)));
    std::vector<T> all(bytes.size() / sizeof(T), mine);
    std::memcpy(static_cast<void*>(all.data()), bytes.data(), bytes.size());
    return all;
  }

  std::shared_ptr<ThreadJob> job_;
  int rank_;
  std::size_t most_bytes_ = 0;
};

/// Calls body(communicator) in a thread for each rank. What a rank throws comes back, by rank.
inline std::vector<std::exception_ptr> run_ranks(int size, bool windows, auto&& body) {
  auto job = std::make_shared<ThreadJob>(size, windows);
  std::vector<std::exception_ptr> thrown(static_cast<std::size_t>(size));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < size; ++rank)
    threads.emplace_back([&, rank] {
      try {
        body(std::make_shared<ThreadCommunicator>(job, rank));
      } catch (...) {
        thrown[std::size_t(rank)] = std::current_exception();
      }
    });
  for (std::thread& thread : threads) thread.join();
  return thrown;
}

}  // namespace axisloom::test
