// Runs of memory in order, and the sectors that each adds.
#include "bench/sectors.hpp"

#include <algorithm>
#include <cstdlib>

namespace axisloom::bench {
namespace {

constexpr i64 most_runs = i64{1} << 28;  // a second

/// A loop over one side, in bytes.
struct Steps {
  i64 extent, stride;
};

/// The axes as one side sees them, those of the widest steps first: only what moves it, all of it upwards.
std::vector<Steps> steps_of(const core::Move& move, core::Operand side) {
  std::vector<Steps> steps;
  for (const core::Loop& axis : move.axes)
    if (axis.extent > 1 && axis.*side != 0) steps.push_back({axis.extent, std::abs(axis.*side) * move.element});
  std::ranges::stable_sort(steps, std::greater(), &Steps::stride);
  return steps;
}

/// Takes out the innermost loops that fill memory without a gap, and returns the bytes that they make together.
i64 take_dense(std::vector<Steps>& steps, i64 element) {
  i64 run = element;
  while (!steps.empty() && steps.back().stride <= run) {
    run += (steps.back().extent - 1) * steps.back().stride;
    steps.pop_back();
  }
  return run;
}

/// Whether the runs lie in the order in which the loops come to them, none within another.
bool are_in_order(const std::vector<Steps>& steps, i64 run) {
  i64 reach = run;
  for (auto inner = steps.rbegin(); inner != steps.rend(); ++inner) {
    if (inner->stride < reach) return false;
    reach += (inner->extent - 1) * inner->stride;
  }
  return true;
}

i64 count_sectors(const std::vector<Steps>& steps, i64 begin, i64 run, i64 sector) {
  std::vector<i64> index(steps.size());
  i64 sectors = 0, last = -1;
  for (;;) {
    const i64 first = begin / sector, end = (begin + run - 1) / sector;
    sectors += end - std::max(first, last + 1) + 1;
    last = end;
    size_t d = steps.size();
    for (; d > 0; --d) {
      begin += steps[d - 1].stride;
      if (++index[d - 1] < steps[d - 1].extent) break;
      begin -= steps[d - 1].extent * steps[d - 1].stride;
      index[d - 1] = 0;
    }
    if (d == 0) return sectors;
  }
}

}  // namespace

std::optional<i64> sectors_touched(const core::Move& move, bool output, i64 sector) {
  if (move.tail) return std::nullopt;
  if (move.count() == 0) return 0;
  std::vector<Steps> steps = steps_of(move, core::side(output));
  const i64 run = take_dense(steps, move.element);
  double runs = 1;
  for (const Steps& loop : steps) runs *= double(loop.extent);
  if (runs > double(most_runs) || !are_in_order(steps, run)) return std::nullopt;
  const Bounds bounds = output ? out_bounds(move) : in_bounds(move);
  return count_sectors(steps, bounds.low * move.element, run, sector);
}

std::optional<i64> floor_bytes(const core::Move& move, i64 sector) {
  const auto read = sectors_touched(move, false, sector), written = sectors_touched(move, true, sector);
  if (!read || !written) return std::nullopt;
  return (*read + *written) * sector;
}

}  // namespace axisloom::bench
