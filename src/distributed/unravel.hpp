// Indices of a composed axis as indices of the axes that it is made of: a cut may fall anywhere within a row.
#pragma once

#include "distributed/comb.hpp"

#include <functional>
#include <span>
#include <vector>

namespace axisloom::distributed {

/// A comb for each axis; the place of an element is the sum of its places along the axes.
using Block = std::span<const Comb>;

/// Blocks of the same axes, one after the other in one piece of memory.
class Blocks {
 public:
  explicit Blocks(size_t axes) : axes_(axes) {}

  size_t axes() const { return axes_; }
  size_t size() const { return size_; }
  Block operator[](size_t i) const { return Block(combs_).subspan(i * axes_, axes_); }
  void add(Block block) {
    combs_.insert(combs_.end(), block.begin(), block.end());
    ++size_;
  }
  void clear() {
    combs_.clear();
    size_ = 0;
  }

 private:
  size_t axes_, size_ = 0;
  std::vector<Comb> combs_;
};

/// Takes the comb of a composed axis apart into disjoint blocks of its axes, slowest first, with these extents (at
/// least 1): writes each block into the combs that are pointed at, one for each axis, and calls `done`. A run gives a
/// head, whole rows and a tail per axis. Of several runs those that begin at the same column share their blocks, and
/// where their distance divides the rows, those of a row do. Throws Error(unsupported) where blocks are more than
/// most_parts.
void unravel(const Comb& comb, std::span<const i64> extents, std::span<Comb* const> block,
             const std::function<void()>& done);

}  // namespace axisloom::distributed
