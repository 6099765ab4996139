// The communicator of MPI: messages are MPI_Isend and MPI_Irecv, shared memory is a window of MPI.
#include <axisloom/error.hpp>
#include <axisloom/mpi.hpp>

#ifdef OPEN_MPI
#include <mpi-ext.h>
#endif

#include <algorithm>
#include <chrono>
#include <cstdint>
#include <string>
#include <thread>
#include <utility>
#include <vector>

namespace axisloom::mpi {
namespace {

/// MPI counts in ints; a longer message goes in parts. They arrive in the order in which they were sent.
constexpr std::size_t longest_part = std::size_t{1} << 30;

constexpr int tag = 0;

/// What SharedWindows promises of where a window begins.
constexpr std::size_t window_alignment = 64;

void check(int code, const char* call) {
  if (code == MPI_SUCCESS) return;
  char text[MPI_MAX_ERROR_STRING + 1] = {};
  int length = 0;
  MPI_Error_string(code, text, &length);
  throw Error(Errc::device,
              {.message = text, .call = call, .native = code, .remedy = "end the job: its ranks may be out of step"});
}

/// Waits awake at first, giving way to others, then asleep most of the time: where ranks are more than processors, one
/// that waits awake, as MPI's own calls do, takes the time of those that it waits for.
void wait_aside(MPI_Request& request) {
  constexpr std::chrono::microseconds awake(50), longest_sleep(200);
  const auto begin = std::chrono::steady_clock::now();
  std::chrono::microseconds sleep(10);
  for (int done = 0;;) {
    check(MPI_Test(&request, &done, MPI_STATUS_IGNORE), "MPI_Test");
    if (done) return;
    if (std::chrono::steady_clock::now() - begin < awake) {
      std::this_thread::yield();
      continue;
    }
    std::this_thread::sleep_for(sleep);
    sleep = std::min(2 * sleep, longest_sleep);
  }
}

bool is_running() {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  return begun != 0 && ended == 0;
}

/// Messages in parts, in the order in which they were given.
class Requests : public MessagesInFlight {
 public:
  Requests() = default;
  Requests(const Requests&) = delete;
  Requests& operator=(const Requests&) = delete;
  ~Requests() override {
    if (!is_running()) return;
    for (MPI_Request& request : receives_) give_up(request);
    // What is being sent lies in memory that the exchange keeps.
    for (MPI_Request& request : sends_)
      if (request != MPI_REQUEST_NULL) MPI_Request_free(&request);
  }

  void receive(const IncomingMessage& message, MPI_Comm comm) {
    in_parts(message.bytes, receives_, [&](std::span<std::byte> part, MPI_Request& request) {
      check(MPI_Irecv(part.data(), int(part.size()), MPI_BYTE, message.from, tag, comm, &request), "MPI_Irecv");
    });
  }
  void send(const OutgoingMessage& message, MPI_Comm comm) {
    in_parts(message.bytes, sends_, [&](std::span<const std::byte> part, MPI_Request& request) {
      check(MPI_Isend(part.data(), int(part.size()), MPI_BYTE, message.to, tag, comm, &request), "MPI_Isend");
    });
  }

  void wait() override {
    for (std::vector<MPI_Request>* requests : {&receives_, &sends_})
      for (MPI_Request& request : *requests) check(MPI_Wait(&request, MPI_STATUS_IGNORE), "MPI_Wait");
  }

 private:
  static void in_parts(auto bytes, std::vector<MPI_Request>& requests, auto&& start) {
    for (std::size_t begin = 0; begin < bytes.size(); begin += longest_part)
      start(bytes.subspan(begin, std::min(longest_part, bytes.size() - begin)),
            requests.emplace_back(MPI_REQUEST_NULL));
  }

  static void give_up(MPI_Request& request) {
    if (request == MPI_REQUEST_NULL) return;
    MPI_Cancel(&request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
  }

  std::vector<MPI_Request> receives_, sends_;
};

/// A window of MPI's shared memory, which is open to all as long as it exists.
class Windows : public SharedWindows {
 public:
  Windows(MPI_Comm comm, int size, std::size_t bytes) : comm_(comm) {
    // Each on pages of its own, where its rank puts them.
    MPI_Info info = MPI_INFO_NULL;
    check(MPI_Info_create(&info), "MPI_Info_create");
    MPI_Info_set(info, "alloc_shared_noncontig", "true");
    void* mine = nullptr;
    const int code = MPI_Win_allocate_shared(MPI_Aint(bytes + window_alignment), 1, info, comm, &mine, &window_);
    MPI_Info_free(&info);
    check(code, "MPI_Win_allocate_shared");
    MPI_Win_set_errhandler(window_, MPI_ERRORS_RETURN);
    for (int rank = 0; rank < size; ++rank) windows_.push_back(window_of(rank));
    check(MPI_Win_lock_all(MPI_MODE_NOCHECK, window_), "MPI_Win_lock_all");
  }
  Windows(const Windows&) = delete;
  Windows& operator=(const Windows&) = delete;
  ~Windows() override {
    if (!is_running()) return;
    MPI_Win_unlock_all(window_);
    MPI_Win_free(&window_);
  }

  std::span<std::byte> of(int rank) const override { return windows_[std::size_t(rank)]; }

  void barrier() override {
    check(MPI_Win_sync(window_), "MPI_Win_sync");
    MPI_Request request = MPI_REQUEST_NULL;
    check(MPI_Ibarrier(comm_, &request), "MPI_Ibarrier");
    wait_aside(request);
    check(MPI_Win_sync(window_), "MPI_Win_sync");
  }

 private:
  std::span<std::byte> window_of(int rank) const {
    MPI_Aint bytes = 0;
    int unit = 0;
    void* begin = nullptr;
    check(MPI_Win_shared_query(window_, rank, &bytes, &unit, &begin), "MPI_Win_shared_query");
    // Ranks reach the same pages at other addresses, but at the same place within a page.
    const auto past = reinterpret_cast<std::uintptr_t>(begin) % window_alignment;
    const std::size_t skipped = past == 0 ? 0 : window_alignment - past;
    return {static_cast<std::byte*>(begin) + skipped, std::size_t(bytes) - window_alignment};
  }

  MPI_Comm comm_;
  MPI_Win window_ = MPI_WIN_NULL;
  std::vector<std::span<std::byte>> windows_;
};

class MpiCommunicator : public Communicator {
 public:
  /// Takes it over.
  explicit MpiCommunicator(MPI_Comm comm) : comm_(comm) {
    check(MPI_Comm_set_errhandler(comm_, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
    check(MPI_Comm_size(comm_, &size_), "MPI_Comm_size");
  }
  MpiCommunicator(const MpiCommunicator&) = delete;
  MpiCommunicator& operator=(const MpiCommunicator&) = delete;
  ~MpiCommunicator() override {
    if (is_running()) MPI_Comm_free(&comm_);
  }

  int rank() const override { return rank_; }
  int size() const override { return size_; }

  std::vector<std::byte> allgather(std::span<const std::byte> mine) override {
    std::vector<std::byte> all(mine.size() * std::size_t(size_));
    const int count = int(mine.size());
    check(MPI_Allgather(mine.data(), count, MPI_BYTE, all.data(), count, MPI_BYTE, comm_), "MPI_Allgather");
    return all;
  }

  std::unique_ptr<MessagesInFlight> start_alltoallv(std::span<const OutgoingMessage> out,
                                                    std::span<const IncomingMessage> in) override {
    auto requests = std::make_unique<Requests>();
    for (const IncomingMessage& message : in) requests->receive(message, comm_);
    for (const OutgoingMessage& message : out) requests->send(message, comm_);
    return requests;
  }

  std::shared_ptr<Communicator> split(int group) override {
    MPI_Comm part = MPI_COMM_NULL;
    check(MPI_Comm_split(comm_, group, rank_, &part), "MPI_Comm_split");
    return std::make_shared<MpiCommunicator>(part);
  }

  bool takes_device_memory() const override {
#if defined(MPIX_CUDA_AWARE_SUPPORT) || (defined(MPICH_NUMVERSION) && MPICH_NUMVERSION >= 40000000)
    return MPIX_Query_cuda_support() == 1;
#else
    return false;
#endif
  }

  std::unique_ptr<SharedWindows> share(std::size_t bytes) override {
    // Where all are on one host, each of them counts all; else none does.
    MPI_Comm host = MPI_COMM_NULL;
    check(MPI_Comm_split_type(comm_, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL, &host), "MPI_Comm_split_type");
    int on_host = 0;
    const int code = MPI_Comm_size(host, &on_host);
    MPI_Comm_free(&host);
    check(code, "MPI_Comm_size");
    if (on_host != size_) return nullptr;
    return std::make_unique<Windows>(comm_, size_, bytes);
  }

 private:
  MPI_Comm comm_;
  int rank_ = 0, size_ = 1;
};

}  // namespace

std::shared_ptr<Communicator> communicator(MPI_Comm comm) {
  if (!is_running()) throw Error(Errc::usage, "MPI is not running", "call it after MPI_Init and before MPI_Finalize");
  if (comm == MPI_COMM_NULL) throw Error(Errc::usage, "the communicator is MPI_COMM_NULL", "give one of this rank");
  MPI_Comm own = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm, &own), "MPI_Comm_dup");
  return std::make_shared<MpiCommunicator>(own);
}

}  // namespace axisloom::mpi
