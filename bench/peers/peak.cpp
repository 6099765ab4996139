// Multiplying and adding in registers, without memory: what a product is measured against on a CPU. As many operations
// as the product has, in enough independent chains to hide the latency of an FMA (4 cycles, two a cycle).
#include "bench/peers/peers.hpp"
#include "bench/peers/targets.hpp"

#include "ops/matmul/params.hpp"

#include <fmt/format.h>

#include <cmath>
#include <utility>

namespace axisloom::bench {
namespace {

/// As many as fit into registers beside the factor and the addend: there are 32 registers of 64 bytes, 16 of 32. (With
/// 16 chains of 32 bytes an EPYC 7003 seemed to reach 104 GFLOP/s; with 12 it reaches 181.)
constexpr int chains_of(int vector_bytes) {
  return vector_bytes == 64 ? 16 : 12;
}

/// One step of every chain, written out: left as a loop, GCC keeps the chains in memory.
template <class Vector, size_t... chain>
[[gnu::always_inline]] inline void step(Vector (&x)[sizeof...(chain)], const Vector& factor, const Vector& addend,
                                        std::index_sequence<chain...>) {
  ((x[chain] = x[chain] * factor + addend), ...);
}

/// x becomes x * factor + addend, `steps` times, in every lane of every chain; answers how many lanes are at the fixed
/// point 1 that they set out from: floats by 0.5 and 0.5, integers by 1 and 0. The compiler must know neither number:
/// it would leave the steps out, or do one chain for all.
template <class Number, int bytes>
[[gnu::always_inline]] inline int iterate(i64 steps) {
  using Vector [[gnu::vector_size(bytes)]] = Number;
  constexpr int lanes = bytes / int(sizeof(Number)), chains = chains_of(bytes);
  constexpr bool real = std::is_floating_point_v<Number>;
  volatile Number one{1}, by = real ? Number(0.5) : Number{1}, plus = real ? Number(0.5) : Number{0};
  Vector x[chains];
  for (Vector& chain : x) chain = Vector{} + one;
  const Vector factor = Vector{} + by, addend = Vector{} + plus;
  for (i64 n = 0; n < steps; ++n) step(x, factor, addend, std::make_index_sequence<chains>());
  int fixed = 0;
  for (const Vector& chain : x)
    for (int lane = 0; lane < lanes; ++lane) fixed += chain[lane] == Number{1};
  return fixed;
}

struct VectorUnit {
  int (*iterate)(i64 steps);
  int lanes;  // of all chains
  const char* name;
};

#ifdef AXISLOOM_AVX512
template <class Number>
AXISLOOM_AVX512 int iterate_avx512(i64 steps) {
  return iterate<Number, 64>(steps);
}
template <class Number>
AXISLOOM_AVX2 int iterate_avx2(i64 steps) {
  return iterate<Number, 32>(steps);
}
#endif

/// Null where this program knows no such unit. Integers are those that products are summed in, whatever is multiplied.
template <class Number>
const VectorUnit* unit() {
#ifdef AXISLOOM_AVX512
  static constexpr VectorUnit avx512{iterate_avx512<Number>, chains_of(64) * 64 / sizeof(Number), "512-bit"};
  static constexpr VectorUnit avx2{iterate_avx2<Number>, chains_of(32) * 32 / sizeof(Number), "256-bit"};
  if (__builtin_cpu_supports("avx512dq")) return &avx512;
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return &avx2;
#endif
  return nullptr;
}

const VectorUnit* unit_for(std::string_view number) {
  if (number == "f32") return unit<float>();
  if (number == "f64") return unit<double>();
  return number == "u32" ? unit<u32>() : unit<u64>();
}

class Peak final : public HostCall {
 public:
  Peak(Workload& workload, const VectorUnit& unit, std::string_view number)
      : HostCall(
            workload, "peak",
            fmt::format("{} multiply-add of {} in registers, {} threads", unit.name, number, workload.team().size()),
            Role::peak),
        unit_(unit),
        steps_(i64(std::ceil(workload.operations() / operations_per_step()))) {}

  void spoil(std::byte value) override { fixed_.assign(1, std::to_integer<int>(value)); }
  Work work() const override { return {0, double(steps_) * operations_per_step()}; }
  Mistakes judge() override {
    i64 wrong = 0;
    for (int fixed : fixed_) wrong += fixed != unit_.lanes;
    return {.count = wrong + (fixed_.size() != workload().team().size() ? 1 : 0), .of = "thread"};
  }

 private:
  void call() override {
    fixed_.assign(workload().team().size(), 0);
    workload().team().run([&](unsigned member) { fixed_[member] = unit_.iterate(steps_); });
  }
  double operations_per_step() const { return 2.0 * unit_.lanes * workload().team().size(); }

  const VectorUnit& unit_;
  i64 steps_;
  std::vector<int> fixed_;
};

}  // namespace

UniqueContestant make_peak(Workload& workload, Session&) {
  if (workload.limit() != Limit::arithmetic) refuse("arithmetic is not what limits this job");
  const Dtype dtype = workload.in().dtype;
  if (dtype == Dtype::boolean) refuse("is known of numbers, not of bool");
  if (workload.host(0) == nullptr) return make_device_peak(workload);
  const std::string_view number = ops::arithmetic_of(dtype).scalar;
  const VectorUnit* const found = unit_for(number);
  if (found == nullptr) refuse("knows no vector unit of this CPU");
  return std::make_unique<Peak>(workload, *found, number);
}

}  // namespace axisloom::bench
