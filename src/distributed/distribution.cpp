// From the cuts of a pattern to parts of arrays: which cut is whose, shapes, and blocks.
#include "distributed/distribution.hpp"

#include <algorithm>

#include "core/checked.hpp"
#include "core/text.hpp"

namespace axisloom::distributed {
namespace {

/// Finds what a side's names mean on a mesh and among bound axes.
class CutBinder {
 public:
  CutBinder(const core::Pattern& pattern, const core::BoundPattern& axes, const Mesh& mesh)
      : pattern_(pattern), axes_(axes), mesh_(mesh) {}

  Distribution bind(const core::Side& side, const core::BoundSide& bound) const {
    Distribution result;
    result.axis_cuts.resize(axes_.axes.size());
    const size_t unnamed = bound.size() + 1 - side.groups.size();  // axes of an ellipsis that stands alone
    size_t dim = 0;
    for (const core::Group& group : side.groups) {
      for (const core::Axis& axis : group.axes) {
        if (axis.cuts.empty()) continue;
        if (!group.cuts.empty())
          throw core::fault(pattern_.text, axis.column, int(axis.name.size()),
                            "the axis '" + axis.name + "' is cut, and so is the composed axis that it is part of",
                            "cut the whole, as in (h w)@x, or its parts, as in (h@x w)");
        result.axis_cuts[index_of(axis)] = bound_cuts(axis.cuts);
      }
      for (size_t last = dim + (group.ellipsis && !group.composed ? unnamed : 1); dim < last; ++dim)
        result.dims.push_back({bound[dim], bound_cuts(group.cuts)});
    }
    for (const core::MeshName& name : side.addends) result.addends.push_back(mesh_axis(name));
    return result;
  }

 private:
  size_t index_of(const core::Axis& axis) const {
    return size_t(std::ranges::find(axes_.axes, axis.name, &core::BoundAxis::name) - axes_.axes.begin());
  }

  int mesh_axis(const core::MeshName& name) const {
    const auto& axes = mesh_.axes();
    const auto found = std::ranges::find(axes, name.name, &MeshAxis::name);
    if (found == axes.end())
      throw core::fault(pattern_.text, name.column, int(name.name.size()),
                        concat("the mesh \"", to_string(mesh_), "\" has no axis '", name.name, "'"),
                        "name one of its axes, or make a mesh that has it");
    return int(found - axes.begin());
  }

  BoundCuts bound_cuts(const core::Cuts& cuts) const {
    BoundCuts bound;
    for (const core::Cut& cut : cuts) {
      BoundCut& next = bound.emplace_back(BoundCut{.cut = cut, .over = {}});
      for (const core::MeshName& name : cut.over) {
        const int axis = mesh_axis(name);
        next.over.push_back({axis, mesh_.axes()[axis].extent});
      }
    }
    return bound;
  }

  const core::Pattern& pattern_;
  const core::BoundPattern& axes_;
  const Mesh& mesh_;
};

constexpr int nothing = -1, absent = -2;

/// By elementary axis the one that follows it in the same axis of the array: nothing, or absent for an axis that the
/// side lacks. One that is cut follows none and is followed by none.
std::vector<int> followers(const Distribution& side) {
  std::vector<int> next(side.axis_cuts.size(), absent);
  for (const Distribution::Dim& dim : side.dims)
    for (size_t i = 0; i < dim.axes.size(); ++i) {
      const int axis = dim.axes[i], after = i + 1 < dim.axes.size() ? dim.axes[i + 1] : nothing;
      const bool cut = !side.axis_cuts[axis].empty() || (after >= 0 && !side.axis_cuts[after].empty());
      next[axis] = cut ? nothing : after;
    }
  return next;
}

void remove_axis(Distribution& side, int axis) {
  for (Distribution::Dim& dim : side.dims) {
    std::erase(dim.axes, axis);
    for (int& other : dim.axes) other -= other > axis ? 1 : 0;
  }
  side.axis_cuts.erase(side.axis_cuts.begin() + axis);
}

/// Merges one pair, if there is one.
bool merge_pair(std::vector<i64>& extents, Distribution& in, Distribution& out) {
  const std::vector<int> next_in = followers(in), next_out = followers(out);
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    const int next = next_out[axis];
    if (next < 0) continue;
    const bool added = next_in[axis] == absent && next_in[next] == absent;
    if (!added && next_in[axis] != next) continue;
    extents[axis] = core::checked_mul(extents[axis], extents[next], "the extent of a composed axis");
    extents.erase(extents.begin() + next);
    remove_axis(in, next);
    remove_axis(out, next);
    return true;
  }
  return false;
}

/// A composed axis of one part is that part.
void cut_parts_not_wholes(Distribution& side) {
  for (Distribution::Dim& dim : side.dims)
    if (dim.axes.size() == 1 && !dim.cuts.empty()) std::swap(side.axis_cuts[dim.axes[0]], dim.cuts);
}

i64 composed_extent(const Distribution::Dim& dim, std::span<const i64> extents) {
  i64 product = 1;
  for (const int axis : dim.axes) product = core::checked_mul(product, extents[axis], "the extent of a composed axis");
  return product;
}

/// What the cuts leave at `at` of an axis.
Combs kept(i64 extent, const BoundCuts& cuts, Coordinates at) {
  Combs set;
  if (extent > 0) set.push_back(run(0, extent));
  for (const BoundCut& cut : cuts) set = chained(set, part_of(size_of(set), cut.cut, cut.parts(), cut.part(at)));
  return set;
}

}  // namespace

i64 BoundCut::parts() const {
  i64 parts = 1;
  for (const Over& mesh : over) parts *= mesh.extent;
  return parts;
}

i64 BoundCut::part(Coordinates at) const {
  i64 part = 0;
  for (const Over& mesh : over) part = part * mesh.extent + at[mesh.axis];
  return part;
}

Distribution distribution(const core::Pattern& pattern, const core::Side& side, const core::BoundSide& bound,
                          const core::BoundPattern& axes, const Mesh& mesh) {
  return CutBinder(pattern, axes, mesh).bind(side, bound);
}

void merge_axes(std::vector<i64>& extents, Distribution& in, Distribution& out) {
  while (merge_pair(extents, in, out)) {
  }
  cut_parts_not_wholes(in);
  cut_parts_not_wholes(out);
}

std::vector<bool> cut_over(const Distribution& side, const Mesh& mesh) {
  std::vector<bool> found(mesh.axes().size(), false);
  const auto add = [&found](const BoundCuts& cuts) {
    for (const BoundCut& cut : cuts)
      for (const BoundCut::Over& over : cut.over) found[over.axis] = true;
  };
  for (const Distribution::Dim& dim : side.dims) add(dim.cuts);
  for (const BoundCuts& cuts : side.axis_cuts) add(cuts);
  return found;
}

Dims local_shape(const Distribution& side, std::span<const i64> extents, Coordinates at) {
  Dims shape;
  for (const Distribution::Dim& dim : side.dims) {
    i64 extent = dim.cuts.empty() ? 1 : size_of(kept(composed_extent(dim, extents), dim.cuts, at));
    for (const int axis : dim.cuts.empty() ? dim.axes : core::Composition())
      extent = core::checked_mul(extent, size_of(kept(extents[axis], side.axis_cuts[axis], at)),
                                 "the extent of a composed axis");
    shape.push_back(extent);
  }
  return shape;
}

bool is_cut(const Distribution& side, const Distribution::Dim& dim) {
  return !dim.cuts.empty() || std::ranges::any_of(dim.axes, [&](int axis) { return !side.axis_cuts[axis].empty(); });
}

BlockMaker::BlockMaker(const Distribution& side, std::span<const i64> extents, const std::vector<int>& axes)
    : axes_(axes) {
  for (const int axis : axes) block_.push_back(run(0, extents[axis], 0, 0));
  for (const Distribution::Dim& dim : side.dims) {
    if (!is_cut(side, dim)) {
      place_uncut(dim, extents);
      continue;
    }
    const bool is_here = dim.axes.empty() ? axes.empty() : core::contains(axes, dim.axes[0]);
    if (!is_here) continue;
    if (dim.cuts.empty())
      add_parts(dim, side, extents);
    else
      add_whole(dim, extents);
  }
}

/// None for an axis that is not among these.
Comb* BlockMaker::comb_of(int axis) {
  const auto found = std::ranges::find(axes_, axis);
  return found == axes_.end() ? nullptr : &block_[size_t(found - axes_.begin())];
}

void BlockMaker::add_whole(const Distribution::Dim& dim, std::span<const i64> extents) {
  Factor& whole = factors_.emplace_back(Factor{.extent = composed_extent(dim, extents),
                                               .cuts = dim.cuts,
                                               .extents = {},
                                               .combs = {},
                                               .innermost = true,
                                               .set = {}});
  for (const int axis : dim.axes) {
    whole.extents.push_back(extents[axis]);
    whole.combs.push_back(comb_of(axis));
  }
}

void BlockMaker::add_parts(const Distribution::Dim& dim, const Distribution& side, std::span<const i64> extents) {
  for (size_t i = dim.axes.size(); i-- > 0;) {
    const int axis = dim.axes[i];
    factors_.push_back({.extent = extents[axis],
                        .cuts = side.axis_cuts[axis],
                        .extents = {extents[axis]},
                        .combs = {comb_of(axis)},
                        .innermost = i + 1 == dim.axes.size(),
                        .set = {}});
  }
}

void BlockMaker::place_uncut(const Distribution::Dim& dim, std::span<const i64> extents) {
  i64 place = 1;
  for (size_t i = dim.axes.size(); i-- > 0; place *= extents[dim.axes[i]])
    if (Comb* const comb = comb_of(dim.axes[i])) *comb = run(0, extents[dim.axes[i]], 0, place);
}

void BlockMaker::make(Coordinates at, Blocks& blocks) {
  i64 place = 1;  // of a step along the factor, in the local array's axis
  for (size_t i = 0; i < factors_.size(); ++i) {
    Factor& factor = factors_[i];
    factor.set = kept(factor.extent, factor.cuts, at);
    place = factor.innermost ? 1 : place * size_of(factors_[i - 1].set);
    for (Comb& comb : factor.set)
      for (i64* places : {&comb.local, &comb.unit, &comb.local_step}) *places *= place;
  }
  blocks.clear();
  add_blocks(0, blocks);
}

/// With a choice for each factor from this one on; those of the others are made.
void BlockMaker::add_blocks(size_t factor, Blocks& blocks) {
  if (factor == factors_.size()) return blocks.add(block_);
  const Factor& cut = factors_[factor];
  for (const Comb& comb : cut.set)
    unravel(comb, cut.extents, cut.combs, [this, factor, &blocks] { add_blocks(factor + 1, blocks); });
}

}  // namespace axisloom::distributed
