// What random cases are made of: an operation and the arrays that it is done on, drawn for any entry of the registry.
#pragma once

#include "harness/random.hpp"

#include "planner/registry.hpp"

#include <axisloom/array.hpp>
#include <axisloom/ops.hpp>

#include <string>
#include <vector>

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

struct Draft {
  Operation op;
  std::vector<Dtype> dtypes;  // of the inputs
  std::vector<Dims> shapes;   // likewise
  bool in_place = false;
};

/// The entries of the registry that random cases are drawn from, each as often as its share says.
std::vector<const ops::OpEntry*> entries_by_share();
Draft draft_of(const ops::OpEntry& entry, Dice& dice);

// A function for each value of ops::Draw; the operation comes with its name alone.
using Drawing = Draft(Operation op, Dice& dice);
Drawing draft_any_array, draft_matrices, draft_permutation, draft_layouts, draft_pattern, draft_new_axes,
    draft_reduced_axes, draft_reduced_pattern, draft_einsum, draft_two_matrices, draft_two_vectors;

Dtype random_dtype(Random& random);
std::vector<int> random_order(Random& random, int count);

/// "(a b) 1 c": groups of axes in parentheses, with 1s between them; `sizes` gets how many names each group has, 0 for
/// a 1.
std::string grouped(Random& kind, const std::vector<std::string>& names, std::vector<int>& sizes);

}  // namespace axisloom::harness
