// An NCCL for tests: its ranks are threads of one process, and memory of a device is that of the host, as with the fake
// driver. What it does is done when its calls return. tests/unit/fake_nccl.cpp is the library, which works on what a
// test makes here.
//
//   FakeNcclJob job(2);
//   job.comm(0).failing = "ncclSend", job.comm(0).code = 2;   // that call fails
//   job.comm(0).state = 6;                                    // what ncclCommGetAsyncError finds
//   job.comm(0).calls                                         // what was called
#pragma once

#include <algorithm>
#include <chrono>
#include <condition_variable>
#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <mutex>
#include <span>
#include <string>
#include <utility>
#include <vector>

namespace axisloom::test {
class FakeNcclJob;
}

/// A rank's communicator. Its members are those of the thread that is this rank, but for `state`.
struct ncclComm {
  axisloom::test::FakeNcclJob* job = nullptr;
  int rank = 0;
  int state = 0;        // ncclResult_t
  int busy = 0;         // so many times a call goes on when it is asked for the state, as where none blocks
  std::string failing;  // an entry
  int code = 0;         // what it returns
  std::string words;    // of ncclGetLastError
  std::vector<std::string> calls;
  std::function<void(void*)> on_messages = {};  // called for each call that gets a stream

  /// What the entry returns.
  int note(const std::string& entry, const std::string& text) {
    calls.push_back(text);
    return failing == entry ? code : 0;
  }
};

namespace axisloom::test {

class FakeNcclJob {
 public:
  explicit FakeNcclJob(int size) : comms_(static_cast<std::size_t>(size)) {
    for (int rank = 0; rank < size; ++rank) {
      comm(rank).job = this;
      comm(rank).rank = rank;
    }
  }

  int size() const { return static_cast<int>(comms_.size()); }
  ncclComm& comm(int rank) { return comms_[static_cast<std::size_t>(rank)]; }
  bool lossy = false;  // what does not come is not waited for

  void send(int from, int to, std::span<const std::byte> bytes) {
    const std::lock_guard lock(mutex_);
    messages_[{from, to}].emplace_back(bytes.begin(), bytes.end());
    changed_.notify_all();
  }

  /// False where no message of that length came in 20 seconds.
  bool receive(int from, int to, std::span<std::byte> bytes) {
    std::unique_lock lock(mutex_);
    auto& queue = messages_[{from, to}];
    const std::chrono::seconds limit(lossy ? 0 : 20);
    if (!changed_.wait_for(lock, limit, [&] { return !queue.empty(); })) return lossy;
    const bool right = queue.front().size() == bytes.size();
    if (right) std::ranges::copy(queue.front(), bytes.begin());
    queue.pop_front();
    return right;
  }

 private:
  std::deque<ncclComm> comms_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::map<std::pair<int, int>, std::deque<std::vector<std::byte>>> messages_;  // from, to
};

}  // namespace axisloom::test
