// Reading alone: what a reduction of host memory is measured against. All cores add up the inputs' 64-bit words, in the
// widest vectors that the CPU has, and do nothing else; the sum is compared, so that nothing can be left out.
#include "bench/peers/peers.hpp"
#include "bench/peers/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <limits>
#include <utility>

namespace axisloom::bench {
namespace {

using Words [[gnu::vector_size(64), gnu::may_alias, gnu::aligned(8)]] = std::uint64_t;

constexpr std::int64_t vector_bytes = sizeof(Words);

std::uint64_t total(const Words& words) {
  std::uint64_t sum = 0;
  for (std::size_t i = 0; i < sizeof(Words) / sizeof(std::uint64_t); ++i) sum += words[i];
  return sum;
}

/// The sum of `bytes` (a multiple of 64) in blocks of `streams` runs of `run` bytes side by side, each line asked for
/// `ahead` bytes before: several runs keep more of the prefetchers at work than one.
template <std::int64_t streams, std::int64_t run, std::int64_t ahead>
[[gnu::always_inline]] inline std::uint64_t add_up(const std::byte* from, std::int64_t bytes) {
  Words sums[streams] = {};
  std::int64_t block = 0;
  for (; block + streams * run <= bytes; block += streams * run)
    for (std::int64_t at = 0; at < run; at += vector_bytes)
      for (std::int64_t stream = 0; stream < streams; ++stream) {
        const std::byte* const line = from + block + stream * run + at;
        if (ahead != 0) __builtin_prefetch(line + ahead);
        sums[stream] += *reinterpret_cast<const Words*>(line);
      }
  for (; block < bytes; block += vector_bytes) sums[0] += *reinterpret_cast<const Words*>(from + block);
  std::uint64_t sum = 0;
  for (const Words& part : sums) sum += total(part);
  return sum;
}

using Reader = std::uint64_t (*)(const std::byte*, std::int64_t);

template <std::int64_t streams, std::int64_t run, std::int64_t ahead>
std::uint64_t read_plain(const std::byte* from, std::int64_t bytes) {
  return add_up<streams, run, ahead>(from, bytes);
}
#ifdef AXISLOOM_AVX512
template <std::int64_t streams, std::int64_t run, std::int64_t ahead>
AXISLOOM_AVX512 std::uint64_t read_avx512(const std::byte* from, std::int64_t bytes) {
  return add_up<streams, run, ahead>(from, bytes);
}
#endif

template <std::int64_t streams, std::int64_t run, std::int64_t ahead>
Reader reader() {
#ifdef AXISLOOM_AVX512
  if (__builtin_cpu_supports("avx512dq")) return read_avx512<streams, run, ahead>;
#endif
  return read_plain<streams, run, ahead>;
}

constexpr std::int64_t page = 4096;
constexpr std::int64_t long_run = 8 * page + 256;  // begins in other sets of a cache than the next
constexpr std::int64_t least_bytes = 16 * page;    // a block of the shortest way

/// An order of reading, and the bytes that a thread takes at a time.
struct Way {
  Reader read;
  std::int64_t share;
  const char* name;
};

std::array<Way, 4> ways() {
  return {
      Way{reader<8, page / 2, 0>(), 128 * page, "8 half pages side by side"},
      Way{reader<16, page, 0>(), 128 * page, "16 pages side by side"},
      Way{reader<8, 16 * page, 0>(), 128 * page, "8 ranges of 16 pages side by side"},
      Way{reader<16, long_run, 1024>(), 16 * long_run, "16 ranges of 8 pages side by side, asked for 1 KiB before"}};
}

class Read final : public Contestant {
 public:
  Read(Workload& workload, const Way& way)
      : Contestant(workload, "read",
                   fmt::format("sum of 64-bit words, {}, by {} threads", way.name, workload.team().size()), Role::read),
        way_(way) {
    for (std::size_t i = 0; i < workload.inputs(); ++i)
      for (std::int64_t at = 0; at < bytes(i); at += sizeof(std::uint64_t)) want_ += word(i, at);
  }

  // Shares are dealt to whoever is free: a core that something else slows down takes fewer.
  Timing run() override {
    const double start = now();
    sums_.assign(workload().team().size(), 0);
    for (std::size_t i = 0; i < workload().inputs(); ++i) {
      const std::int64_t even = bytes(i) / workload().team().size() / vector_bytes * vector_bytes;
      const std::int64_t share = std::min(way_.share, even + vector_bytes);
      std::atomic<std::int64_t> next = 0;
      workload().team().run([&](unsigned member) {
        std::uint64_t sum = 0;
        for (std::int64_t at = next.fetch_add(share); at < bytes(i); at = next.fetch_add(share))
          sum += way_.read(workload().host(i) + at, std::min(share, bytes(i) - at));
        sums_[member] += sum;
      });
    }
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
    return static_cast<std::int64_t>(workload().buffer(i).bytes()) / vector_bytes * vector_bytes;
  }
  std::uint64_t word(std::size_t i, std::int64_t at) const {
    std::uint64_t value = 0;
    std::memcpy(&value, workload().host(i) + at, sizeof value);
    return value;
  }

  Way way_;
  std::uint64_t want_ = 0;
  std::vector<std::uint64_t> sums_;
};

/// The fastest of the ways on this machine, by the median of some rounds in which each has its turn.
std::unique_ptr<Contestant> fastest(Workload& workload) {
  constexpr int rounds = 7;
  std::vector<std::unique_ptr<Read>> candidates;
  for (const Way& way : ways()) candidates.push_back(std::make_unique<Read>(workload, way));
  std::vector<std::array<double, rounds>> seconds(candidates.size());
  for (int round = 0; round < rounds; ++round)
    for (std::size_t i = 0; i < candidates.size(); ++i) seconds[i][round] = candidates[i]->run().call;
  std::size_t best = 0;
  for (std::size_t i = 0; i < candidates.size(); ++i) {
    std::nth_element(seconds[i].begin(), seconds[i].begin() + rounds / 2, seconds[i].end());
    if (seconds[i][rounds / 2] < seconds[best][rounds / 2]) best = i;
  }
  return std::move(candidates[best]);
}

}  // namespace

Offer offer_read(Workload& workload, Session&) {
  if (workload.move() || workload.limit() != Limit::memory) return Offer::absent("reading says nothing of this job");
  if (workload.host(0) == nullptr) return Offer::absent("the device has memory of its own");
  if (static_cast<std::int64_t>(workload.buffer(0).bytes()) < least_bytes)
    return Offer::absent("the arrays are smaller than the blocks that it reads");
  return {fastest(workload), {}};
}

}  // namespace axisloom::bench
