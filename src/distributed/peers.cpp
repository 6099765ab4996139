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
  const std::vector<bool> in_cut = cut_over(in, mesh), out_cut = cut_over(out, mesh);
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
    const Axis here{extent, stride};
    const bool addends = core::contains(in.addends, axis);
    if (core::contains(out.addends, axis))
      staying_.push_back(here);
    else if (addends)
      addends_ *= extent;
    if (in_cut[axis]) cut_.push_back(here);
    if (out_cut[axis]) out_kept_.push_back(here);
    if (in_cut[axis] || addends)
      in_kept_.push_back(here);
    else
      (meet(axes_cut_over(out, axis), cut_in_input) ? turns_ : own_).push_back(here);
  }
}

int Peers::count(const Axes& axes) {
  int count = 1;
  for (const Axis& axis : axes) count *= axis.extent;
  return count;
}

int Peers::position(int rank, const Axes& axes) {
  int position = 0;
  for (const Axis& axis : axes) position = position * axis.extent + rank / axis.stride % axis.extent;
  return position;
}

int Peers::rank_at(int position, const Axes& axes) {
  int rank = 0;
  for (size_t i = axes.size(); i-- > 0; position /= axes[i].extent) rank += position % axes[i].extent * axes[i].stride;
  return rank;
}

int Peers::sender(int in_class, int receiver) const {
  const int first = rank_at(in_class, in_kept_), copies = count(turns_);
  if (position(first, staying_) != position(receiver, staying_)) return -1;
  const i64 turn = i64{position(receiver, turns_)} + position(receiver, cut_) - position(first, cut_);
  const int copy = int((turn % copies + copies) % copies);
  return first + rank_at(position(receiver, own_), own_) + rank_at(copy, turns_);
}

}  // namespace axisloom::distributed
