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
    into.sum += value;
  else if (better(fold, value, at, into))
    into = {0, value, at};
}

struct ReductionJudge {
  Workload& workload;
  Reduction reduction;
  Where where;
  Fold fold = fold_of(reduction.kind);
  WholeNumbers numbers{reduction.in, fraction_bits(reduction.kind, reduction.in)};
  int components = core::components_of(reduction.in);
  std::vector<Folded> results = {};  // component beside component

  Mistakes operator()(const std::byte* got) {
    if (results.empty()) results = where == Where::host ? on_host() : folded_on_device(workload, reduction, fold);
    return found_by(workload.team(), reduction.results(), [&](i64 begin, i64 end, Mistakes& mine) {
      for (i64 i = begin; i < end; ++i)
        if (!right_result(i, got)) mine.note(reduction.out_offset + i);
    });
  }

  std::vector<Folded> on_host() const {
    Team& team = workload.team();
    std::vector<std::vector<Folded>> parts(team.size());
    team.run([&](unsigned member) {
      parts[member].resize(reduction.results() * components);
      const auto [begin, end] = team.share(reduction.outer * reduction.reduced, member);
      switch (fold) {
        case Fold::sum:
          return add_runs<Fold::sum>(begin, end, parts[member]);
        case Fold::least:
          return add_runs<Fold::least>(begin, end, parts[member]);
        case Fold::greatest:
          return add_runs<Fold::greatest>(begin, end, parts[member]);
      }
    });
    for (size_t part = 1; part < parts.size(); ++part)
      for (size_t i = 0; i < parts[0].size(); ++i) merge(fold, parts[0][i], parts[part][i]);
    return std::move(parts[0]);
  }

  /// Runs of `inner` elements, one after the other.
  template <Fold kind>
  void add_runs(i64 begin, i64 end, std::vector<Folded>& part) const {
    const Data data = workload.data(0);
    const WholeNumbers number = numbers;
    // The second component of a c64 is the upper half of its bits, that of a c128 has bits of its own.
    const bool in_one = reduction.in == Dtype::c64;
    for (i64 run = begin; run < end; ++run) {
      const i64 first = run / reduction.reduced * reduction.inner, at = run % reduction.reduced;
      const u64 position = reduction.in_offset + run * reduction.inner;
      for (i64 i = 0; i < reduction.inner; ++i) {
        Folded* const into = &part[(first + i) * components];
        const u64 element = position + i, bits = data.bits(element, 0);
        take<kind>(into[0], number(bits), at);
        if (components == 2) take<kind>(into[1], number(in_one ? bits >> 32 : data.bits(element, 1)), at);
      }
    }
  }

  bool right_result(i64 i, const std::byte* got) const {
    const std::byte* const element = got + (reduction.out_offset + i) * size_of(reduction.out);
    for (int c = 0; c < components; ++c)
      if (!right(results[i * components + c], element, c)) return false;
    return true;
  }

  bool right(const Folded& want, const std::byte* got, int component) const {
    const bool sums = fold == Fold::sum, mean = reduction.kind == "mean", at = reduction.kind.starts_with("arg");
    const u64 whole = at ? want.best_at : sums ? want.sum : want.best;
    if (at || (!mean && core::float_format(reduction.out) == nullptr))  // little endian, as all devices are
      return std::memcmp(got, &whole, size_of(reduction.out)) == 0;
    const long double exact = static_cast<long double>(i64(whole)) * numbers.unit / (mean ? reduction.reduced : 1);
    // A sum is rounded once, when it is stored; a mean also when it is divided.
    const long double allowed = (sums ? 2 : 0) * core::unit_roundoff(reduction.out) * std::fabs(exact);
    return std::fabs(core::number_at(reduction.out, got, component) - exact) <= allowed;
  }
};

}  // namespace

void merge(Fold fold, Folded& into, const Folded& part) {
  into.sum += part.sum;
  if (fold != Fold::sum && part.best_at >= 0 && better(fold, part.best, part.best_at, into)) into = part;
}

std::optional<Judge> make_reduction_judge(Workload& workload, const Reduction& reduction, Where where) {
  const bool floats = core::float_format(reduction.in) != nullptr;
  // Sums of integers wrap, so their mean is not theirs divided; the order of u64 is not that of i64.
  if (reduction.in == Dtype::boolean || (reduction.kind == "mean" && !floats)) return std::nullopt;
  if (fold_of(reduction.kind) != Fold::sum && reduction.in == Dtype::u64) return std::nullopt;
  return Judge{Strength::indexed, ReductionJudge{workload, reduction, where}};
}

}  // namespace axisloom::bench
