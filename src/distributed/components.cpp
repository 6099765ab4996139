// Which axes go together.
#include "distributed/components.hpp"

#include "core/text.hpp"

#include <algorithm>

namespace axisloom::distributed {
namespace {

using AxisClasses = std::vector<int>;  // by elementary axis, a number that those that go together share

void tie_axes(const Distribution& side, AxisClasses& classes) {
  for (const Distribution::Dim& dim : side.dims) {
    // Where parts of an axis of the array lie depends on all of its parts' lengths. If none is cut, these are known.
    if (!is_cut(side, dim)) continue;
    for (const int axis : dim.axes) {
      const int old = classes[axis], joined = classes[dim.axes[0]];
      std::ranges::replace(classes, old, joined);
    }
  }
}

void mark(const BoundCuts& cuts, std::vector<bool>& over) {
  for (const BoundCut& cut : cuts)
    for (const BoundCut::Over& mesh : cut.over) over[mesh.axis] = true;
}

/// The mesh axes that cut these axes on one side.
SubMesh mesh_of(const Distribution& side, const Mesh& mesh, const std::vector<int>& axes) {
  std::vector<bool> over(mesh.axes().size(), false);
  for (const Distribution::Dim& dim : side.dims) {
    const bool is_here = dim.axes.empty() ? axes.empty() : core::contains(axes, dim.axes[0]);
    if (!is_here) continue;
    mark(dim.cuts, over);
    for (const int axis : dim.axes) mark(side.axis_cuts[axis], over);
  }
  SubMesh found;
  int stride = mesh.ranks();
  for (size_t axis = 0; axis < over.size(); ++axis) {
    const int extent = mesh.axes()[axis].extent;
    stride /= extent;
    if (over[axis]) found.add(extent, stride);
  }
  return found;
}

bool lacks(const Distribution& side, int axis) {
  return std::ranges::none_of(side.dims, [axis](const auto& dim) { return core::contains(dim.axes, axis); });
}

bool cuts_what_has_no_axes(const Distribution& side) {
  return std::ranges::any_of(side.dims, [](const auto& dim) { return dim.axes.empty() && !dim.cuts.empty(); });
}

}  // namespace

std::vector<Component> components(const Distribution& in, const Distribution& out, const std::vector<i64>& extents,
                                  const Mesh& mesh) {
  AxisClasses classes(in.axis_cuts.size());
  for (size_t axis = 0; axis < classes.size(); ++axis) classes[axis] = int(axis);
  tie_axes(in, classes);
  tie_axes(out, classes);
  std::vector<Component> found;
  const auto add = [&](const std::vector<int>& axes) {
    Component& next = found.emplace_back();
    next.axes = axes;
    for (const int axis : axes) {
      next.extents.push_back(extents[axis]);
      next.is_new.push_back(lacks(in, axis));
    }
    next.in = mesh_of(in, mesh, axes);
    next.out = mesh_of(out, mesh, axes);
  };
  for (size_t first = 0; first < classes.size(); ++first) {
    std::vector<int> axes;
    for (size_t axis = 0; axis < classes.size(); ++axis)
      if (classes[axis] == classes[first]) axes.push_back(int(axis));
    if (axes[0] == int(first)) add(axes);
  }
  if (cuts_what_has_no_axes(in) || cuts_what_has_no_axes(out)) add({});
  return found;
}

}  // namespace axisloom::distributed
