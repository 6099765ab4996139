// What random cases are made of: an operation and the arrays that it is done on, drawn for any entry of the registry.
#pragma once

#include "check/random.hpp"

#include "ops/registry.hpp"

#include <axisloom/array.hpp>
#include <axisloom/ops.hpp>

#include <cstdint>
#include <string>
#include <vector>

namespace axisloom::cli {

/// Where choices come from. What decides which kernels are compiled is drawn from `kind`, which the cases of a class
/// share, so that a compiler's time pays for several cases; extents, strides and the like are a case's own.
struct Dice {
  Random kind, own;
};

/// Extents of one style, and how many elements an array may have.
struct Sizes {
  enum class Style { any, tiles, odd } style = Style::any;
  std::int64_t most = 1;

  static Sizes draw(Random& kind);
  std::int64_t extent(Random& own) const;
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
/// Throws Error(unsupported) for an operation that random cases do not know how to draw.
Draft draft_of(const ops::OpEntry& entry, Dice& dice);

// How the folders of operations are drawn.
Draft draft_copy(Dice&dice), draft_transpose(Dice&dice), draft_permute(Dice&dice), draft_relayout(Dice&dice);
Draft draft_rearrange(Dice&dice), draft_repeat(Dice&dice);
Draft draft_reduce(const ops::OpEntry&entry, Dice&dice), draft_reduction(const ops::OpEntry&entry, Dice&dice);
Draft draft_einsum(Dice&dice), draft_matmul(Dice&dice), draft_dot(Dice&dice);

Dtype random_dtype(Random& random);
std::vector<int> random_order(Random& random, int count);

/// "(a b) 1 c": groups of axes in parentheses, with 1s between them; `sizes` gets how many names each group has, 0 for
/// a 1.
std::string grouped(Random& kind, const std::vector<std::string>& names, std::vector<int>& sizes);

}  // namespace axisloom::cli
