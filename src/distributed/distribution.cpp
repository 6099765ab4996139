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

/// The blocks of one axis of an array.
std::vector<Block> blocks_of(const Distribution& side, const Distribution::Dim& dim, std::span<const i64> extents,
                             Coordinates at) {
  std::vector<Block> blocks;
  if (!dim.cuts.empty()) {
    std::vector<i64> composed;
    for (const int axis : dim.axes) composed.push_back(extents[axis]);
    for (const Comb& comb : kept(composed_extent(dim, extents), dim.cuts, at)) {
      const std::vector<Block> more = unravel(comb, composed);
      blocks.insert(blocks.end(), more.begin(), more.end());
    }
    return blocks;
  }
  blocks.emplace_back(dim.axes.size());
  i64 place = 1;  // of a step along the axis, in the local array's composed axis
  for (size_t i = dim.axes.size(); i-- > 0;) {
    const Combs set = kept(extents[dim.axes[i]], side.axis_cuts[dim.axes[i]], at);
    std::vector<Block> all;
    for (const Block& block : blocks)
      for (const Comb& comb : set) {
        Block& next = all.emplace_back(block);
        next[i] = comb;
        for (i64* places : {&next[i].local, &next[i].unit, &next[i].local_step}) *places *= place;
      }
    blocks = std::move(all);
    place *= size_of(set);
  }
  return blocks;
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

std::vector<Block> local_blocks(const Distribution& side, std::span<const i64> extents, Coordinates at) {
  Block everywhere;
  for (const i64 extent : extents) everywhere.push_back(run(0, extent, 0, 0));
  std::vector<Block> blocks{everywhere};
  for (const Distribution::Dim& dim : side.dims) {
    const std::vector<Block> parts = blocks_of(side, dim, extents, at);
    std::vector<Block> all;
    for (const Block& block : blocks)
      for (const Block& part : parts) {
        Block& next = all.emplace_back(block);
        for (size_t i = 0; i < dim.axes.size(); ++i) next[dim.axes[i]] = part[i];
      }
    blocks = std::move(all);
  }
  return blocks;
}

}  // namespace axisloom::distributed
