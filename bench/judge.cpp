// Which judge a workload has, and those that hold for every operation: the oracle, and the hashes of a move.
#include "bench/judge.hpp"

#include "bench/workload.hpp"
#include "harness/compare.hpp"

#include <algorithm>

namespace axisloom::bench {
namespace {

/// Up to so many elements or arithmetic operations the oracle is asked when nothing is said about it.
constexpr double full_check_limit = i64{1} << 28;

Judge oracle_judge(const Workload& workload) {
  Bytes want;
  std::vector<double> bound;
  const auto judge = [&workload, want, bound](const std::byte* got) mutable {
    if (want.empty()) {
      std::vector<Bytes> fetched(workload.inputs());
      std::vector<const std::byte*> in;
      for (auto& memory : fetched) in.push_back(workload.on_host(in.size(), memory));
      want.resize(std::max<size_t>(1, workload.output_bytes()));
      bound = ask_oracle(workload.op(), workload.views(), in, want.data());
    }
    if (const auto& move = workload.move()) return compared_on_host(workload.team(), *move, want.data(), got);
    Mistakes mistakes;
    for_each_difference(workload.out(), want.data(), got, bound, [&](const Dims&, i64 offset, double) {
      mistakes.note(offset);
      return true;
    });
    return mistakes;
  };
  return {Strength::full, judge};
}

/// The judge that knows a workload's operation better than the oracle does, where there is one.
std::optional<Judge> own_judge(Workload& workload) {
  // The long work of a judge is done on the device where the arrays lie there and nowhere else, and where so many terms
  // at a time are worth a launch with its copies.
  const auto where = [&](i64 terms) {
    constexpr i64 worth_a_launch = 1 << 22;  // 5 ms on a core of the EPYC
    return workload.host(0) != nullptr || terms < worth_a_launch ? Where::host : Where::device;
  };
  if (workload.move()) return Judge{Strength::indexed};
  if (const auto& reduction = workload.reduction())
    return make_reduction_judge(workload, *reduction, where(reduction->results() * reduction->count()));
  if (const auto& product = workload.product())
    return make_product_judge(
        workload, *product, where(product->m * product->k * std::max(sampled_rows(*product), product->n / sum_width)));
  return std::nullopt;
}

}  // namespace

const char* name(Strength strength) noexcept {
  return std::array{"auto", "full", "indexed", "sampled"}[size_t(strength)];
}

int fraction_bits(std::string_view op, Dtype dtype) noexcept {
  constexpr int all = 64;
  const bool wide = dtype == Dtype::f64 || dtype == Dtype::c128;
  // Sums of squares grow with n: of 3 bits they are exact in f32 up to 2^18 elements, of 13 bits in f64 up to 2^27.
  if (op == "norm") return wide ? 12 : 2;
  if (op != "sum" && op != "mean") return all;
  // Sums of n elements of random sign stay near sqrt(n) times the size of one: with 2^30 elements of 6 bits below 2^23.
  return wide ? 24 : 5;
}

Judge make_judge(Workload& workload, Strength asked) {
  const std::optional<Judge> own = own_judge(workload);
  const bool automatic = asked == Strength::automatic;
  // The oracle's answer is preferred where it comes soon. Of reductions it holds only within a bound that grows with
  // the array, while their own judge wants every bit.
  const double work = workload.move() ? workload.move()->count() : workload.operations();
  const bool oracle_first = workload.host(0) != nullptr && !workload.reduction() && work <= full_check_limit;
  if (asked == Strength::full || (automatic && (!own || oracle_first))) return oracle_judge(workload);
  if (!own || (!automatic && own->strength != asked))
    harness::refuse("use --check full", "results of {} cannot be judged by --check {}", workload.op().name,
                    name(asked));
  return *own;
}

}  // namespace axisloom::bench
