// How an array lies on the ranks of a mesh: the cuts of its axes, the shape of each rank's part, and which elements are
// in it.
#pragma once

#include "core/pattern.hpp"
#include "distributed/comb.hpp"
#include "distributed/unravel.hpp"

#include <axisloom/distributed.hpp>

#include <span>
#include <vector>

namespace axisloom::distributed {

/// Where a rank is along each mesh axis.
using Coordinates = std::span<const int>;

/// A cut whose mesh axes are known.
struct BoundCut {
  struct Over {
    int axis = 0;  // index into Mesh::axes()
    int extent = 1;
  };
  core::Cut cut;
  std::vector<Over> over;  // slowest first

  i64 parts() const;
  i64 part(Coordinates at) const;
};
using BoundCuts = std::vector<BoundCut>;

/// One side of a pattern. Axes are indices into a list of extents that both sides share.
struct Distribution {
  struct Dim {
    core::Composition axes;
    BoundCuts cuts;  // of the composed axis; then its axes have none of their own
  };
  std::vector<Dim> dims;             // by axis of the array
  std::vector<BoundCuts> axis_cuts;  // by elementary axis
  std::vector<int> addends;          // mesh axes along which ranks hold addends
};

/// The cuts of one side of a pattern that was bound. Throws Error(pattern) for mesh axes that are not there, and for
/// cuts of a composed axis as well as of its parts.
Distribution distribution(const core::Pattern& pattern, const core::Side& side, const core::BoundSide& bound,
                          const core::BoundPattern& axes, const Mesh& mesh);

/// Makes neighbours on both sides one axis where no cut tells them apart, and forgets the parts of `extents` that are
/// not needed any more.
void merge_axes(std::vector<i64>& extents, Distribution& in, Distribution& out);

/// Mesh axes over which something is cut.
std::vector<bool> cut_over(const Distribution& side, const Mesh& mesh);

/// Of an array with these extents of elementary axes, the shape of the part at `at`.
Dims local_shape(const Distribution& side, std::span<const i64> extents, Coordinates at);

/// Whether an axis of the array is cut, as a whole or in its parts.
bool is_cut(const Distribution& side, const Distribution::Dim& dim);

/// Makes the parts of an array along some of its axes.
class BlockMaker {
 public:
  /// `axes`: elementary ones, with all that stand in an axis of the array with one of them, if that is cut. Where there
  /// are none: for axes of the array that have none. No extent may be 0.
  BlockMaker(const Distribution& side, std::span<const i64> extents, const std::vector<int>& axes);
  BlockMaker(const BlockMaker&) = delete;
  BlockMaker& operator=(const BlockMaker&) = delete;

  /// The elements at `at` as disjoint blocks. A block has a comb for each of the elementary axes, whose places are
  /// steps of the index of the local array's axis. An axis that this side lacks is there at all of its indices, in
  /// place 0.
  void make(Coordinates at, Blocks& blocks);

 private:
  /// What is cut as one: an axis of the array, or an elementary axis within one that is cut.
  struct Factor {
    i64 extent = 1;
    const BoundCuts& cuts;
    std::vector<i64> extents;  // of the elementary axes
    std::vector<Comb*> combs;  // of theirs in block_
    bool innermost = true;     // of the axis of the array
    Combs set;                 // what the cuts leave
  };

  Comb* comb_of(int axis);
  void add_whole(const Distribution::Dim& dim, std::span<const i64> extents);
  void add_parts(const Distribution::Dim& dim, const Distribution& side, std::span<const i64> extents);
  void place_uncut(const Distribution::Dim& dim, std::span<const i64> extents);
  void add_blocks(size_t factor, Blocks& blocks);

  const std::vector<int> axes_;
  std::vector<Comb> block_;  // the one at hand
  std::vector<Factor> factors_;
};

}  // namespace axisloom::distributed
