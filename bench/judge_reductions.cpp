// Reductions, worked out from the hashes of the input, by a device where the arrays lie on one: no element is read, and
// every result is exact.
#include "bench/judge.hpp"
#include "bench/judge_on_device.hpp"
#include "bench/workload.hpp"

#include "core/number.hpp"

#include <cmath>
#include <cstring>

namespace axisloom::bench {
namespace {

Fold fold_of(const std::string& kind) {
  if (kind == "sum" || kind == "mean") return Fold::sum;
  return kind.ends_with("min") ? Fold::least : Fold::greatest;
}

bool better(Fold fold, i64 value, i64 at, const Folded& than) {
  if (than.best_at < 0) return true;
  if (value == than.best) return at < than.best_at;
  return fold == Fold::least ? value < than.best : value > than.best;
}

template <Fold fold>
void take(Folded& into, i64 value, i64 at) {
  if constexpr (fold == Fold::sum)
    into.sum += u64(value);
  else if (better(fold, value, at, into))
    into = {0, value, at};
}

class ReductionJudge final : public Judge {
 public:
  ReductionJudge(Workload& workload, const Reduction& reduction, Where where)
      : workload_(workload), reduction_(reduction), where_(where) {}

  Strength strength() const override { return Strength::indexed; }
  Mistakes judge(const std::byte* result) override {
    if (results_.empty()) results_ = where_ == Where::host ? on_host() : on_device();
    std::vector<std::byte> fetched;
    return compared(workload_.output_on_host(result, fetched));
  }

 private:
  std::vector<Folded> on_device() const {
    return folded_on_device(workload_.device(), workload_.queue(), workload_.data(0), reduction_,
                            fold_of(reduction_.kind));
  }

  std::vector<Folded> on_host() const {
    const Fold fold = fold_of(reduction_.kind);
    const auto run = fold == Fold::sum     ? &ReductionJudge::work_out_part<Fold::sum>
                     : fold == Fold::least ? &ReductionJudge::work_out_part<Fold::least>
                                           : &ReductionJudge::work_out_part<Fold::greatest>;
    Team& team = workload_.team();
    std::vector<std::vector<Folded>> parts(team.size());
    team.run([&](unsigned member) {
      parts[member].resize(size_t(reduction_.results() * components_));
      const auto [begin, end] = team.share(reduction_.outer * reduction_.reduced, member);
      (this->*run)(begin, end, parts[member]);
    });
    for (size_t part = 1; part < parts.size(); ++part)
      for (size_t i = 0; i < parts[0].size(); ++i) merge(fold, parts[0][i], parts[part][i]);
    return std::move(parts[0]);
  }

  Mistakes compared(const std::byte* got) const {
    return found_by(workload_.team(), reduction_.results(), [&](i64 begin, i64 end, Mistakes& mine) {
      for (i64 i = begin; i < end; ++i)
        if (!right_result(i, got)) mine.note(reduction_.out_offset + i);
    });
  }

  bool right_result(i64 i, const std::byte* got) const {
    const auto at = size_t(reduction_.out_offset + i);
    const std::byte* const element = got + at * size_of(reduction_.out);
    for (int c = 0; c < components_; ++c)
      if (!right(results_[size_t(i * components_ + c)], element, c)) return false;
    return true;
  }

  /// Runs of `inner` elements, one after the other.
  template <Fold fold>
  void work_out_part(i64 begin, i64 end, std::vector<Folded>& results) const {
    const Data data = workload_.data(0);
    const WholeNumbers number = numbers();
    // The second component of a c64 is the upper half of its bits, that of a c128 has bits of its own.
    const bool in_one = reduction_.in == Dtype::c64;
    for (i64 run = begin; run < end; ++run) {
      const i64 first = (run / reduction_.reduced) * reduction_.inner, at = run % reduction_.reduced;
      const auto position = u64(reduction_.in_offset + run * reduction_.inner);
      for (i64 i = 0; i < reduction_.inner; ++i) {
        Folded* const into = &results[size_t((first + i) * components_)];
        const u64 element = position + u64(i);
        take<fold>(into[0], number(data.bits(element, 0)), at);
        if (components_ == 2)
          take<fold>(into[1], number(in_one ? data.bits(element, 0) >> 32 : data.bits(element, 1)), at);
      }
    }
  }

  WholeNumbers numbers() const { return {reduction_.in, fraction_bits(reduction_.kind, reduction_.in)}; }

  bool right(const Folded& want, const std::byte* got, int component) const {
    if (reduction_.kind.starts_with("arg")) return integer(got) == u64(want.best_at);
    const bool sums = fold_of(reduction_.kind) == Fold::sum;
    if (reduction_.kind != "mean" && core::float_format(reduction_.out) == nullptr)
      return integer(got) == low_bits(sums ? want.sum : u64(want.best));
    const long double exact = static_cast<long double>(sums ? i64(want.sum) : want.best) * numbers().unit /
                              (reduction_.kind == "mean" ? reduction_.reduced : 1);
    // A sum is rounded once, when it is stored; a mean also when it is divided.
    const long double allowed = (sums ? 2 : 0) * core::unit_roundoff(reduction_.out) * std::fabs(exact);
    return std::fabs(core::number_at(reduction_.out, got, component) - exact) <= allowed;
  }

  u64 low_bits(u64 number) const {
    const size_t unused = 64 - 8 * size_of(reduction_.out);
    return number << unused >> unused;
  }
  u64 integer(const std::byte* element) const {
    u64 bits = 0;
    std::memcpy(&bits, element, size_of(reduction_.out));
    return bits;
  }

  Workload& workload_;
  Reduction reduction_;
  Where where_;
  int components_ = core::components_of(reduction_.in);
  std::vector<Folded> results_;  // component beside component
};

}  // namespace

void merge(Fold fold, Folded& into, const Folded& part) {
  into.sum += part.sum;
  if (fold != Fold::sum && part.best_at >= 0 && better(fold, part.best, part.best_at, into))
    into = {0, part.best, part.best_at};
}

bool can_judge(const Reduction& reduction) noexcept {
  const bool sums = reduction.kind == "sum" || reduction.kind == "mean";
  const bool floats = core::float_format(reduction.in) != nullptr;
  // Sums of integers wrap, so their mean is not theirs divided; the order of u64 is not that of i64.
  if (reduction.in == Dtype::boolean || (reduction.kind == "mean" && !floats)) return false;
  return sums || reduction.in != Dtype::u64;
}

std::unique_ptr<Judge> make_reduction_judge(Workload& workload, const Reduction& reduction, Where where) {
  return std::make_unique<ReductionJudge>(workload, reduction, where);
}

}  // namespace axisloom::bench
