// Tries exchanges over NCCL on the NVIDIA cards of this host, a rank for each, and times them there. Build it by
// `ninja axisloom_try_nccl`; NCCL is found as the library finds it. Ends in 1 where something is wrong.
//
// Usage: axisloom_try_nccl [--threads] [--no-times | --no-patterns] [--json FILE]
//
// Ranks are processes; with --threads threads of one, and nothing is timed. A dozen patterns first, in two dtypes, by
// messages and through the peers' memory, in one round and in several, in the order of the queue and waited for, and
// into outputs that are shared, with NCCL as the engine and with threads as one: the bits have to be those of an
// exchange on the host. The same in a graph that is launched twice. Then
// "b s@x h d -> b s h@x d", as sequence parallelism has it, by each path. A time is that of the slowest card. Beside it
// stand what NCCL takes for the same bytes without packing, and the bound: these bytes over the link, over which every
// card copies to the next at the same time. What is not right to the last bit is not timed.
#include <axisloom/error.hpp>
#include <axisloom/nccl.hpp>

#include <dlfcn.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <new>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "thread_communicator.hpp"

namespace {

using namespace axisloom;

constexpr int times = 7, calls = 30;  // a time is the median of 7 runs of 30 calls

/// A function of a library, by its C type.
template <class Signature>
Signature* entry(void* library, const char* name) {
  void* const found = dlsym(library, name);
  if (!found) throw std::runtime_error(std::string("there is no ") + name);
  return reinterpret_cast<Signature*>(found);
}

void require(int code, const char* what) {
  if (code != 0) throw std::runtime_error(std::string(what) + " failed with " + std::to_string(code));
}

struct UniqueId {
  char bytes[128] = {};
};

struct IpcHandle {
  char bytes[64] = {};
};

/// What the library does not call itself: who makes communicators, and what it takes to measure a link without it.
struct Runtimes {
  static void* opened(const char* name) {
    void* const library = dlopen(name, RTLD_NOW | RTLD_GLOBAL);
    if (!library) throw std::runtime_error(dlerror());
    return library;
  }
  static const char* nccl_name() {
    const char* const named = std::getenv("AXISLOOM_NCCL");
    return named ? named : "libnccl.so.2";
  }

  void* nccl = opened(nccl_name());
  void* driver = opened("libcuda.so.1");
  int (*get_id)(UniqueId*) = entry<int(UniqueId*)>(nccl, "ncclGetUniqueId");
  int (*init_rank)(ncclComm_t*, int, UniqueId, int) = entry<int(ncclComm_t*, int, UniqueId, int)>(nccl,
                                                                                                  "ncclCommInitRank");
  int (*destroy)(ncclComm_t) = entry<int(ncclComm_t)>(nccl, "ncclCommDestroy");
  int (*version)(int*) = entry<int(int*)>(nccl, "ncclGetVersion");
  int (*retain)(void**, int) = entry<int(void**, int)>(driver, "cuDevicePrimaryCtxRetain");
  int (*set_current)(void*) = entry<int(void*)>(driver, "cuCtxSetCurrent");
  int (*handle_of)(IpcHandle*, std::uint64_t) = entry<int(IpcHandle*, std::uint64_t)>(driver, "cuIpcGetMemHandle");
  int (*open)(std::uint64_t*, IpcHandle,
              unsigned) = entry<int(std::uint64_t*, IpcHandle, unsigned)>(driver, "cuIpcOpenMemHandle_v2");
  int (*close)(std::uint64_t) = entry<int(std::uint64_t)>(driver, "cuIpcCloseMemHandle");
  int (*begin_capture)(void*, int) = entry<int(void*, int)>(driver, "cuStreamBeginCapture_v2");
  int (*end_capture)(void*, void**) = entry<int(void*, void**)>(driver, "cuStreamEndCapture");
  int (*instantiate)(void**, void*,
                     std::uint64_t) = entry<int(void**, void*, std::uint64_t)>(driver, "cuGraphInstantiateWithFlags");
  int (*launch_graph)(void*, void*) = entry<int(void*, void*)>(driver, "cuGraphLaunch");
  int (*copy)(std::uint64_t, std::uint64_t, std::size_t,
              void*) = entry<int(std::uint64_t, std::uint64_t, std::size_t, void*)>(driver, "cuMemcpyAsync");
  int (*create_stream)(void**, unsigned) = entry<int(void**, unsigned)>(driver, "cuStreamCreate");
  int (*allocate)(std::uint64_t*, std::size_t) = entry<int(std::uint64_t*, std::size_t)>(driver, "cuMemAlloc_v2");
  int (*free)(std::uint64_t) = entry<int(std::uint64_t)>(driver, "cuMemFree_v2");
};

/// What the ranks have in common before they have a communicator.
struct Meeting {
  std::atomic<int> ready = 0;
  UniqueId id;
};

struct Tried {
  const char* pattern;
  Dims shape;  // for two ranks; of more, each has less
  Lengths lengths = {};
};

const std::vector<Tried>& tried() {
  static const std::vector<Tried> all = {
      {"b s@x h d -> b s h@x d", {2, 32, 8, 32}},
      {"b s h@x d -> b s@x h d", {2, 32, 8, 32}},
      {"m@x n -> n@x m", {128, 96}},
      {"m@x n -> n m", {128, 48}},
      {"m n -> n@x m", {64, 96}},
      {"(a b)@x c -> b@x (c a)", {16, 33}, {{"a", 2}}},
      {"h@x w c -> c (h w)@x", {33, 24, 3}},
      {"s@x d -> s@x:4 d", {37, 64}},
      {"s@x:2 d -> d s@x:balanced", {33, 64}},
      {"a@x b -> a b r@x", {8, 40}, {{"r", 8}}},
      {"m n +x -> n@x m", {64, 32}},
      {"m n +x -> n m", {64, 48}},
  };
  return all;
}

/// Numbers of both signs, whose sums are rounded. Where an array is replicated, all ranks have the same.
std::vector<std::byte> drawn(Dtype dtype, std::int64_t count, unsigned seed) {
  std::vector<std::byte> bytes(std::size_t(count) * size_of(dtype));
  std::uint64_t state = seed * 7919 + 13;
  for (std::size_t i = 0; i < std::size_t(count); ++i) {
    state = state * 6364136223846793005U + 1442695040888963407U;
    const float value = float(std::int64_t(state >> 20) - (std::int64_t{1} << 43)) * 1e-9F;
    std::uint32_t bits = 0;
    std::memcpy(&bits, &value, 4);
    if (dtype == Dtype::bf16) bits >>= 16;
    std::memcpy(bytes.data() + i * size_of(dtype), &bits, size_of(dtype));
  }
  return bytes;
}

/// A rank with its card.
class Rank {
 public:
  /// `threads`: another engine, where ranks are threads.
  Rank(Meeting& meeting, int rank, int ranks, std::shared_ptr<Communicator> threads)
      : rank_(rank), ranks_(ranks), threads_(std::move(threads)) {
    if (rank == 0) {
      require(runtimes_.get_id(&meeting.id), "ncclGetUniqueId");
      meeting.ready = 1;
      meeting.ready.notify_all();
    }
    while (meeting.ready == 0) usleep(1000);                // perhaps of another process
    card_ = Device::open("cuda:" + std::to_string(rank_));  // which starts the driver
    void* context = nullptr;
    require(runtimes_.retain(&context, rank_), "cuDevicePrimaryCtxRetain");
    require(runtimes_.set_current(context), "cuCtxSetCurrent");
    require(runtimes_.init_rank(&comm_, ranks_, meeting.id, rank_), "ncclCommInitRank");
    require(runtimes_.create_stream(&stream_, 1), "cuStreamCreate");  // 1: apart from the default stream
    queue_ = card_.borrow_queue(stream_);
    in_order_ = nccl::communicator(comm_, {.limit = std::chrono::seconds(60), .abort = true});
    waited_ = nccl::communicator(comm_, {.limit = std::chrono::seconds(60), .in_stream_order = false, .abort = true});
  }
  Rank(const Rank&) = delete;
  Rank& operator=(const Rank&) = delete;
  ~Rank() {
    queue_.finish();
    in_order_.reset();
    waited_.reset();
    runtimes_.destroy(comm_);
  }

  void try_patterns() {
    for (const Tried& one : tried())
      for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
        if (!is_right(one, dtype)) {
          ++wrong_;
          std::printf("WRONG on rank %d: %s of %s\n", rank_, one.pattern, std::string(name(dtype)).c_str());
        }
    if (!host_arrays_are_right()) ++wrong_;
    for (const std::int64_t mib : {1, 64, 512})
      if (!is_right_in_a_graph(mib)) {
        ++wrong_;
        std::printf("WRONG on rank %d: a graph of %lld MiB\n", rank_, static_cast<long long>(mib));
      }
    const int wrong = wrong_of_all();
    if (rank_ == 0) std::printf("%zu patterns in 2 dtypes: %d wrong\n", tried().size(), wrong);
  }

  int wrong_of_all() {
    int sum = 0;
    for (const int one : gathered(wrong_)) sum += one;
    return sum;
  }

  void measure() {
    const double link = measure_link();
    if (rank_ == 0) std::printf("link: %.1f GB/s each way\n", link / 1e9);
    for (const std::int64_t mib : {1, 16, 64, 256, 1024}) {
      measure<std::uint32_t>(mib, Dtype::f32, link);
      measure<std::uint16_t>(mib, Dtype::bf16, link);
    }
  }

  void write_json(const char* file) {
    int version = 0;
    runtimes_.version(&version);
    if (rank_ == 0)
      std::ofstream(file) << "{\"device\": \"" << card_.info().name << "\", \"ranks\": " << ranks_
                          << ", \"nccl\": " << version << ", \"patterns\": " << tried().size() << ", \"cases\": [\n"
                          << json_ << "]}\n";
  }

 private:
  /// Memory of the card that is not the library's.
  class Memory {
   public:
    Memory(Rank& rank, std::size_t bytes) : rank_(rank) {
      require(rank.runtimes_.allocate(&address, bytes), "cuMemAlloc");
      buffer = rank.card_.borrow_buffer(pointer(), bytes);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { rank_.runtimes_.free(address); }
    std::byte* pointer() const { return reinterpret_cast<std::byte*>(address); }

    std::uint64_t address = 0;
    Buffer buffer;

   private:
    Rank& rank_;
  };

  template <class Item>
  std::vector<Item> gathered(const Item& mine) {
    const std::vector<std::byte> bytes = in_order_->allgather(std::as_bytes(std::span(&mine, 1)));
    std::vector<Item> all(bytes.size() / sizeof(Item));
    std::memcpy(static_cast<void*>(all.data()), bytes.data(), bytes.size());
    return all;
  }

  static std::vector<std::byte> input(const Tried& one, Dtype dtype, std::int64_t count, int rank) {
    const std::string_view left = std::string_view(one.pattern).substr(0, std::string_view(one.pattern).find("->"));
    const bool parted = left.find('x') != std::string_view::npos;  // no axis is called so
    return drawn(dtype, count, parted ? unsigned(rank) + 1 : 0);
  }

  /// What this rank is to have, by an exchange between threads.
  std::vector<std::byte> on_host(const Tried& one, Dtype dtype) {
    std::vector<std::byte> mine;
    test::run_ranks(ranks_, true, [&](const std::shared_ptr<test::ThreadCommunicator>& threads) {
      Exchange exchange(one.pattern, mesh(), one.shape, dtype, threads, {}, one.lengths);
      const std::vector<std::byte> in = input(one, dtype, exchange.in_view().count(), threads->rank());
      std::vector<std::byte> out(std::size_t(exchange.out_view().count()) * size_of(dtype));
      exchange.run(in.data(), out.data());
      if (threads->rank() == rank_) mine = std::move(out);
    });
    return mine;
  }

  /// By each path and way of waiting, in one round and in several.
  bool is_right(const Tried& one, Dtype dtype) {
    const std::vector<std::byte> wanted = on_host(one, dtype);
    bool right = true;
    for (const auto& ranks : {in_order_, waited_, threads_})
      for (const bool windows : {true, false})
        for (const std::int64_t workspace : {std::int64_t{256} << 20, std::int64_t{4} << 10}) {
          if (!ranks) continue;
          Exchange exchange(one.pattern, mesh(), one.shape, dtype, ranks,
                            {.device = card_, .workspace = workspace, .windows = windows}, one.lengths);
          const std::vector<std::byte> in = input(one, dtype, exchange.in_view().count(), rank_);
          right = run(exchange, in, wanted.size()) == wanted && right;
          if (exchange.report().not_direct.empty()) right = run_shared(exchange, in, wanted.size()) == wanted && right;
          const bool travels = exchange.report().path != ExchangePath::local;
          const bool adds = std::string_view(one.pattern).find('+') != std::string_view::npos;
          if (travels && windows && !adds && exchange.report().path != ExchangePath::windows) {
            std::printf("not through windows on rank %d: %s\n", rank_, exchange.report().reason.c_str());
            right = false;
          }
        }
    return right;
  }

  /// Twice, without waiting for anything in between.
  std::vector<std::byte> run(Exchange& exchange, const std::vector<std::byte>& in, std::size_t out_bytes) {
    std::vector<std::byte> out(out_bytes, std::byte{0x5a});
    const Memory from(*this, in.size()), to(*this, out_bytes);
    queue_.write(to.buffer, 0, out);
    queue_.write(from.buffer, 0, in);
    exchange.run(queue_, from.buffer, to.buffer);
    exchange.run(queue_, from.buffer, to.buffer);
    queue_.read(to.buffer, 0, out).wait();
    return out;
  }

  /// Captured once and launched twice, with other elements the second time.
  bool is_right_in_a_graph(std::int64_t mib) {
    const std::int64_t rows = (mib << 20) / std::int64_t(2 * 32 * 128 * sizeof(std::uint32_t));
    const Memory from(*this, std::size_t(mib) << 20), to(*this, std::size_t(mib) << 20);
    std::vector<std::uint32_t> values = rows_before<std::uint32_t>(std::uint64_t(rows));
    Exchange exchange("b s@x h d -> b s h@x d", mesh(), {2, rows * ranks_, 32, 128}, Dtype::u32, in_order_,
                      {.device = card_});
    void *graph = nullptr, *ready = nullptr;
    require(runtimes_.begin_capture(stream_, 1), "cuStreamBeginCapture");  // 1: of this thread
    exchange.run(queue_, from.buffer, to.buffer);
    require(runtimes_.end_capture(stream_, &graph), "cuStreamEndCapture");
    require(runtimes_.instantiate(&ready, graph, 0), "cuGraphInstantiate");
    bool right = true;
    for (int time = 0; time < 2; ++time) {
      queue_.write(from.buffer, 0, std::as_bytes(std::span(values)));
      require(runtimes_.launch_graph(ready, stream_), "cuGraphLaunch");
      std::vector<std::uint32_t> result(values.size());
      queue_.read(to.buffer, 0, std::as_writable_bytes(std::span(result))).wait();
      if (time == 1)
        for (std::uint32_t& value : result) value = ~value;
      right = heads_are_right(result) && right;
      for (std::uint32_t& value : values) value = ~value;
    }
    gathered(char{});
    return right;
  }

  std::vector<std::byte> run_shared(Exchange& exchange, const std::vector<std::byte>& in, std::size_t out_bytes) {
    std::vector<std::byte> out(out_bytes);
    const Memory from(*this, in.size());
    const SharedOutput to = exchange.share_output();
    queue_.write(from.buffer, 0, in);
    exchange.run(queue_, from.buffer, to);
    exchange.run(queue_, from.buffer, to);
    if (!out.empty()) queue_.read(to.buffer(), 0, out).wait();
    return out;
  }

  bool host_arrays_are_right() {
    const Tried& one = tried()[0];
    Exchange exchange(one.pattern, mesh(), one.shape, Dtype::f32, in_order_);
    const std::vector<std::byte> in = input(one, Dtype::f32, exchange.in_view().count(), rank_);
    const std::vector<std::byte> wanted = on_host(one, Dtype::f32);
    std::vector<std::byte> out(wanted.size());
    exchange.run(in.data(), out.data());
    return out == wanted;
  }

  /// Of the whole array, which tells all of them apart.
  template <class Bits>
  static Bits element(std::uint64_t index) {
    return Bits((index + 1) * 0x9e3779b97f4a7c15U >> 29);
  }

  /// This rank's rows of 2 x all rows x 32 heads x 128.
  template <class Bits>
  std::vector<Bits> rows_before(std::uint64_t rows) const {
    const std::uint64_t each = rows * 32 * 128;
    std::vector<Bits> values;
    values.reserve(2 * each);
    for (std::uint64_t b = 0; b < 2; ++b) {
      const std::uint64_t first = (b * std::uint64_t(ranks_) + std::uint64_t(rank_)) * each;
      for (std::uint64_t i = 0; i < each; ++i) values.push_back(element<Bits>(first + i));
    }
    return values;
  }

  /// This rank's heads of them.
  template <class Bits>
  bool heads_are_right(const std::vector<Bits>& values) const {
    const std::uint64_t each = 32 * 128 / std::uint64_t(ranks_);
    auto value = values.begin();
    for (std::uint64_t row = 0; row < values.size() / each; ++row)
      for (std::uint64_t i = 0; i < each; ++i)
        if (*value++ != element<Bits>(row * 32 * 128 + std::uint64_t(rank_) * each + i)) return false;
    return true;
  }

  struct Way {
    const char* name;
    bool windows, shared;
  };

  template <class Bits>
  void measure(std::int64_t mib, Dtype dtype, double link) {
    const std::int64_t rows = (mib << 20) / std::int64_t(2 * 32 * 128 * sizeof(Bits));
    const Memory from(*this, std::size_t(mib) << 20), to(*this, std::size_t(mib) << 20);
    std::vector<Bits> values = rows_before<Bits>(std::uint64_t(rows));
    queue_.write(from.buffer, 0, std::as_bytes(std::span(values))).wait();
    for (const Way& way : {Way{"messages", false, false}, Way{"windows", true, false}, Way{"shared", true, true}}) {
      Exchange exchange("b s@x h d -> b s h@x d", mesh(), {2, rows * ranks_, 32, 128}, dtype, in_order_,
                        {.device = card_, .windows = way.windows});
      std::optional<SharedOutput> output;
      if (way.shared) output = exchange.share_output();
      const auto call = [&] {
        if (output)
          exchange.run(queue_, from.buffer, *output);
        else
          exchange.run(queue_, from.buffer, to.buffer);
      };
      call();
      queue_.read(output ? output->buffer() : to.buffer, 0, std::as_writable_bytes(std::span(values))).wait();
      if (!heads_are_right(values)) {
        ++wrong_;
        std::printf("WRONG on rank %d: %lld MiB by %s\n", rank_, static_cast<long long>(mib), way.name);
      }
      if (wrong_of_all() > 0) return;
      const double ours = median_seconds(call);
      const double bare = median_seconds([&] { send_bare(from, to, std::size_t(exchange.report().bytes_sent)); });
      if (rank_ == 0) note(mib, dtype, way.name, exchange.report(), link, ours, bare);
    }
  }

  void note(std::int64_t mib, Dtype dtype, const char* way, const ExchangeReport& report, double link, double ours,
            double bare) {
    const double bound = double(report.bytes_sent) / link;
    const auto number = [](const auto value) { return std::to_string(value); };
    const std::string type(name(dtype)), what = number(mib) + " MiB " + type + " by " + way;
    std::printf("%-26s %3lld rounds %9.1f us, %.2f of the bound; NCCL without packing %9.1f us, %.2f\n", what.c_str(),
                static_cast<long long>(report.rounds), ours * 1e6, bound / ours, bare * 1e6, bound / bare);
    json_ += (json_.empty() ? "" : ",\n") + ("  {\"mib\": " + number(mib)) + ", \"dtype\": \"" + type +
             "\", \"way\": \"" + way + "\", \"rounds\": " + number(report.rounds) +
             ", \"microseconds\": " + number(ours * 1e6) + ", \"microseconds_of_nccl_alone\": " + number(bare * 1e6) +
             ", \"share_of_bound\": " + number(bound / ours) + ", \"link_bytes_per_second\": " + number(link) + "}";
  }

  /// The same number of bytes from one buffer to the other, in equal messages.
  void send_bare(const Memory& from, const Memory& to, std::size_t bytes) {
    std::vector<OutgoingMessage> out;
    std::vector<IncomingMessage> in;
    const std::size_t part = bytes / std::size_t(ranks_ - 1);
    std::size_t at = 0;
    for (int peer = 0; peer < ranks_; ++peer) {
      if (peer == rank_) continue;
      out.push_back({peer, {from.pointer() + at, part}});
      in.push_back({peer, {to.pointer() + at, part}});
      at += part;
    }
    in_order_->start_on_device(queue_, out, in)->wait_in(queue_);
  }

  /// Bytes a second of the slowest card, where each copies to the next.
  double measure_link() {
    constexpr std::size_t bytes = std::size_t{512} << 20;
    const Memory from(*this, bytes), to(*this, bytes);
    IpcHandle mine;
    require(runtimes_.handle_of(&mine, to.address), "cuIpcGetMemHandle");
    const IpcHandle next = gathered(mine)[std::size_t((rank_ + 1) % ranks_)];
    std::uint64_t there = 0;
    require(runtimes_.open(&there, next, 1), "cuIpcOpenMemHandle");  // 1: by peer access
    const double seconds =
        median_seconds([&] { require(runtimes_.copy(there, from.address, bytes, stream_), "cuMemcpyAsync"); });
    require(runtimes_.close(there), "cuIpcCloseMemHandle");
    gathered(char{});
    return double(bytes) / seconds;
  }

  /// Of a call, on the slowest card.
  double median_seconds(auto&& call) {
    std::vector<double> found;
    for (int time = -1; time < times; ++time) {
      queue_.finish();
      gathered(char{});
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; ++i) call();
      queue_.finish();
      const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begin;
      const double slowest = std::ranges::max(gathered(past.count() / calls));
      if (time >= 0) found.push_back(slowest);
    }
    std::ranges::sort(found);
    return found[times / 2];
  }

  std::string mesh() const { return "x=" + std::to_string(ranks_); }

  Runtimes runtimes_;
  int rank_, ranks_;
  int wrong_ = 0;
  std::string json_;
  ncclComm_t comm_ = nullptr;
  void* stream_ = nullptr;
  Device card_;
  Queue queue_;
  std::shared_ptr<Communicator> in_order_, waited_, threads_;
};

int cards() {
  int found = 0;
  for (const DeviceInfo& info : devices()) found += info.api == Api::cuda;
  return found;
}

struct Asked {
  bool threads = false, patterns = true, timed = true;
  const char* json = nullptr;
};

int run_rank(Meeting& meeting, int number, int ranks, const Asked& asked, std::shared_ptr<Communicator> threads = {}) {
  try {
    Rank rank(meeting, number, ranks, std::move(threads));
    if (asked.patterns) rank.try_patterns();
    if (asked.timed && !asked.threads && rank.wrong_of_all() == 0) rank.measure();
    if (asked.json) rank.write_json(asked.json);
    return rank.wrong_of_all() == 0 ? 0 : 1;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "rank %d: %s\n", number, error.what());
    std::_Exit(1);  // threads would wait for this rank
  }
}

/// What the body returns, in a process of its own. A child cannot use a driver that its parent has used.
pid_t started(auto&& body) {
  const pid_t child = fork();
  if (child != 0) return child;
  std::_Exit(body());
}

int result_of(pid_t child) {
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1;
}

int try_all(const Asked& asked) {
  const int ranks = result_of(started(cards));
  void* const shared = mmap(nullptr, sizeof(Meeting), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  Meeting& meeting = *new (shared) Meeting;
  int wrong = 0;
  if (asked.threads) {
    std::vector<int> results(std::size_t(ranks), 1);
    test::run_ranks(ranks, false, [&](const std::shared_ptr<test::ThreadCommunicator>& threads) {
      results[std::size_t(threads->rank())] = run_rank(meeting, threads->rank(), ranks, asked, threads);
    });
    for (const int result : results) wrong += result;
  } else {
    std::vector<pid_t> children;
    for (int rank = 0; rank < ranks; ++rank)
      children.push_back(started([&] { return run_rank(meeting, rank, ranks, asked); }));
    for (const pid_t child : children) wrong += result_of(child);
  }
  return wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  Asked asked;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--threads") asked.threads = true;
    if (word == "--no-patterns") asked.patterns = false;
    if (word == "--no-times") asked.timed = false;
    if (word == "--json" && i + 1 < count) asked.json = words[++i];
  }
  setvbuf(stdout, nullptr, _IOLBF, 0);
  return try_all(asked);
}
