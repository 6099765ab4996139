// What random cases are made of: an operation and the arrays that it is done on, drawn for any entry of the registry.
#pragma once

#include "harness/case.hpp"
#include "harness/random.hpp"

#include "planner/registry.hpp"

namespace axisloom::harness {

/// Where choices come from. What decides which kernels are compiled is drawn from `kind`, which the cases of a class
/// share, so that a compiler's time pays for several cases; extents, strides and the like are a case's own.
struct Dice {
  Random kind, own;
};

/// Extents of one style, and how many elements an array may have.
struct Sizes {
  enum class Style { any, tiles, odd } style = Style::any;
  i64 most = 1;

  static Sizes draw(Random& kind);
  i64 extent(Random& own) const;
  /// A shape whose extents above 0 have a product of no more than `most`.
  Dims shape(Random& own, int rank) const;
};

/// The product of a shape's extents, of those that are 0 as if they were 1.
i64 extents_above_zero(const Dims& shape);

/// The entries of the registry that random cases are drawn from, each as often as its share says.
std::vector<const ops::OpEntry*> entries_by_share();
/// A case of an operation with its dtypes, shapes and whether it is in place; all else is still to be drawn.
Case draft_of(const ops::OpEntry& entry, Dice& dice);

// A function for each value of ops::Draw; the draft comes with the operation's name alone.
using Drawing = void(Case& draft, Dice& dice);
Drawing draft_any_array, draft_matrices, draft_permutation, draft_layouts, draft_pattern, draft_new_axes,
    draft_reduced_axes, draft_reduced_pattern, draft_einsum, draft_two_matrices, draft_two_vectors;

Dtype random_dtype(Random& random);
std::vector<int> random_order(Random& random, int count);
/// Of the inputs.
std::vector<View> contiguous_views(const Case& draft);

/// The layouts of images, and the reductions that have an entry of their own.
std::vector<std::string> layouts();
std::vector<std::string> reducers();

/// An axis of a pattern.
struct Axis {
  std::string name;
  i64 extent;
};
/// The axes a, b, c ... of a shape.
std::vector<Axis> axes_of(const Dims& shape);

/// "(a b) 1 c": groups of axes in parentheses, with 1s between them; `sizes`: how many axes each group has, 0 for a 1.
struct Groups {
  std::string text;
  std::vector<int> sizes;
};
Groups grouped(Random& kind, const std::vector<Axis>& axes);

/// Which axis of a product has no length of its own in a pattern, to be worked out of the others': the first, or, drawn
/// anew for each, the first or the last.
enum class Open { first, either };
/// The left side of a pattern: axes of the array are single ones, products, or 1. Of a product all extents but one are
/// given as lengths, which cannot be worked out where another is 0. Draws the draft's shape.
std::string left_side(Dice& dice, std::vector<Axis>& axes, Open open, Case& draft);

}  // namespace axisloom::harness
