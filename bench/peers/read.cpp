// Reading alone: what a reduction of host memory is measured against. All cores add up the inputs' 64-bit words, in the
// widest vectors that the CPU has, and do nothing else; the sum is compared, so that nothing can be left out.
#include "bench/peers/peers.hpp"
#include "bench/peers/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <utility>

namespace axisloom::bench {
namespace {

using Words [[gnu::vector_size(64), gnu::may_alias, gnu::aligned(8)]] = std::uint64_t;

/// The sum of `bytes` (a multiple of streams * run) as `streams` runs of `run` bytes side by side: several runs keep
/// more of the prefetchers at work than one.
template <std::int64_t streams, std::int64_t run>
[[gnu::always_inline]] inline std::uint64_t add_up(const std::byte* from, std::int64_t bytes) {
  constexpr std::int64_t vector = sizeof(Words);
  Words sums[streams] = {};
  for (std::int64_t block = 0; block < bytes; block += streams * run)
    for (std::int64_t at = 0; at < run; at += vector)
      for (std::int64_t stream = 0; stream < streams; ++stream)
        sums[stream] += *reinterpret_cast<const Words*>(from + block + stream * run + at);
  std::uint64_t sum = 0;
  for (const Words& part : sums)
    for (std::size_t i = 0; i < sizeof(Words) / sizeof(std::uint64_t); ++i) sum += part[i];
  return sum;
}

constexpr std::int64_t block_bytes = 1 << 16;  // what every way of reading divides

using Reader = std::uint64_t (*)(const std::byte*, std::int64_t);

template <std::int64_t streams, std::int64_t run>
std::uint64_t read_plain(const std::byte* from, std::int64_t bytes) {
  return add_up<streams, run>(from, bytes);
}
#ifdef AXISLOOM_AVX512
template <std::int64_t streams, std::int64_t run>
AXISLOOM_AVX512 std::uint64_t read_avx512(const std::byte* from, std::int64_t bytes) {
  return add_up<streams, run>(from, bytes);
}
#endif

template <std::int64_t streams, std::int64_t run>
Reader reader() {
#ifdef AXISLOOM_AVX512
  if (__builtin_cpu_supports("avx512f")) return read_avx512<streams, run>;
#endif
  return read_plain<streams, run>;
}

struct Way {
  Reader read;
  const char* name;
};
std::array<Way, 3> ways() {
  return {Way{reader<4, 64>(), "line after line"}, Way{reader<4, 4096>(), "4 pages side by side"},
          Way{reader<8, 2048>(), "8 half pages side by side"}};
}

class Read final : public Contestant {
 public:
  Read(Workload& workload, const Way& way)
      : Contestant(workload, "read",
                   fmt::format("sum of 64-bit words, {}, by {} threads", way.name, workload.team().size()), Role::read),
        read_(way.read) {
    for (std::size_t i = 0; i < workload.inputs(); ++i)
      for (std::int64_t at = 0; at < bytes(i); at += sizeof(std::uint64_t)) want_ += word(i, at);
  }

  Timing run() override {
    const double start = now();
    sums_.assign(workload().team().size(), 0);
    workload().team().run([&](unsigned member) {
      for (std::size_t i = 0; i < workload().inputs(); ++i) {
        const auto [begin, end] = workload().team().share(bytes(i) / block_bytes, member);
        sums_[member] += read_(workload().host(i) + begin * block_bytes, (end - begin) * block_bytes);
      }
    });
    return {now() - start, std::nullopt};
  }
  void spoil(std::byte value) override { sums_.assign(1, std::to_integer<std::uint64_t>(value)); }
  Work work() const override {
    double all = 0;
    for (std::size_t i = 0; i < workload().inputs(); ++i) all += static_cast<double>(bytes(i));
    return {all, 0};
  }
  Mistakes judge() override {
    std::uint64_t sum = 0;
    for (std::uint64_t part : sums_) sum += part;
    return {.count = sum == want_ ? 0 : 1, .of = "sum"};
  }

 private:
  std::int64_t bytes(std::size_t i) const {
    return static_cast<std::int64_t>(workload().buffer(i).bytes()) / block_bytes * block_bytes;
  }
  std::uint64_t word(std::size_t i, std::int64_t at) const {
    std::uint64_t value = 0;
    std::memcpy(&value, workload().host(i) + at, sizeof value);
    return value;
  }

  Reader read_;
  std::uint64_t want_ = 0;
  std::vector<std::uint64_t> sums_;
};

/// The fastest of the ways on this machine, each having been tried a few times.
std::unique_ptr<Contestant> fastest(Workload& workload) {
  std::unique_ptr<Contestant> best;
  double shortest = std::numeric_limits<double>::max();
  for (const Way& way : ways()) {
    auto candidate = std::make_unique<Read>(workload, way);
    double seconds = std::numeric_limits<double>::max();
    for (int run = 0; run < 4; ++run) seconds = std::min(seconds, candidate->run().call);
    if (seconds >= shortest) continue;
    shortest = seconds;
    best = std::move(candidate);
  }
  return best;
}

}  // namespace

Offer offer_read(Workload& workload, Session&) {
  if (workload.move() || workload.limit() != Limit::memory) return Offer::absent("reading says nothing of this job");
  if (workload.host(0) == nullptr) return Offer::absent("the device has memory of its own");
  if (static_cast<std::int64_t>(workload.buffer(0).bytes()) < block_bytes)
    return Offer::absent("the arrays are smaller than the blocks that it reads");
  return {fastest(workload), {}};
}

}  // namespace axisloom::bench
