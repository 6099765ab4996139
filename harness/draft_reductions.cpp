// Random reductions, by axis numbers and by patterns.
#include "harness/draft.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

namespace axisloom::harness {
namespace {

constexpr std::array<std::string_view, 3> norm_orders{"1", "2", "inf"};

bool has_option(const ops::OpEntry& entry, std::string_view name) {
  return std::ranges::any_of(entry.options, [&](const ops::Option& option) { return option.name == name; });
}

void add_order(std::string_view reducer, Dice& dice, Operation& op) {
  if (dice.kind.percent(35)) op.options.emplace_back("order", dice.kind.percent(80) ? "portable" : "fast");
  if (has_option(ops::entry(reducer), "ord") && dice.kind.percent(75))
    op.options.emplace_back("ord", dice.kind.one_of(norm_orders));
}

/// The reductions that have an entry of their own.
std::vector<std::string_view> reducers() {
  std::vector<std::string_view> names;
  for (const ops::OpEntry& entry : ops::registry())
    if (entry.draw == ops::Draw::reduced_axes) names.push_back(entry.name);
  return names;
}

/// One of them; those with an option more than the others, the norms, come more often.
std::string_view draw_reducer(Random& kind) {
  const std::vector<std::string_view> names = reducers();
  if (!kind.percent(20)) return kind.one_of(names);
  return *std::ranges::find_if(names, [](std::string_view name) { return has_option(ops::entry(name), "ord"); });
}

}  // namespace

Draft draft_reduced_axes(Operation op, Dice& dice) {
  const Sizes sizes = Sizes::draw(dice.kind);
  const auto rank = int(dice.kind.between(1, 6));
  Draft draft{std::move(op), {random_dtype(dice.kind)}, {sizes.shape(dice.own, rank)}};
  std::string axes;
  for (int axis = 0; axis < rank; ++axis)
    if (dice.kind.percent(50))
      axes += fmt::format("{}{}", axes.empty() ? "" : ",", dice.own.percent(20) ? axis - rank : axis);
  if (!axes.empty()) draft.op.options.emplace_back("axes", axes);
  if (dice.own.percent(25)) draft.op.options.emplace_back("keepdims", "");
  add_order(draft.op.name, dice, draft.op);
  return draft;
}

Draft draft_reduced_pattern(Operation op, Dice& dice) {
  const std::string reducer(draw_reducer(dice.kind));
  const Sizes sizes = Sizes::draw(dice.kind);
  const auto rank = int(dice.kind.between(1, 6));
  const Dims extents = sizes.shape(dice.own, rank);
  Draft draft{std::move(op), {random_dtype(dice.kind)}, {}};
  std::vector<std::string> names, kept;
  for (int axis = 0; axis < rank; ++axis) names.emplace_back(1, char('a' + axis));
  std::vector<int> groups;
  const std::string left = grouped(dice.kind, names, groups);
  Dims shape;
  int at = 0;
  for (int size : groups) {
    i64 product = 1;
    for (int i = 0; i < size; ++i, ++at) {
      const i64 extent = size > 1 ? std::max<i64>(1, extents[at]) : extents[at];
      product *= extent;
      if (i > 0) draft.op.lengths.emplace_back(names[size_t(at)], extent);
    }
    shape.push_back(product);
  }
  draft.shapes = {shape};
  for (const std::string& name : names)
    if (dice.kind.percent(50)) kept.push_back(name);
  dice.kind.shuffle(kept);
  std::vector<int> ignored;
  draft.op.arguments = {reducer, left + " -> " + grouped(dice.kind, kept, ignored)};
  add_order(reducer, dice, draft.op);
  return draft;
}

}  // namespace axisloom::harness
