// Reductions, worked out from the hashes of the input, by a device where the arrays lie on one: no element is read, and
// every result is exact; of norms the square is, a whole number.
//
// How far a right float may be off, in roundings u of its dtype:
//
//   extremes  0
//   sums      2  one, when it is stored; of a mean another, when it is divided
//   norms     8  a sum of squares that is off by 2 u of itself, as a compensated one is at most, makes its root off by
//                one; the root is off by up to six (3 ulp, which OpenCL allows in f32 where a device lacks f64); and
//                one, when it is stored
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
  if (kind == "norm") return Fold::squares;
  return kind.ends_with("min") ? Fold::least : Fold::greatest;
}

constexpr bool adds(Fold fold) {
  return fold == Fold::sum || fold == Fold::squares;
}

bool better(Fold fold, i64 value, i64 at, const Folded& than) {
  const i64 best = than.value;
  if (than.at < 0) return true;
  if (value == best) return at < than.at;
  return fold == Fold::least ? value < best : value > best;
}

template <Fold fold>
void take(Folded& into, i64 value, i64 at) {
  if constexpr (adds(fold))
    into.value += fold == Fold::squares ? value * value : value;
  else if (better(fold, value, at, into))
    into = {u64(value), at};
}

struct ReductionJudge {
  Workload& workload;
  Reduction reduction;
  Where where;
  Fold fold = fold_of(reduction.kind);
  WholeNumbers numbers{reduction.in, fraction_bits(reduction.kind, reduction.in)};
  int components = core::components_of(reduction.in);
  bool places = reduction.kind.starts_with("arg");
  bool whole_numbers = places || (reduction.kind != "mean" && core::float_format(reduction.out) == nullptr);
  long double allowed = (fold == Fold::squares ? 8 : fold == Fold::sum ? 2 : 0) * core::unit_roundoff(reduction.out);
  // What rounding adds below the normal numbers: of f16 means of thousands of elements are there.
  long double least = allowed == 0 ? 0 : core::float_format(reduction.out)->least();
  std::vector<u64> results = {};  // component beside component

  Mistakes operator()(const std::byte* got) {
    if (results.empty())
      results = where == Where::host ? on_host() : folded_on_device(workload, reduction, fold, places);
    return found_by(workload.team(), reduction.results(), [&](i64 begin, i64 end, Mistakes& mine) {
      for (i64 i = begin; i < end; ++i)
        if (!right_result(i, got)) mine.note(reduction.out_offset + i);
    });
  }

  std::vector<u64> on_host() const {
    Team& team = workload.team();
    std::vector<std::vector<Folded>> parts(team.size());
    team.run([&](unsigned member) {
      parts[member].resize(reduction.results() * components);
      const auto [begin, end] = team.share(reduction.lead * reduction.outer * reduction.reduced, member);
      switch (fold) {
        case Fold::sum:
          return add_runs<Fold::sum>(begin, end, parts[member]);
        case Fold::least:
          return add_runs<Fold::least>(begin, end, parts[member]);
        case Fold::greatest:
          return add_runs<Fold::greatest>(begin, end, parts[member]);
        case Fold::squares:
          return add_runs<Fold::squares>(begin, end, parts[member]);
      }
    });
    for (size_t part = 1; part < parts.size(); ++part)
      for (size_t i = 0; i < parts[0].size(); ++i) merge(fold, parts[0][i], parts[part][i]);
    std::vector<u64> wanted;
    wanted.reserve(parts[0].size());
    for (const auto& [value, at] : parts[0]) wanted.push_back(places ? u64(at) : value);
    return wanted;
  }

  /// Runs of `inner` elements, one after the other.
  template <Fold kind>
  void add_runs(i64 begin, i64 end, std::vector<Folded>& part) const {
    const Data data = workload.data(0);
    const WholeNumbers number = numbers;
    // The second component of a c64 is the upper half of its bits, that of a c128 has bits of its own.
    const bool in_one = reduction.in == Dtype::c64;
    for (i64 run = begin; run < end; ++run) {
      const i64 row = run / reduction.reduced, first = row % reduction.outer * reduction.inner;
      const i64 at = row / reduction.outer * reduction.reduced + run % reduction.reduced;
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

  bool right(u64 want, const std::byte* got, int component) const {
    // Little endian, as all devices are.
    if (whole_numbers) return std::memcmp(got, &want, size_of(reduction.out)) == 0;
    const long double exact = exact_float(want);
    return std::fabs(float_at(got, component) - exact) <= allowed * std::fabs(exact) + least;
  }
  long double exact_float(u64 want) const {
    if (fold == Fold::squares) return std::sqrt(static_cast<long double>(want)) * numbers.unit;
    return static_cast<long double>(i64(want)) * numbers.unit / (reduction.kind == "mean" ? reduction.count() : 1);
  }
  /// As core::number_at, which takes its time; most results of which there are millions are f32.
  long double float_at(const std::byte* element, int component) const {
    if (core::component_of(reduction.out) != Dtype::f32) return core::number_at(reduction.out, element, component);
    float number = 0;
    std::memcpy(&number, element + component * sizeof number, sizeof number);
    return number;
  }
};

}  // namespace

void merge(Fold fold, Folded& into, const Folded& part) {
  if (adds(fold))
    into.value += part.value;
  else if (part.at >= 0 && better(fold, part.value, part.at, into))
    into = part;
}

std::optional<Judge> make_reduction_judge(Workload& workload, const Reduction& reduction, Where where) {
  const bool floats = core::float_format(reduction.in) != nullptr;
  // Sums of integers wrap, so their mean is not theirs divided; the order of u64 is not that of i64.
  const Fold fold = fold_of(reduction.kind);
  if (reduction.in == Dtype::boolean || (reduction.kind == "mean" && !floats)) return std::nullopt;
  if (fold != Fold::sum && reduction.in == Dtype::u64) return std::nullopt;
  // Squares of wide integers leave 64 bits, and those of a complex number's components make one result.
  if (fold == Fold::squares && (!floats || core::components_of(reduction.in) > 1)) return std::nullopt;
  return Judge{Strength::indexed, ReductionJudge{workload, reduction, where}};
}

}  // namespace axisloom::bench
