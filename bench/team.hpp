// A team of threads, one per core, that stays together: starting threads anew would be part of every measurement.
#pragma once

#include "core/integers.hpp"
#include "core/not_copied.hpp"

#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace axisloom::bench {

class Team : core::NotCopied {
 public:
  /// One member per core that the process may use, or as many as asked for; the caller is one of them.
  explicit Team(unsigned members = 0);
  ~Team();

  unsigned size() const noexcept { return threads_.size() + 1; }
  /// Calls work(member) once for every member at the same time and returns when all are done. Of what they throw, one
  /// exception is thrown on.
  void run(const std::function<void(unsigned member)>& work);

  /// The share of `count` things that a member takes: [begin, end).
  struct Share {
    i64 begin, end;
  };
  Share share(i64 count, unsigned member) const noexcept {
    return {count * member / size(), count * (member + 1) / size()};
  }

 private:
  void serve(unsigned member);
  /// Has every thread leave, and waits for it.
  void dismiss() noexcept;
  void do_part(const std::function<void(unsigned)>& work, unsigned member) noexcept;

  std::mutex mutex_;
  std::condition_variable start_, done_;
  const std::function<void(unsigned)>* work_ = nullptr;
  u64 round_ = 0;
  unsigned running_ = 0;
  std::exception_ptr failure_;  // the first of a round
  bool leaving_ = false;
  std::vector<std::thread> threads_;
};

}  // namespace axisloom::bench
