// Multiplying and adding in registers, without memory: what a product is measured against on a CPU. As many operations
// as the product has, in enough independent chains to hide the latency of an FMA (4 cycles, two a cycle).
#include "bench/peers/peers.hpp"
#include "bench/peers/targets.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace axisloom::bench {
namespace {

constexpr int chains = 16;

/// One step of every chain, written out: left as a loop, GCC keeps the chains in memory.
template <class Vector, std::size_t... chain>
[[gnu::always_inline]] inline void step(Vector (&x)[chains], const Vector& factor, std::index_sequence<chain...>) {
  ((x[chain] = x[chain] * factor + factor), ...);
}

/// x becomes x * 0.5 + 0.5, `steps` times, in every lane of every chain; answers how many lanes are at the fixed point
/// 1 that they set out from. The compiler must know neither number: it would leave the steps out, or do one chain for
/// all.
template <class Real, int bytes>
[[gnu::always_inline]] inline int iterate(std::int64_t steps) {
  using Vector [[gnu::vector_size(bytes)]] = Real;
  constexpr int lanes = bytes / static_cast<int>(sizeof(Real));
  volatile Real half = Real{0.5}, one = Real{1};
  Vector x[chains];
  for (Vector& chain : x) chain = Vector{} + one;
  const Vector factor = Vector{} + half;
  for (std::int64_t n = 0; n < steps; ++n) step(x, factor, std::make_index_sequence<chains>());
  int fixed = 0;
  for (const Vector& chain : x)
    for (int lane = 0; lane < lanes; ++lane) fixed += chain[lane] == Real{1};
  return fixed;
}

struct Unit {
  int (*iterate)(std::int64_t steps);
  int lanes;
  const char* name;
};

#ifdef AXISLOOM_AVX512
template <class Real>
AXISLOOM_AVX512 int iterate_avx512(std::int64_t steps) {
  return iterate<Real, 64>(steps);
}
template <class Real>
AXISLOOM_AVX2 int iterate_avx2(std::int64_t steps) {
  return iterate<Real, 32>(steps);
}
#endif

/// Null where this program knows no such unit.
template <class Real>
const Unit* unit() {
#ifdef AXISLOOM_AVX512
  static constexpr Unit avx512{iterate_avx512<Real>, 64 / sizeof(Real), "512-bit FMA"};
  static constexpr Unit avx2{iterate_avx2<Real>, 32 / sizeof(Real), "256-bit FMA"};
  if (__builtin_cpu_supports("avx512f")) return &avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &avx2;
#endif
  return nullptr;
}

class Peak final : public Contestant {
 public:
  Peak(Workload& workload, const Unit& unit)
      : Contestant(workload, "peak", fmt::format("{} in registers, {} threads", unit.name, workload.team().size()),
                   Role::peak),
        unit_(unit),
        steps_(static_cast<std::int64_t>(std::ceil(workload.operations() / operations_per_step()))) {}

  Timing run() override {
    const double start = now();
    fixed_.assign(workload().team().size(), 0);
    workload().team().run([&](unsigned member) { fixed_[member] = unit_.iterate(steps_); });
    return {now() - start, std::nullopt};
  }
  void spoil(std::byte value) override { fixed_.assign(1, std::to_integer<int>(value)); }
  Work work() const override { return {0, static_cast<double>(steps_) * operations_per_step()}; }
  Mistakes judge() override {
    std::int64_t wrong = 0;
    for (int fixed : fixed_) wrong += fixed != chains * unit_.lanes;
    return {.count = wrong + (fixed_.size() != workload().team().size() ? 1 : 0), .of = "thread"};
  }

 private:
  double operations_per_step() const { return 2.0 * chains * unit_.lanes * workload().team().size(); }

  const Unit& unit_;
  std::int64_t steps_;
  std::vector<int> fixed_;
};

}  // namespace

Offer offer_peak(Workload& workload, Session&) {
  if (workload.limit() != Limit::arithmetic) return Offer::absent("arithmetic is not what limits this job");
  const Dtype dtype = workload.in().dtype;
  if (dtype != Dtype::f32 && dtype != Dtype::f64) return Offer::absent("is known of f32 and f64");
  if (workload.host(0) == nullptr) return {make_device_peak(workload), {}};
  const Unit* const found = dtype == Dtype::f32 ? unit<float>() : unit<double>();
  if (found == nullptr) return Offer::absent("knows no vector unit of this CPU");
  return {std::make_unique<Peak>(workload, *found), {}};
}

}  // namespace axisloom::bench
