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

using Reader = u64 (*)(const std::byte* from, i64 bytes);

/// The sum of `bytes` (a multiple of 64) in blocks of `streams` runs of `run` bytes side by side, each line asked for
/// `ahead` bytes before: several runs keep more of the prefetchers at work than one.
template <i64 streams, i64 run, i64 ahead>
struct Sum {
  [[gnu::always_inline]] static u64 add_up(const std::byte* from, i64 bytes) {
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
    for (const Words& part : sums)
      for (size_t i = 0; i < sizeof(Words) / sizeof(u64); ++i) sum += part[i];
    return sum;
  }

  static u64 plain(const std::byte* from, i64 bytes) { return add_up(from, bytes); }
#ifdef AXISLOOM_AVX512
  AXISLOOM_AVX512 static u64 avx512(const std::byte* from, i64 bytes) {
    return add_up(from, bytes);
  }
#endif

  static Reader reader() {
#ifdef AXISLOOM_AVX512
    if (__builtin_cpu_supports("avx512dq")) return avx512;
#endif
    return plain;
  }
};

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
  return {Way{Sum<8, page / 2, 0>::reader(), 128 * page, "8 half pages side by side"},
          Way{Sum<16, page, 0>::reader(), 128 * page, "16 pages side by side"},
          Way{Sum<8, 16 * page, 0>::reader(), 128 * page, "8 ranges of 16 pages side by side"},
          Way{Sum<16, long_run, 1024>::reader(), 16 * long_run,
              "16 ranges of 8 pages side by side, asked for 1 KiB before"}};
}

class Read final : public HostCall {
 public:
  Read(Workload& workload, const Way& way)
      : HostCall(workload, "read",
                 fmt::format("sum of 64-bit words, {}, by {} threads", way.name, workload.team().size()), Role::read),
        way_(way) {
    for (size_t i = 0; i < workload.inputs(); ++i)
      for (i64 at = 0; at < bytes(i); at += sizeof(u64)) want_ += word(i, at);
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
  // Shares are dealt to whoever is free: a core that something else slows down takes fewer.
  void call() override {
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
  }

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

}  // namespace

UniqueContestant fastest_of(Contestants candidates) {
  constexpr int rounds = 7;
  std::vector<std::array<double, rounds>> seconds(candidates.size());
  for (int round = 0; round < rounds; ++round)
    for (size_t i = 0; i < candidates.size(); ++i) {
      const Timing timing = candidates[i]->run();
      seconds[i][round] = timing.device.value_or(timing.call);
    }
  for (auto& times : seconds) std::ranges::sort(times);
  const auto best = std::ranges::min_element(seconds, {}, [](const auto& times) { return times[rounds / 2]; });
  return std::move(candidates[best - seconds.begin()]);
}

UniqueContestant make_read(Workload& workload, Session&) {
  if (workload.move() || workload.limit() != Limit::memory) refuse("reading says nothing of this job");
  if (workload.host(0) == nullptr) return make_device_read(workload);
  if (i64(workload.buffer(0).bytes()) < least_bytes) refuse("the arrays are smaller than the blocks that it reads");
  Contestants candidates;
  for (const Way& way : ways()) candidates.push_back(std::make_unique<Read>(workload, way));
  return fastest_of(std::move(candidates));
}

}  // namespace axisloom::bench
