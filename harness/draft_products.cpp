// Random einsums of up to eight operands, and products of matrices and vectors.
#include "harness/draft.hpp"

#include <algorithm>
#include <set>

namespace axisloom::harness {
namespace {

// The oracle walks every combination of a pattern's axes.
constexpr i64 most_terms = 1 << 15;
constexpr int operand_counts[] = {1, 2, 2, 2, 2, 2, 2, 3, 3, 3, 4, 5, 6, 8};
constexpr int most_axes_of_an_operand = 4;
constexpr std::string_view factors[] = {"1", "2", "-3", "0", "0.5", "-1.25"};

using Operand = std::vector<int>;  // numbers of axes

std::vector<Dtype> product_dtypes(Random& kind, size_t count) {
  const Dtype common = random_dtype(kind);
  const bool mixed = kind.percent(30);
  std::vector<Dtype> dtypes;
  for (size_t i = 0; i < count; ++i) dtypes.push_back(mixed ? random_dtype(kind) : common);
  return dtypes;
}

/// Factors, one more array to add, an activation, a wider result.
void add_epilogue(Dice& dice, Case& draft) {
  auto& [kind, own] = dice;
  if (kind.percent(25)) draft.op.options.emplace_back("out-dtype", name(random_dtype(kind)));
  if (kind.percent(25)) draft.op.options.emplace_back("alpha", own.one_of(factors));
  if (kind.percent(15)) draft.op.options.emplace_back("activation", "relu");
  if (!kind.percent(20)) return;
  View result;
  try {
    result = result_view(draft.op, contiguous_views(draft));
  } catch (const Error&) {
    return;  // what cannot be done needs no array to add
  }
  Dims addend;
  for (int axis = kind.percent(30) && result.rank() > 0 ? 1 : 0; axis < result.rank(); ++axis)
    addend.push_back(own.percent(20) ? 1 : result.shape[axis]);
  draft.shapes.push_back(addend);
  draft.dtypes.push_back(result.dtype);
  draft.op.options.emplace_back("beta", own.one_of(factors));
}

std::vector<Operand> random_operands(Random& kind, int axes) {
  std::vector<Operand> operands(kind.one_of(operand_counts));
  for (Operand& operand : operands) {
    operand = random_order(kind, axes);
    operand.resize(kind.between(1, std::min(axes, most_axes_of_an_operand)));
    if (kind.percent(8)) operand.push_back(operand.front());  // a diagonal
  }
  return operands;
}

/// Some of the axes that operands have, in any order.
Operand random_result(Random& kind, const std::vector<Operand>& operands) {
  std::set<int> all;
  for (const Operand& operand : operands) all.insert(operand.begin(), operand.end());
  Operand result;
  for (int axis : all)
    if (kind.percent(45)) result.push_back(axis);
  kind.shuffle(result);
  return result;
}

std::string spelled(const Operand& operand, bool letters) {
  return joined(operand, letters ? "" : " ",
                [&](int axis) { return letters ? std::string(1, char('a' + axis)) : concat("n", axis); });
}

}  // namespace

void draft_einsum(Case& draft, Dice& dice) {
  auto& [kind, own] = dice;
  const int axes = kind.between(1, 7);
  Sizes sizes = Sizes::draw(kind);
  sizes.most = std::min(sizes.most, most_terms);
  const Dims extents = sizes.shape(own, axes);
  const std::vector<Operand> operands = random_operands(kind, axes);
  const bool letters = kind.percent(50), implicit = letters && kind.percent(15);
  draft.dtypes = product_dtypes(kind, operands.size());
  std::string pattern;
  for (const Operand& operand : operands) {
    pattern += (pattern.empty() ? "" : letters ? "," : ", ") + spelled(operand, letters);
    Dims shape;
    for (int axis : operand) shape.push_back(extents[axis]);
    // An axis of length 1 goes with any length; on a diagonal both places have the same.
    const int one = own.below(shape.size());
    if (kind.percent(15) && std::ranges::count(operand, operand[one]) == 1) shape[one] = 1;
    draft.shapes.push_back(shape);
  }
  if (!implicit) pattern += (letters ? "->" : " -> ") + spelled(random_result(kind, operands), letters);
  draft.op.arguments = {pattern};
  if (own.percent(5)) draft.op.options.emplace_back("no-broadcast", "");
  add_epilogue(dice, draft);
}

void draft_two_matrices(Case& draft, Dice& dice) {
  auto& [kind, own] = dice;
  Sizes sizes = Sizes::draw(kind);
  sizes.most = std::max<i64>(sizes.most, most_terms);
  const Dims mkn = sizes.shape(own, 3);
  draft.dtypes = product_dtypes(kind, 2);
  const bool vector_a = kind.percent(10), vector_b = kind.percent(10);
  const bool transposed_a = !vector_a && kind.percent(30), transposed_b = !vector_b && kind.percent(30);
  Dims a, b;
  for (auto batch = kind.below(3); batch > 0; --batch) {  // of different ranks, and broadcast where one is 1
    const i64 extent = own.between(1, 3);
    if (!vector_a && (!a.empty() || kind.percent(70))) a.push_back(own.percent(25) ? 1 : extent);
    if (!vector_b && (!b.empty() || kind.percent(70))) b.push_back(own.percent(25) ? 1 : extent);
  }
  if (!vector_a) a.push_back(mkn[transposed_a ? 1 : 0]);
  a.push_back(mkn[transposed_a ? 0 : 1]);
  b.push_back(mkn[transposed_b ? 2 : 1]);
  if (!vector_b) b.push_back(mkn[transposed_b ? 1 : 2]);
  draft.shapes = {a, b};
  if (transposed_a) draft.op.options.emplace_back("transpose-a", "");
  if (transposed_b) draft.op.options.emplace_back("transpose-b", "");
  add_epilogue(dice, draft);
}

void draft_two_vectors(Case& draft, Dice& dice) {
  const Dims shape = Sizes::draw(dice.kind).shape(dice.own, 1);
  draft.dtypes = product_dtypes(dice.kind, 2);
  draft.shapes = {shape, shape};
  add_epilogue(dice, draft);
}

}  // namespace axisloom::harness
