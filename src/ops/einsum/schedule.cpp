// Places intermediate arrays in a workspace, and strings the launches of the steps together.
#include "ops/einsum/schedule.hpp"

#include "core/checked.hpp"
#include "core/integers.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <functional>
#include <numeric>

namespace axisloom::ops {
namespace {

constexpr auto alignment = i64(workspace_alignment);

i64 rounded_up(i64 bytes) {
  return core::checked_add(bytes, alignment - 1, "the workspace of an einsum") / alignment * alignment;
}

bool live_together(const Lifetime& a, const Lifetime& b) {
  return a.first <= b.last && b.first <= a.last;
}

}  // namespace

std::vector<i64> place_blocks(const std::vector<Lifetime>& blocks) {
  std::vector<size_t> order(blocks.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::stable_sort(order, std::greater(), [&](size_t block) { return blocks[block].bytes; });
  std::vector<i64> begins(blocks.size());
  std::vector<size_t> placed;  // by where they begin
  for (const size_t block : order) {
    i64 begin = 0;
    for (const size_t other : placed) {
      if (!live_together(blocks[block], blocks[other])) continue;
      if (begin + blocks[block].bytes <= begins[other]) break;
      begin = std::max(begin, rounded_up(core::checked_add(begins[other], blocks[other].bytes, "a workspace")));
    }
    begins[block] = begin;
    const auto begin_of = [&](size_t other) { return begins[other]; };
    placed.insert(std::ranges::upper_bound(placed, begin, {}, begin_of), block);
  }
  return begins;
}

Source Schedule::block(i64 bytes) {
  blocks_.push_back({.bytes = bytes});
  return {workspace_view, int(blocks_.size()) - 1};
}

void Schedule::add(SharedPlan part, std::vector<Source> sources, std::string text) {
  const int step = int(steps_.size());
  for (const Source& source : sources) {
    if (source.view != workspace_view) continue;
    Lifetime& block = blocks_[source.block];
    if (block.last < 0) block.first = step;
    block.last = step;
  }
  steps_.push_back({std::move(part), std::move(sources), std::move(text)});
}

void Schedule::finish(PlanImpl& plan) const {
  std::vector<Lifetime> blocks = blocks_;
  // Behind the arrays, the memory that each step itself works with.
  for (int step = 0; step < int(steps_.size()); ++step)
    blocks.push_back({i64(steps_[step].part->report.workspace_bytes), step, step});
  const std::vector<i64> begins = place_blocks(blocks);
  PlanReport& report = plan.report;
  for (size_t i = 0; i < blocks.size(); ++i)
    report.workspace_bytes = std::max(report.workspace_bytes, size_t(begins[i] + blocks[i].bytes));
  for (size_t s = 0; s < steps_.size(); ++s) {
    std::vector<Place> places;
    for (const Source& source : steps_[s].sources)
      places.push_back({source.view, source.view == workspace_view ? begins[source.block] : 0});
    append(plan, *steps_[s].part, places, begins[blocks_.size() + s]);
    report.expected_seconds += steps_[s].part->report.expected_seconds;
    report.steps.push_back(concat(s + 1, ": ", steps_[s].text));
  }
}

}  // namespace axisloom::ops
