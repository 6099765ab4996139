// Indices of a composed axis as indices of the axes that it is made of: a cut may fall anywhere within a row.
#pragma once

#include "distributed/comb.hpp"

#include <span>
#include <vector>

namespace axisloom::distributed {

/// A comb for each axis; the place of an element is the sum of its places along the axes.
using Block = std::vector<Comb>;

/// The comb of a composed axis as disjoint blocks of its axes, slowest first, with these extents (at least 1). A run
/// gives a head, whole rows and a tail per axis. Of several runs those that begin at the same column share their
/// blocks, and where their distance divides the rows, those of a row do. Throws Error(unsupported) where blocks are
/// more than most_parts.
std::vector<Block> unravel(const Comb& comb, std::span<const i64> extents);

}  // namespace axisloom::distributed
