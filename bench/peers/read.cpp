// Reading alone: what a reduction of host memory is measured against. All cores add up the inputs' 64-bit words, in the
// widest vectors that the CPU has, and do nothing else; the sum is compared, so that nothing can be left out.
#include "bench/peers/peers.hpp"
#include "bench/peers/targets.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <utility>

namespace axisloom::bench {
namespace {

using Words [[gnu::vector_size(64), gnu::may_alias, gnu::aligned(8)]] = u64;

constexpr i64 vector_bytes = sizeof(Words);

u64 total(const Words& words) {
  u64 sum = 0;
  for (size_t i = 0; i < sizeof(Words) / sizeof(u64); ++i) sum += words[i];
  return sum;
}

/// The sum of `bytes` (a multiple of 64) in blocks of `streams` runs of `run` bytes side by side, each line asked for
/// `ahead` bytes before: several runs keep more of the prefetchers at work than one.
template <i64 streams, i64 run, i64 ahead>
[[gnu::always_inline]] inline u64 add_up(const std::byte* from, i64 bytes) {
  Words sums[streams] = {};
  i64 block = 0;
  for (; block + streams * run <= bytes; block += streams * run)
    for (i64 at = 0; at < run; at += vector_bytes)
      for (i64 stream = 0; stream < streams; ++stream) {
        const std::byte* const line = from + block + stream * run + at;
        if (ahead != 0) __builtin_prefetch(line + ahead);
        sums[stream] += *reinterpret_cast<const Words*>(line);
      }
  for (; block < bytes; block += vector_bytes) sums[0] += *reinterpret_cast<const Words*>(from + block);
  u64 sum = 0;
  for (const Words& part : sums) sum += total(part);
  return sum;
}

using Reader = u64 (*)(const std::byte*, i64);

template <i64 streams, i64 run, i64 ahead>
u64 read_plain(const std::byte* from, i64 bytes) {
  return add_up<streams, run, ahead>(from, bytes);
}
#ifdef AXISLOOM_AVX512
template <i64 streams, i64 run, i64 ahead>
AXISLOOM_AVX512 u64 read_avx512(const std::byte* from, i64 bytes) {
  return add_up<streams, run, ahead>(from, bytes);
}
#endif

template <i64 streams, i64 run, i64 ahead>
Reader reader() {
#ifdef AXISLOOM_AVX512
  if (__builtin_cpu_supports("avx512dq")) return read_avx512<streams, run, ahead>;
#endif
  return read_plain<streams, run, ahead>;
}

constexpr i64 page = 4096;
constexpr i64 long_run = 8 * page + 256;  // begins in other sets of a cache than the next
constexpr i64 least_bytes = 16 * page;    // a block of the shortest way

/// An order of reading, and the bytes that a thread takes at a time.
struct Way {
  Reader read;
  i64 share;
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
    for (size_t i = 0; i < workload.inputs(); ++i)
      for (i64 at = 0; at < bytes(i); at += sizeof(u64)) want_ += word(i, at);
  }

  // Shares are dealt to whoever is free: a core that something else slows down takes fewer.
  Timing run() override {
    const double start = now();
    sums_.assign(workload().team().size(), 0);
    for (size_t i = 0; i < workload().inputs(); ++i) {
      const i64 even = bytes(i) / workload().team().size() / vector_bytes * vector_bytes;
      const i64 share = std::min(way_.share, even + vector_bytes);
      std::atomic<i64> next = 0;
      workload().team().run([&](unsigned member) {
        u64 sum = 0;
        for (i64 at = next.fetch_add(share); at < bytes(i); at = next.fetch_add(share))
          sum += way_.read(workload().host(i) + at, std::min(share, bytes(i) - at));
        sums_[member] += sum;
      });
    }
    return {now() - start, std::nullopt};
  }
  void spoil(std::byte value) override { sums_.assign(1, std::to_integer<u64>(value)); }
  Work work() const override {
    double all = 0;
    for (size_t i = 0; i < workload().inputs(); ++i) all += double(bytes(i));
    return {all, 0};
  }
  Mistakes judge() override {
    u64 sum = 0;
    for (u64 part : sums_) sum += part;
    return {.count = sum == want_ ? 0 : 1, .of = "sum"};
  }

 private:
  i64 bytes(size_t i) const { return i64(workload().buffer(i).bytes()) / vector_bytes * vector_bytes; }
  u64 word(size_t i, i64 at) const {
    u64 value = 0;
    std::memcpy(&value, workload().host(i) + at, sizeof value);
    return value;
  }

  Way way_;
  u64 want_ = 0;
  std::vector<u64> sums_;
};

/// The fastest of the ways on this machine, by the median of some rounds in which each has its turn.
std::unique_ptr<Contestant> fastest(Workload& workload) {
  constexpr int rounds = 7;
  std::vector<std::unique_ptr<Read>> candidates;
  for (const Way& way : ways()) candidates.push_back(std::make_unique<Read>(workload, way));
  std::vector<std::array<double, rounds>> seconds(candidates.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < candidates.size(); ++i) seconds[i][round] = candidates[i]->run().call;
  size_t best = 0;
  for (size_t i = 0; i < candidates.size(); ++i) {
    std::nth_element(seconds[i].begin(), seconds[i].begin() + rounds / 2, seconds[i].end());
    if (seconds[i][rounds / 2] < seconds[best][rounds / 2]) best = i;
  }
  return std::move(candidates[best]);
}

}  // namespace

Offer offer_read(Workload& workload, Session&) {
  if (workload.move() || workload.limit() != Limit::memory) return Offer::absent("reading says nothing of this job");
  if (workload.host(0) == nullptr) return Offer::absent("the device has memory of its own");
  if (i64(workload.buffer(0).bytes()) < least_bytes)
    return Offer::absent("the arrays are smaller than the blocks that it reads");
  return {fastest(workload), {}};
}

}  // namespace axisloom::bench
