// Tries exchanges over NCCL on the NVIDIA cards of this host, a rank for each, and times them there. Build it by
// `ninja axisloom_try_nccl`; NCCL is found as the library finds it. Ends in 1 where something is wrong.
//
// Usage: axisloom_try_nccl [--no-times | --no-patterns] [--json FILE]
//
// A dozen patterns first, in two dtypes, with messages in one round and in several, in the order of the queue and
// waited for: the bits have to be those of an exchange between threads on the host. Then "b s@x h d -> b s h@x d", as
// sequence parallelism has it, of 64 MiB and 1 GiB on each card, in workspaces of several sizes. A time is that of the
// slowest card. Beside it stand what NCCL takes for the same bytes without packing, and the bound: these bytes over the
// link, over which every card copies to the next at the same time. What is not right to the last bit is not timed.
#include <axisloom/error.hpp>
#include <axisloom/nccl.hpp>

#include <dlfcn.h>

#include <algorithm>
#include <atomic>
#include <barrier>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fstream>
#include <map>
#include <string>
#include <vector>

#include "thread_communicator.hpp"

namespace {

using namespace axisloom;

constexpr int times = 7, calls = 10;  // a time is the median of 7 runs of 10 calls

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

/// What the library does not call itself: who makes communicators, and who sees a card's memory from another card.
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
  int (*enable_peer)(void*, unsigned) = entry<int(void*, unsigned)>(driver, "cuCtxEnablePeerAccess");
  int (*copy)(std::uint64_t, std::uint64_t, std::size_t,
              void*) = entry<int(std::uint64_t, std::uint64_t, std::size_t, void*)>(driver, "cuMemcpyAsync");
  int (*create_stream)(void**, unsigned) = entry<int(void**, unsigned)>(driver, "cuStreamCreate");
  int (*allocate)(std::uint64_t*, std::size_t) = entry<int(std::uint64_t*, std::size_t)>(driver, "cuMemAlloc_v2");
  int (*free)(std::uint64_t) = entry<int(std::uint64_t)>(driver, "cuMemFree_v2");
};

/// What the ranks, threads of this process, have in common.
struct Job {
  explicit Job(int ranks)
      : ranks(ranks),
        together(ranks),
        contexts(std::size_t(ranks)),
        addresses(std::size_t(ranks)),
        seconds(std::size_t(ranks)) {
    require(runtimes.get_id(&id), "ncclGetUniqueId");
  }

  const int ranks;
  std::barrier<> together;
  Runtimes runtimes;
  UniqueId id;
  std::vector<void*> contexts;
  std::vector<std::uint64_t> addresses;
  std::vector<double> seconds;
  std::atomic<int> wrong = 0;
  std::string json;
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
  Rank(Job& job, std::shared_ptr<test::ThreadCommunicator> threads)
      : job_(job), rank_(threads->rank()), threads_(std::move(threads)) {
    require(job_.runtimes.retain(&job_.contexts[std::size_t(rank_)], rank_), "cuDevicePrimaryCtxRetain");
    require(job_.runtimes.set_current(job_.contexts[std::size_t(rank_)]), "cuCtxSetCurrent");
    require(job_.runtimes.init_rank(&comm_, job_.ranks, job_.id, rank_), "ncclCommInitRank");
    card_ = Device::open("cuda:" + std::to_string(rank_));
    require(job_.runtimes.create_stream(&stream_, 1), "cuStreamCreate");  // 1: apart from the default stream
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
    job_.runtimes.destroy(comm_);
  }

  void try_patterns() {
    for (const Tried& one : tried())
      for (const Dtype dtype : {Dtype::f32, Dtype::bf16})
        if (!is_right(one, dtype)) {
          ++job_.wrong;
          std::printf("WRONG on rank %d: %s of %s\n", rank_, one.pattern, std::string(name(dtype)).c_str());
        }
    if (!host_arrays_are_right()) ++job_.wrong;
    job_.together.arrive_and_wait();
    if (rank_ == 0) std::printf("%zu patterns in 2 dtypes: %d wrong\n", tried().size(), job_.wrong.load());
  }

  void measure() {
    const double link = measure_link();
    if (rank_ == 0) std::printf("link: %.1f GB/s each way\n", link / 1e9);
    for (const std::int64_t mib : {64, 1024}) {
      measure<std::uint32_t>(mib, Dtype::f32, link);
      measure<std::uint16_t>(mib, Dtype::bf16, link);
    }
  }

 private:
  /// Memory of the card that is not the library's.
  class Memory {
   public:
    Memory(Rank& rank, std::size_t bytes) : rank_(rank) {
      require(rank.job_.runtimes.allocate(&address, bytes), "cuMemAlloc");
      buffer = rank.card_.borrow_buffer(pointer(), bytes);
    }
    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;
    ~Memory() { rank_.job_.runtimes.free(address); }
    std::byte* pointer() const { return reinterpret_cast<std::byte*>(address); }

    std::uint64_t address = 0;
    Buffer buffer;

   private:
    Rank& rank_;
  };

  std::vector<std::byte> on_host(const Tried& one, Dtype dtype, const std::vector<std::byte>& in) {
    Exchange exchange(one.pattern, mesh(), one.shape, dtype, threads_, {}, one.lengths);
    std::vector<std::byte> out(std::size_t(exchange.out_view().count()) * size_of(dtype));
    exchange.run(in.data(), out.data());
    return out;
  }

  /// By each way of waiting, in one round and in several.
  bool is_right(const Tried& one, Dtype dtype) {
    const bool parted = std::string_view(one.pattern).substr(0, std::string_view(one.pattern).find("->")).find('x') !=
                        std::string_view::npos;  // no axis is called so
    bool right = true;
    for (const auto& ranks : {in_order_, waited_})
      for (const std::int64_t workspace : {std::int64_t{256} << 20, std::int64_t{4} << 10}) {
        Exchange exchange(one.pattern, mesh(), one.shape, dtype, ranks, {.device = card_, .workspace = workspace},
                          one.lengths);
        const std::vector<std::byte> in = drawn(dtype, exchange.in_view().count(), parted ? unsigned(rank_) + 1 : 0);
        const std::vector<std::byte> wanted = on_host(one, dtype, in);
        right = run(exchange, in, wanted.size()) == wanted && right;
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

  bool host_arrays_are_right() {
    const Tried& one = tried()[0];
    Exchange exchange(one.pattern, mesh(), one.shape, Dtype::f32, in_order_);
    const std::vector<std::byte> in = drawn(Dtype::f32, exchange.in_view().count(), unsigned(rank_) + 1);
    const std::vector<std::byte> wanted = on_host(one, Dtype::f32, in);
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
      const std::uint64_t first = (b * std::uint64_t(job_.ranks) + std::uint64_t(rank_)) * each;
      for (std::uint64_t i = 0; i < each; ++i) values.push_back(element<Bits>(first + i));
    }
    return values;
  }

  /// This rank's heads of them.
  template <class Bits>
  bool heads_are_right(const std::vector<Bits>& values) const {
    const std::uint64_t each = 32 * 128 / std::uint64_t(job_.ranks);
    auto value = values.begin();
    for (std::uint64_t row = 0; row < values.size() / each; ++row)
      for (std::uint64_t i = 0; i < each; ++i)
        if (*value++ != element<Bits>(row * 32 * 128 + std::uint64_t(rank_) * each + i)) return false;
    return true;
  }

  template <class Bits>
  void measure(std::int64_t mib, Dtype dtype, double link) {
    const std::int64_t rows = (mib << 20) / std::int64_t(2 * 32 * 128 * sizeof(Bits));
    const Memory from(*this, std::size_t(mib) << 20), to(*this, std::size_t(mib) << 20);
    std::vector<Bits> values = rows_before<Bits>(std::uint64_t(rows));
    queue_.write(from.buffer, 0, std::as_bytes(std::span(values))).wait();
    for (const std::int64_t workspace : {256, 64, 16}) {
      Exchange exchange("b s@x h d -> b s h@x d", mesh(), {2, rows * job_.ranks, 32, 128}, dtype, in_order_,
                        {.device = card_, .workspace = workspace << 20});
      exchange.run(queue_, from.buffer, to.buffer);
      queue_.read(to.buffer, 0, std::as_writable_bytes(std::span(values))).wait();
      if (!heads_are_right(values)) {
        ++job_.wrong;
        std::printf("WRONG on rank %d: %lld MiB\n", rank_, static_cast<long long>(mib));
      }
      job_.together.arrive_and_wait();
      if (job_.wrong > 0) return;
      const double ours = median_seconds([&] { exchange.run(queue_, from.buffer, to.buffer); });
      const double bare = median_seconds([&] { send_bare(from, to, std::size_t(exchange.report().bytes_sent)); });
      if (rank_ == 0) note(mib, dtype, workspace, exchange.report(), link, ours, bare);
    }
  }

  void note(std::int64_t mib, Dtype dtype, std::int64_t workspace, const ExchangeReport& report, double link,
            double ours, double bare) {
    const double bound = double(report.bytes_sent) / link;
    const auto number = [](const auto value) { return std::to_string(value); };
    const std::string type(name(dtype)), what = number(mib) + " MiB " + type + " by " + number(workspace);
    std::printf("%-19s %3lld rounds %9.1f us, %.2f of the bound; NCCL without packing %9.1f us, %.2f\n", what.c_str(),
                static_cast<long long>(report.rounds), ours * 1e6, bound / ours, bare * 1e6, bound / bare);
    job_.json += (job_.json.empty() ? "" : ",\n") + ("  {\"mib\": " + number(mib)) + ", \"dtype\": \"" + type +
                 "\", \"workspace_mib\": " + number(workspace) + ", \"rounds\": " + number(report.rounds) +
                 ", \"microseconds\": " + number(ours * 1e6) +
                 ", \"microseconds_of_nccl_alone\": " + number(bare * 1e6) +
                 ", \"share_of_bound\": " + number(bound / ours) + ", \"link_bytes_per_second\": " + number(link) + "}";
  }

  /// The same number of bytes from one buffer to the other, in equal messages.
  void send_bare(const Memory& from, const Memory& to, std::size_t bytes) {
    std::vector<OutgoingMessage> out;
    std::vector<IncomingMessage> in;
    const std::size_t part = bytes / std::size_t(job_.ranks - 1);
    std::size_t at = 0;
    for (int peer = 0; peer < job_.ranks; ++peer) {
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
    job_.addresses[std::size_t(rank_)] = to.address;
    job_.together.arrive_and_wait();
    const std::size_t next = std::size_t((rank_ + 1) % job_.ranks);
    const int code = job_.runtimes.enable_peer(job_.contexts[next], 0);
    if (code != 704) require(code, "cuCtxEnablePeerAccess");  // 704: it is enabled
    const double seconds = median_seconds(
        [&] { require(job_.runtimes.copy(job_.addresses[next], from.address, bytes, stream_), "cuMemcpyAsync"); });
    job_.together.arrive_and_wait();
    return double(bytes) / seconds;
  }

  /// Of a call, on the slowest card.
  double median_seconds(auto&& call) {
    std::vector<double> found;
    for (int time = -1; time < times; ++time) {
      queue_.finish();
      job_.together.arrive_and_wait();
      const auto begin = std::chrono::steady_clock::now();
      for (int i = 0; i < calls; ++i) call();
      queue_.finish();
      const std::chrono::duration<double> past = std::chrono::steady_clock::now() - begin;
      job_.seconds[std::size_t(rank_)] = past.count() / calls;
      job_.together.arrive_and_wait();
      if (time >= 0) found.push_back(std::ranges::max(job_.seconds));
    }
    std::ranges::sort(found);
    return found[times / 2];
  }

  std::string mesh() const { return "x=" + std::to_string(job_.ranks); }

  Job& job_;
  int rank_;
  std::shared_ptr<test::ThreadCommunicator> threads_;
  ncclComm_t comm_ = nullptr;
  void* stream_ = nullptr;
  Device card_;
  Queue queue_;
  std::shared_ptr<Communicator> in_order_, waited_;
};

int cards() {
  int found = 0;
  for (const DeviceInfo& info : devices()) found += info.api == Api::cuda;
  return found;
}

void write_json(const char* file, const Job& job) {
  int version = 0;
  job.runtimes.version(&version);
  std::ofstream(file) << "{\"device\": \"" << Device::open("cuda:0").info().name << "\", \"ranks\": " << job.ranks
                      << ", \"nccl\": " << version << ", \"patterns\": " << tried().size()
                      << ", \"wrong\": " << job.wrong << ", \"cases\": [\n"
                      << job.json << "]}\n";
}

int try_all(bool patterns, bool timed, const char* json) {
  Job job(cards());
  test::run_ranks(job.ranks, true, [&](const std::shared_ptr<test::ThreadCommunicator>& threads) {
    try {
      Rank rank(job, threads);
      if (patterns) rank.try_patterns();
      if (timed && job.wrong == 0) rank.measure();
    } catch (const std::exception& error) {
      std::fprintf(stderr, "rank %d: %s\n", threads->rank(), error.what());
      std::_Exit(1);  // the others would wait for this rank
    }
  });
  if (json) write_json(json, job);
  return job.wrong == 0 ? 0 : 1;
}

}  // namespace

int main(int count, char** words) {
  bool patterns = true, timed = true;
  const char* json = nullptr;
  for (int i = 1; i < count; ++i) {
    const std::string_view word = words[i];
    if (word == "--no-patterns") patterns = false;
    if (word == "--no-times") timed = false;
    if (word == "--json" && i + 1 < count) json = words[++i];
  }
  setvbuf(stdout, nullptr, _IOLBF, 0);
  try {
    return try_all(patterns, timed, json);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    return 1;
  }
}
