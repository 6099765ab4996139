// Random reductions, by axis numbers and by patterns.
#include "harness/draft.hpp"

#include <algorithm>

namespace axisloom::harness {
namespace {

constexpr std::string_view norm_orders[] = {"1", "2", "inf"};
constexpr std::string_view initial_values[] = {"0", "1", "3", "-2", "0.5", "inf", "100"};

bool has_option(const ops::OpEntry& entry, std::string_view name) {
  return std::ranges::any_of(entry.options, [&](const ops::Option& option) { return option.name == name; });
}

void add_order(std::string_view reducer, Dice& dice, Operation& op) {
  if (dice.kind.percent(35)) op.options.emplace_back("order", dice.kind.percent(80) ? "portable" : "fast");
  if (has_option(ops::entry(reducer), "ord") && dice.kind.percent(75))
    op.options.emplace_back("ord", dice.kind.one_of(norm_orders));
}

/// The array's shape, or one that is broadcast to it.
Dims mask_shape(Random& own, const Dims& shape) {
  Dims mask;
  const int first = own.percent(60) ? 0 : int(own.between(0, shape.size()));
  for (int axis = first; axis < shape.size(); ++axis) mask.push_back(own.percent(80) ? shape[axis] : 1);
  return mask;
}

/// Options of a reducer that NumPy has too, which few cases of a class have. Some are refused.
void add_arithmetic(std::string_view reducer, Dice& dice, Case& draft) {
  Random& own = dice.own;  // a binding cannot be captured in clang 14
  const ops::OpEntry& entry = ops::entry(reducer);
  const auto draws = [&](std::string_view option) { return has_option(entry, option) && own.percent(15); };
  if (draws("compute-dtype")) draft.op.options.emplace_back("compute-dtype", name(random_dtype(own)));
  if (draws("initial")) draft.op.options.emplace_back("initial", own.one_of(initial_values));
  // In the portable order masks are not cut into slices.
  if (draft.op.option("order").value_or("") == "portable" || !draws("where")) return;
  draft.op.options.emplace_back("where", "");
  draft.dtypes.push_back(Dtype::boolean);
  draft.shapes.push_back(mask_shape(own, draft.shapes[0]));
}

/// One of them; those with an option more than the others, the norms, come more often.
std::string draw_reducer(Random& kind) {
  const auto names = reducers();
  if (!kind.percent(20)) return kind.one_of(names);
  return *std::ranges::find_if(names, [](std::string_view name) { return has_option(ops::entry(name), "ord"); });
}

}  // namespace

std::vector<std::string> reducers() {
  std::vector<std::string> names;
  for (const ops::OpEntry& entry : ops::registry())
    if (entry.draw == ops::Draw::reduced_axes) names.emplace_back(entry.name);
  return names;
}

void draft_reduced_axes(Case& draft, Dice& dice) {
  auto& [kind, own] = dice;
  const Sizes sizes = Sizes::draw(kind);
  const int rank = kind.between(1, 6);
  draft.dtypes = {random_dtype(kind)};
  draft.shapes = {sizes.shape(own, rank)};
  std::string axes;
  for (int axis = 0; axis < rank; ++axis)
    if (kind.percent(50)) axes += concat(axes.empty() ? "" : ",", own.percent(20) ? axis - rank : axis);
  if (!axes.empty()) draft.op.options.emplace_back("axes", axes);
  if (own.percent(25)) draft.op.options.emplace_back("keepdims", "");
  add_order(draft.op.name, dice, draft.op);
  add_arithmetic(draft.op.name, dice, draft);
}

void draft_reduced_pattern(Case& draft, Dice& dice) {
  auto& [kind, own] = dice;
  const std::string reducer = draw_reducer(kind);
  const Sizes sizes = Sizes::draw(kind);
  const int rank = kind.between(1, 6);
  std::vector<Axis> axes = axes_of(sizes.shape(own, rank)), kept;
  draft.dtypes = {random_dtype(kind)};
  const std::string left = left_side(dice, axes, Open::first, draft);
  for (const Axis& axis : axes)
    if (kind.percent(50)) kept.push_back(axis);
  kind.shuffle(kept);
  draft.op.arguments = {reducer, left + " -> " + grouped(kind, kept).text};
  add_order(reducer, dice, draft.op);
  add_arithmetic(reducer, dice, draft);
}

}  // namespace axisloom::harness
