// Arithmetic of combs: cuts, chains of cuts, and intersections.
#include "distributed/comb.hpp"

#include "core/checked.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace axisloom::distributed {
namespace {

/// Rounded down and up for b > 0, whatever the sign of a.
constexpr i64 floor_div_signed(i64 a, i64 b) {
  return a / b - (a % b < 0 ? 1 : 0);
}
constexpr i64 ceil_div_signed(i64 a, i64 b) {
  return a / b + (a % b > 0 ? 1 : 0);
}
/// The remainder from 0 on for b > 0, whatever the sign of a.
constexpr i64 floor_mod(i64 a, i64 b) {
  return a % b + (a % b < 0 ? b : 0);
}

/// What times `a` is 1 modulo `modulus`, which has no factor in common with it.
i64 inverse(i64 a, i64 modulus) {
  i64 larger = modulus, smaller = a % modulus, before = 0, factor = 1;
  while (smaller != 0) {
    const i64 times = larger / smaller;
    larger = std::exchange(smaller, larger - times * smaller);
    before = std::exchange(factor, before - times * factor);
  }
  return floor_mod(before, modulus);
}

Combs blocks_dealt(i64 extent, i64 block, i64 parts, i64 part) {
  const i64 whole = extent / block, rest = extent % block;
  const i64 mine = whole > part ? (whole - part - 1) / parts + 1 : 0;
  Combs combs;
  if (parts == 1) {
    if (extent > 0) combs.push_back(run(0, extent));
    return combs;
  }
  if (mine > 0) {
    Comb& comb = combs.emplace_back(run(part * block, block));
    comb.count = mine;
    comb.local_step = block;
    if (mine > 1) comb.step = parts * block;  // else it may not fit in 63 bits
  }
  if (rest > 0 && whole % parts == part) combs.push_back(run(whole * block, rest, mine * block));
  return combs;
}

/// Finds what `longer` and `shorter` have in common: for each run of `longer` the runs of `shorter` that lie in it.
/// Both repeat together after `period_longer` runs of the one and `period_shorter` of the other.
class Crossing {
 public:
  Crossing(const Comb& longer, const Comb& shorter, bool longer_is_in, std::vector<Common>& parts)
      : longer_(longer), shorter_(shorter), longer_is_in_(longer_is_in), parts_(parts) {
    if (longer.count == 1) return;
    common_step_ = std::gcd(longer.step, shorter.step);
    period_longer_ = shorter.step / common_step_;
    period_shorter_ = longer.step / common_step_;
  }

  void find() {
    const i64 runs = std::min(period_longer_, longer_.count);
    // Where runs are short beside their distance, most of them meet nothing.
    const bool at_most_one = longer_.count > 1 && shorter_.step - longer_.length >= shorter_.length - 1;
    if (at_most_one && (longer_.length + shorter_.length - 2) / common_step_ < runs / 4) return find_by_distance();
    for (i64 i = 0; i < runs; ++i) find_run(i);
  }

 private:
  /// Each run of the longer comb meets at most one of the shorter. It begins some distance behind that one, negative
  /// where before; every possible distance tells by a congruence which run this is.
  void find_by_distance() {
    const i64 between = longer_.first - shorter_.first, lowest = 1 - longer_.length;
    i64 distance = lowest + floor_mod(between - lowest, common_step_);
    const i64 next = inverse(period_shorter_, period_longer_);
    const i64 steps = floor_mod((distance - between) / common_step_, period_longer_);
    auto i = i64(core::Wide(steps) * next % period_longer_);
    for (; distance < shorter_.length; distance += common_step_) {
      if (i < longer_.count) find_run(i);
      i = i < period_longer_ - next ? i + next : i - (period_longer_ - next);
    }
  }

  /// What the runs of the shorter comb have of run i of the longer.
  void find_run(i64 i) {
    const i64 begin = longer_.first + i * longer_.step, end = begin + longer_.length;
    const i64 step = shorter_.count == 1 ? 0 : shorter_.step;
    if (step == 0) {
      if (shorter_.first < end && shorter_.end() > begin) add(i, 0, 0, 1);
      return;
    }
    const i64 first = floor_div_signed(begin - shorter_.first - shorter_.length, step) + 1;
    const i64 last = floor_div_signed(end - 1 - shorter_.first, step);
    if (first >= last) {
      if (first == last) add_periods(i, first, last);
      return;
    }
    // Only the first and the last of them can be cut by the ends of the longer run.
    const i64 first_whole = ceil_div_signed(begin - shorter_.first, step);
    const i64 last_whole = floor_div_signed(end - shorter_.length - shorter_.first, step);
    if (first < first_whole) add_periods(i, first, first);
    if (first_whole <= last_whole) add_periods(i, first_whole, last_whole);
    if (last_whole < last) add_periods(i, last, last);
  }

  /// Run i of the longer comb with runs first to last of the shorter one, and what is so many periods further on, as
  /// far as both combs go.
  void add_periods(i64 i, i64 first, i64 last) {
    const i64 periods = (longer_.count - 1 - i) / period_longer_ + 1, runs = shorter_.count;
    const i64 whole_first = std::max<i64>(0, ceil_div_signed(-first, period_shorter_));
    const i64 whole_last = std::min(periods - 1, floor_div_signed(runs - 1 - last, period_shorter_));
    const i64 touched_last = std::min(periods - 1, floor_div_signed(runs - 1 - first, period_shorter_));
    for (i64 k = std::max<i64>(0, ceil_div_signed(-last, period_shorter_)); k <= touched_last; ++k) {
      const i64 shift = k * period_shorter_;
      const bool whole = k >= whole_first && k <= whole_last;
      const i64 many = whole ? whole_last - k + 1 : 1;
      add(i + k * period_longer_, std::max<i64>(first + shift, 0), std::min(last + shift, runs - 1), many);
      k += many - 1;
    }
  }

  void add(i64 i, i64 first, i64 last, i64 periods) {
    const i64 in_longer = longer_.first + i * longer_.step, in_shorter = shorter_.first + first * shorter_.step;
    const i64 begin = std::max(in_longer, in_shorter);
    const i64 end = std::min(in_longer + longer_.length, in_shorter + shorter_.length);
    Common part{.in = longer_.local + i * longer_.local_step + (begin - in_longer) * longer_.unit,
                .out = shorter_.local + first * shorter_.local_step + (begin - in_shorter) * shorter_.unit,
                .periods = {.extent = periods},
                .runs = {.extent = last - first + 1},
                .run = {end - begin, longer_.unit, shorter_.unit}};
    // What is walked once has no stride, which might not fit in 63 bits.
    if (periods > 1) {
      part.periods.in = period_longer_ * longer_.local_step;
      part.periods.out = period_shorter_ * shorter_.local_step;
    }
    if (last > first) {
      part.runs.in = shorter_.step * longer_.unit;
      part.runs.out = shorter_.local_step;
    }
    if (!longer_is_in_) {
      std::swap(part.in, part.out);
      for (Common::Level* level : {&part.periods, &part.runs, &part.run}) std::swap(level->in, level->out);
    }
    parts_.push_back(part);
    check_parts(parts_.size());
  }

  const Comb& longer_;
  const Comb& shorter_;
  const bool longer_is_in_;
  std::vector<Common>& parts_;
  i64 common_step_ = 1, period_longer_ = 1, period_shorter_ = 1;
};

/// A nest of indices (`in`) and places (`out`) as combs, which have one level of runs: the shorter of the two outer
/// levels is spelled out.
void add_combs(const Common& part, Combs& combs) {
  const auto [spelled, kept] =
      std::minmax(part.periods, part.runs, [](const auto& a, const auto& b) { return a.extent < b.extent; });
  for (i64 k = 0; k < spelled.extent; ++k) {
    Comb& comb = combs.emplace_back(run(part.in + k * spelled.in, part.run.extent, part.out + k * spelled.out));
    comb.count = kept.extent;
    comb.step = kept.in;
    comb.local_step = kept.out;
  }
}

}  // namespace

Comb run(i64 first, i64 length, i64 local, i64 unit) {
  return {.first = first, .length = length, .local = local, .unit = unit};
}

Comb first_runs(const Comb& comb, i64 count) {
  Comb part = comb;
  part.count = count;
  return part;
}

Comb without_runs(const Comb& comb, i64 count) {
  Comb part = comb;
  part.first += count * comb.step;
  part.local += count * comb.local_step;
  part.count -= count;
  return part;
}

Combs part_of(i64 extent, const core::Cut& cut, i64 parts, i64 part) {
  if (cut.deal == core::Deal::cyclic)
    return blocks_dealt(extent, std::min(cut.block, std::max<i64>(extent, 1)), parts, part);
  i64 begin, end;
  if (cut.deal == core::Deal::balanced) {
    const i64 most = extent % parts;
    begin = part * (extent / parts) + std::min(part, most);
    end = begin + extent / parts + (part < most ? 1 : 0);
  } else {
    const i64 block = extent / parts + (extent % parts > 0 ? 1 : 0);
    begin = block > 0 && part > extent / block ? extent : std::min(part * block, extent);
    end = begin + std::min(block, extent - begin);
  }
  return begin < end ? Combs{run(begin, end - begin)} : Combs{};
}

Combs chained(const Combs& set, const Combs& part) {
  std::vector<Common> common;
  for (const Comb& comb : set) {
    // The comb as the axis of its places, on which each index lies.
    const Comb places{comb.local, comb.length, comb.local_step, comb.count, comb.first, 1, comb.step};
    for (const Comb& wanted : part) add_common(places, wanted, common);
  }
  Combs combs;
  for (const Common& found : common) add_combs(found, combs);
  return combs;
}

void check_parts(size_t parts) {
  if (parts > most_parts)
    throw Error(Errc::unsupported, concat("cuts make more than ", most_parts, " parts"),
                "deal blocks whose lengths, times the ranks, divide each other and the rows that they are cut from");
}

i64 size_of(const Combs& set) {
  i64 size = 0;
  for (const Comb& comb : set) size += comb.size();
  return size;
}

void add_common(const Comb& in, const Comb& out, std::vector<Common>& parts) {
  if (!may_meet(in, out)) return;
  if (in.count == 1 && out.count == 1) {
    const i64 begin = std::max(in.first, out.first), end = std::min(in.end(), out.end());
    parts.push_back({.in = in.local + (begin - in.first) * in.unit,
                     .out = out.local + (begin - out.first) * out.unit,
                     .periods = {},
                     .runs = {},
                     .run = {end - begin, in.unit, out.unit}});
    return;
  }
  // Few runs of the one that hold many of the other make the fewest parts.
  const bool longer_is_in = in.count == 1 || (out.count > 1 && in.step >= out.step);
  const Comb &longer = longer_is_in ? in : out, &shorter = longer_is_in ? out : in;
  Crossing(longer, shorter, longer_is_in, parts).find();
}

}  // namespace axisloom::distributed
