// Which judge a workload has, and those that hold for every operation: the oracle, and the hashes of a move.
#include "bench/judge.hpp"

#include "bench/workload.hpp"
#include "harness/compare.hpp"

#include <axisloom/error.hpp>

#include <fmt/format.h>

#include <algorithm>
#include <vector>

namespace axisloom::bench {
namespace {

/// Up to so many elements or arithmetic operations the oracle is asked when nothing is said about it.
constexpr double full_check_limit = i64{1} << 28;

class OracleJudge final : public Judge {
 public:
  explicit OracleJudge(Workload& workload) : workload_(workload) {}

  Strength strength() const override { return Strength::full; }
  Mistakes judge(const std::byte* result) override {
    if (want_.empty()) find_answer();
    std::vector<std::byte> fetched;
    const std::byte* const got = workload_.output_on_host(result, fetched);
    if (workload_.move()) return compared_on_host(workload_.team(), *workload_.move(), want_.data(), got);
    return compared(got);
  }

 private:
  void find_answer() {
    std::vector<std::vector<std::byte>> fetched(workload_.inputs());
    std::vector<const std::byte*> in;
    for (size_t i = 0; i < fetched.size(); ++i) in.push_back(workload_.input_on_host(i, fetched[i]));
    want_.resize(std::max<size_t>(1, workload_.output_bytes()));
    bound_ = harness::ask_oracle(workload_.op(), workload_.views(), in, want_.data());
  }

  Mistakes compared(const std::byte* got) const {
    Mistakes mistakes;
    harness::for_each_difference(workload_.out(), want_.data(), got, bound_, [&](const Dims&, i64 offset, double) {
      mistakes.note(offset);
      return true;
    });
    return mistakes;
  }

  Workload& workload_;
  std::vector<std::byte> want_;
  std::vector<double> bound_;
};

class MoveJudge final : public Judge {
 public:
  explicit MoveJudge(Workload& workload) : workload_(workload) {}

  Strength strength() const override { return Strength::indexed; }
  Mistakes judge(const std::byte* result) override { return workload_.judge_move(*workload_.move(), result); }

 private:
  Workload& workload_;
};

/// Where the long work of a judge is done: on the device where the arrays lie there and nowhere else, and where so many
/// terms at a time are worth a launch with its copies.
Where judges_where(const Workload& workload, double terms) {
  constexpr double worth_a_launch = 1 << 22;  // 5 ms on a core of the EPYC
  return workload.host(0) != nullptr || terms < worth_a_launch ? Where::host : Where::device;
}

/// The judge that knows a workload's operation better than the oracle does, or null.
std::unique_ptr<Judge> own_judge(Workload& workload) {
  if (workload.move()) return std::make_unique<MoveJudge>(workload);
  if (const auto& reduction = workload.reduction(); reduction && can_judge(*reduction))
    return make_reduction_judge(workload, *reduction,
                                judges_where(workload, double(reduction->results() * reduction->reduced)));
  if (const auto& product = workload.product(); product && can_judge(*product))
    return make_product_judge(workload, *product,
                              judges_where(workload, double(product->m * product->k * sampled_rows)));
  return nullptr;
}

/// The oracle's answer is preferred where it comes soon. Of reductions it holds only within a bound that grows with the
/// array, while their own judge wants every bit.
bool prefers_oracle(const Workload& workload) {
  const double work = workload.move() ? double(workload.move()->count()) : workload.operations();
  return workload.host(0) != nullptr && !workload.reduction() && work <= full_check_limit;
}

}  // namespace

const char* name(Strength strength) noexcept {
  switch (strength) {
    case Strength::full:
      return "full";
    case Strength::indexed:
      return "indexed";
    case Strength::sampled:
      return "sampled";
    case Strength::automatic:
      break;
  }
  return "auto";
}

int fraction_bits(std::string_view op, Dtype dtype) noexcept {
  constexpr int all = 64;
  if (op != "sum" && op != "mean") return all;
  // Sums of n elements of random sign stay near sqrt(n) times the size of one: with 2^30 elements of 6 bits below 2^23.
  return dtype == Dtype::f64 || dtype == Dtype::c128 ? 24 : 5;
}

std::unique_ptr<Judge> make_judge(Workload& workload, Strength asked) {
  std::unique_ptr<Judge> own = asked == Strength::full ? nullptr : own_judge(workload);
  if (asked == Strength::full || (asked == Strength::automatic && (!own || prefers_oracle(workload))))
    return std::make_unique<OracleJudge>(workload);
  if (!own || (asked != Strength::automatic && own->strength() != asked))
    throw Error(Errc::usage,
                fmt::format("results of {} cannot be judged by --check {}", workload.op().name, name(asked)),
                "use --check full");
  return own;
}

}  // namespace axisloom::bench
