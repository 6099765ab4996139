// Drawing extents, and choosing who draws an operation.
#include "harness/draft.hpp"

#include <algorithm>
#include <numeric>

namespace axisloom::harness {
namespace {

// Most arrays are small, so that a case takes milliseconds; some have several tiles either way, or several groups.
constexpr i64 most_elements[] = {1 << 10, 1 << 12, 1 << 12, 1 << 14, 1 << 14, 1 << 17};
constexpr i64 tile_sides[] = {16, 32, 64, 128, 256};
constexpr i64 primes[] = {2, 3, 5, 7, 11, 13, 17, 31, 37, 61, 67, 127, 131, 251, 257, 509, 521, 1021};

/// How operations are drawn, and how often for once that a sum is.
struct Drawer {
  int share;
  Drawing* draw;
};

const Drawer& drawer_of(const ops::OpEntry& entry) {
  static constexpr Drawer all[] = {{3, draft_any_array},    {3, draft_matrices},        {4, draft_permutation},
                                   {4, draft_layouts},      {4, draft_pattern},         {2, draft_new_axes},
                                   {1, draft_reduced_axes}, {3, draft_reduced_pattern}, {7, draft_einsum},
                                   {4, draft_two_matrices}, {1, draft_two_vectors}};  // as ops::Draw
  return all[size_t(entry.draw)];
}

}  // namespace

Sizes Sizes::draw(Random& kind) {
  constexpr Style styles[] = {Style::any, Style::any, Style::tiles, Style::odd};
  return {kind.one_of(styles), kind.one_of(most_elements)};
}

i64 Sizes::extent(Random& own) const {
  if (own.percent(6)) return own.between(0, 1);
  switch (style) {
    case Style::any:
      return own.between(1, 70);
    case Style::tiles:
      return own.percent(60) ? own.one_of(tile_sides) + own.between(-1, 1) : i64{1} << own.between(0, 9);
    case Style::odd:
      break;
  }
  return own.percent(30) ? own.between(1, 3) : own.one_of(primes);
}

Dims Sizes::shape(Random& own, int rank) const {
  Dims shape;
  for (int i = 0; i < rank; ++i) {
    shape.push_back(extent(own));
    while (extents_above_zero(shape) > most) {
      i64& largest = *std::ranges::max_element(shape);
      largest = own.between(1, largest - 1);
    }
  }
  return shape;
}

// Of some axes of an empty array a pattern may make an array that is not empty.
i64 extents_above_zero(const Dims& shape) {
  i64 product = 1;
  for (i64 extent : shape) product *= std::max<i64>(1, extent);
  return product;
}

std::vector<const ops::OpEntry*> entries_by_share() {
  std::vector<const ops::OpEntry*> entries;
  for (const ops::OpEntry& entry : ops::registry()) entries.insert(entries.end(), drawer_of(entry).share, &entry);
  return entries;
}

Case draft_of(const ops::OpEntry& entry, Dice& dice) {
  Case draft;
  draft.op.name = entry.name;
  drawer_of(entry).draw(draft, dice);
  return draft;
}

Dtype random_dtype(Random& random) {
  return random.one_of(all_dtypes());
}

std::vector<int> random_order(Random& random, int count) {
  std::vector<int> order(count);
  std::iota(order.begin(), order.end(), 0);
  random.shuffle(order);
  return order;
}

std::vector<View> contiguous_views(const Case& draft) {
  std::vector<View> views;
  for (size_t i = 0; i < draft.shapes.size(); ++i) views.push_back(View::contiguous(draft.dtypes[i], draft.shapes[i]));
  return views;
}

std::vector<Axis> axes_of(const Dims& shape) {
  std::vector<Axis> axes;
  for (i64 extent : shape) axes.push_back({std::string(1, char('a' + axes.size())), extent});
  return axes;
}

Groups grouped(Random& kind, const std::vector<Axis>& axes) {
  Groups groups;
  const auto add = [&](const std::string& text, int size) {
    groups.text += (groups.text.empty() ? "" : " ") + text;
    groups.sizes.push_back(size);
  };
  for (size_t i = 0; i < axes.size();) {
    if (kind.percent(8)) add("1", 0);
    const size_t wanted = !kind.percent(30) ? 1 : kind.percent(30) ? 3 : 2;
    const auto group = std::span(axes).subspan(i, std::min(wanted, axes.size() - i));
    const std::string names = joined(group, " ", &Axis::name);
    add(group.size() > 1 ? "(" + names + ")" : names, group.size());
    i += group.size();
  }
  return groups;
}

std::string left_side(Dice& dice, std::vector<Axis>& axes, Open open, Case& draft) {
  const Groups groups = grouped(dice.kind, axes);
  Dims shape;
  auto axis = axes.begin();
  for (int size : groups.sizes) {
    i64 extent = 1;
    const int without_length = open == Open::first || dice.kind.percent(50) ? 0 : size - 1;
    for (int i = 0; i < size; ++i, ++axis) {
      if (size > 1) axis->extent = std::max<i64>(1, axis->extent);
      extent *= axis->extent;
      if (i != without_length) draft.op.lengths.emplace_back(axis->name, axis->extent);
    }
    shape.push_back(extent);
  }
  draft.shapes = {shape};
  return groups.text;
}

}  // namespace axisloom::harness
