// A team of threads, one per core, that stays together: starting threads anew would be part of every measurement.
#pragma once

#include <condition_variable>
#include <cstdint>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace axisloom::bench {

class Team {
 public:
  /// One member per core that the process may use, or as many as asked for; the caller is one of them. Throws
  /// Error(out_of_memory) when a thread cannot be started.
  explicit Team(unsigned members = 0);
  ~Team();
  Team(const Team&) = delete;
  Team& operator=(const Team&) = delete;

  unsigned size() const noexcept { return static_cast<unsigned>(threads_.size()) + 1; }
  /// Calls work(member) once for every member at the same time and returns when all are done. `work` must not throw.
  void run(const std::function<void(unsigned member)>& work);

  /// The share of `count` things that a member takes: [begin, end).
  struct Share {
    std::int64_t begin, end;
  };
  Share share(std::int64_t count, unsigned member) const noexcept {
    return {count * member / size(), count * (member + 1) / size()};
  }

 private:
  void serve(unsigned member);
  /// Has every thread leave, and waits for it.
  void dismiss() noexcept;

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(unsigned)>* work_ = nullptr;
  std::uint64_t round_ = 0;
  unsigned running_ = 0;
  bool leaving_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace axisloom::bench
