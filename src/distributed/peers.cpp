// Classes of ranks that hold the same, and their turns.
#include "distributed/peers.hpp"

#include "core/text.hpp"

namespace axisloom::distributed {
namespace {

using AxisSet = std::vector<bool>;  // by elementary axis

void add_cuts(const BoundCuts& cuts, int mesh_axis, const core::Composition& axes, AxisSet& found) {
  for (const BoundCut& cut : cuts)
    for (const BoundCut::Over& over : cut.over)
      if (over.axis == mesh_axis)
        for (const int axis : axes) found[axis] = true;
}

/// The elementary axes that are cut over a mesh axis.
AxisSet axes_cut_over(const Distribution& side, int mesh_axis) {
  AxisSet found(side.axis_cuts.size(), false);
  for (const Distribution::Dim& dim : side.dims) add_cuts(dim.cuts, mesh_axis, dim.axes, found);
  for (size_t axis = 0; axis < side.axis_cuts.size(); ++axis)
    add_cuts(side.axis_cuts[axis], mesh_axis, {int(axis)}, found);
  return found;
}

bool meet(const AxisSet& a, const AxisSet& b) {
  for (size_t i = 0; i < a.size(); ++i)
    if (a[i] && b[i]) return true;
  return false;
}

}  // namespace

Peers::Peers(const Mesh& mesh, const Distribution& in, const Distribution& out) {
  const std::vector<bool> in_cut = cut_over(in, mesh);
  const int axes = int(mesh.axes().size());
  AxisSet cut_in_input(in.axis_cuts.size(), false);
  for (int axis = 0; axis < axes; ++axis) {
    const AxisSet cut = axes_cut_over(in, axis);
    for (size_t i = 0; i < cut.size(); ++i) cut_in_input[i] = cut_in_input[i] || cut[i];
  }
  int stride = mesh.ranks();
  for (int axis = 0; axis < axes; ++axis) {
    const int extent = mesh.axes()[axis].extent;
    stride /= extent;
    const bool addends = core::contains(in.addends, axis);
    if (core::contains(out.addends, axis))
      staying_.add(extent, stride);
    else if (addends)
      addends_ *= extent;
    if (in_cut[axis]) cut_.add(extent, stride);
    if (in_cut[axis] || addends)
      in_kept_.add(extent, stride);
    else
      (meet(axes_cut_over(out, axis), cut_in_input) ? turns_ : own_).add(extent, stride);
  }
}

int Peers::sender(int in_class, int receiver) const {
  const int first = in_kept_.rank_at(in_class), copies = turns_.count();
  if (staying_.position(first) != staying_.position(receiver)) return -1;
  const i64 turn = i64{turns_.position(receiver)} + cut_.position(receiver) - cut_.position(first);
  const int copy = int((turn % copies + copies) % copies);
  return first + own_.rank_at(own_.position(receiver)) + turns_.rank_at(copy);
}

}  // namespace axisloom::distributed
