// Sets of indices of one axis as combs: runs of one length at equal distances. What a cut leaves to a rank, what is
// left of it by a second cut, and what two ranks have in common.
#pragma once

#include "core/integers.hpp"
#include "core/pattern.hpp"

#include <vector>

namespace axisloom::distributed {

/// Runs [first + k * step, first + k * step + length) for k < count, which do not overlap. Index first + k * step + i
/// lies at place `local + k * local_step + i * unit`. A single run has count 1, and its steps say nothing.
struct Comb {
  i64 first = 0;
  i64 length = 0;  // at least 1
  i64 step = 0;
  i64 count = 1;  // at least 1
  i64 local = 0;
  i64 unit = 1;
  i64 local_step = 0;

  /// One past the last index.
  i64 end() const { return first + (count - 1) * step + length; }
  i64 size() const { return count * length; }
  bool operator==(const Comb&) const = default;
};
using Combs = std::vector<Comb>;  // disjoint, in no order

/// False where two combs lie apart as a whole.
inline bool may_meet(const Comb& a, const Comb& b) {
  return a.first < b.end() && b.first < a.end();
}

/// The indices from `first` on, which lie at places from `local` on.
Comb run(i64 first, i64 length, i64 local = 0, i64 unit = 1);
/// The first or the last runs of a comb.
Comb first_runs(const Comb& comb, i64 count);
Comb without_runs(const Comb& comb, i64 count);

/// What one cut of an axis of `extent` leaves to part `part` of `parts`; places count from 0 in the order of indices.
Combs part_of(i64 extent, const core::Cut& cut, i64 parts, i64 part);

/// What a further cut leaves of a set whose places it cuts: `part` is a set of places of `set`.
Combs chained(const Combs& set, const Combs& part);

i64 size_of(const Combs& set);

/// What two combs have in common, as a nest: indices along which both places advance evenly.
struct Common {
  struct Level {
    i64 extent = 1, in = 0, out = 0;
    bool operator==(const Level&) const = default;
  };
  i64 in = 0, out = 0;  // places of the first index
  Level periods, runs, run;

  i64 size() const { return periods.extent * runs.extent * run.extent; }
};

/// Most parts that an axis may fall into; more would take longer to plan than to send one by one.
inline constexpr size_t most_parts = 1 << 16;
/// Throws Error(unsupported) where parts are more.
void check_parts(size_t parts);

/// Appends the indices that lie in both combs, each once, in no order. There are as many parts as one common period of
/// the two needs; throws Error(unsupported) where they are more than most_parts.
void add_common(const Comb& in, const Comb& out, std::vector<Common>& parts);

}  // namespace axisloom::distributed
