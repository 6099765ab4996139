// Random moves: copies, transposes, permutations, layouts, and patterns with compositions.
#include "harness/draft.hpp"

#include <algorithm>

namespace axisloom::harness {
namespace {

constexpr i64 blocks[] = {4, 8, 16, 32};
constexpr std::string_view plain_layouts[] = {"NCHW", "NHWC", "CHWN"};

void draft_pattern(Case& draft, Dice& dice, int most_rank, int most_new) {
  auto& [kind, own] = dice;
  draft.dtypes = {random_dtype(kind)};
  Sizes sizes = Sizes::draw(kind);
  const int fresh = kind.between(most_new > 0 ? 1 : 0, most_new);
  if (fresh > 0) sizes.most /= 8;
  std::vector<Axis> axes = axes_of(sizes.shape(own, kind.between(1, most_rank)));
  const bool dots = kind.percent(15);  // axes that the pattern does not name, in front
  std::string left = left_side(dice, axes, Open::either, draft);
  for (int i = 0; i < fresh; ++i) {
    axes.push_back({concat("new", i), own.between(1, i == 0 ? 6 : 2)});
    draft.op.lengths.emplace_back(axes.back().name, axes.back().extent);
  }
  kind.shuffle(axes);
  std::string right = grouped(kind, axes).text;
  if (dots) {
    Dims shape{own.between(1, 3)};
    for (i64 extent : draft.shapes[0]) shape.push_back(extent);
    draft.shapes = {shape};
    left = "... " + left;
    right = kind.percent(50) ? "... " + right : right + " ...";
  }
  draft.op.arguments = {left + " -> " + right};
}

std::string blocked_layout(i64 channels) {
  return fmt::format("NC/{0}HW{0}", channels);
}

}  // namespace

std::vector<std::string> layouts() {
  std::vector<std::string> names(std::begin(plain_layouts), std::end(plain_layouts));
  for (const i64 channels : blocks) names.push_back(blocked_layout(channels));
  return names;
}

void draft_any_array(Case& draft, Dice& dice) {
  const Sizes sizes = Sizes::draw(dice.kind);
  draft.dtypes = {random_dtype(dice.kind)};
  draft.shapes = {sizes.shape(dice.own, dice.kind.between(0, 6))};
}

void draft_matrices(Case& draft, Dice& dice) {
  auto& [kind, own] = dice;
  const Sizes sizes = Sizes::draw(kind);
  Dims shape = sizes.shape(own, kind.between(2, 4));
  const bool in_place = kind.percent(25);
  const int last = shape.size() - 1;
  if (in_place) shape[last] = shape[last - 1] = std::min(shape[last], shape[last - 1]);
  draft.dtypes = {random_dtype(kind)};
  draft.shapes = {shape};
  draft.in_place = in_place;
}

void draft_permutation(Case& draft, Dice& dice) {
  auto& [kind, own] = dice;
  const Sizes sizes = Sizes::draw(kind);
  const int rank = kind.between(1, kind.percent(15) ? 12 : 6);
  std::vector<int> order = random_order(kind, rank);
  for (int& axis : order)
    if (own.percent(10)) axis -= rank;
  draft.op.arguments = {joined(order, ",")};
  draft.dtypes = {random_dtype(kind)};
  draft.shapes = {sizes.shape(own, rank)};
}

void draft_layouts(Case& draft, Dice& dice) {
  auto& [kind, own] = dice;
  const i64 n = own.between(1, 3), c = own.between(1, 67), h = own.between(0, 15), w = own.between(1, 17),
            x = kind.one_of(blocks);
  const std::string_view flat = kind.one_of(plain_layouts), other = kind.one_of(plain_layouts);
  const std::string blocked = blocked_layout(x);
  const Dims flat_shape = flat == "NCHW" ? Dims{n, c, h, w} : flat == "NHWC" ? Dims{n, h, w, c} : Dims{c, h, w, n};
  const Dims blocked_shape{n, ceil_div(c, x), h, w, x};
  draft.dtypes = {random_dtype(kind)};
  const i64 way = kind.below(5);
  const auto between = [&](std::string_view from, std::string_view to, const Dims& shape) {
    draft.op.arguments = {std::string(from), std::string(to)};
    if (from.starts_with("NC/")) draft.op.lengths.emplace_back("channels", c);
    draft.shapes = {shape};
  };
  if (way < 2) return between(flat, blocked, flat_shape);
  if (way < 4) return between(blocked, flat, blocked_shape);
  if (kind.percent(50)) return between(flat, other, flat_shape);
  return between(blocked, blocked_layout(kind.one_of(blocks)), blocked_shape);
}

void draft_pattern(Case& draft, Dice& dice) {
  draft_pattern(draft, dice, 6, 0);
}

void draft_new_axes(Case& draft, Dice& dice) {
  draft_pattern(draft, dice, 4, 2);
}

}  // namespace axisloom::harness
