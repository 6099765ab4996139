// Axes that are looked at together, and apart from all others: what two ranks have in common is a product over these
// components.
#pragma once

#include "distributed/distribution.hpp"
#include "distributed/sub_mesh.hpp"

#include <vector>

namespace axisloom::distributed {

/// Elementary axes that stand in the same axes of the arrays, on either side, where these are cut. An axis that is not
/// cut, and in no axis of an array with one that is, is a component of its own. Ranks at the same position of a side's
/// mesh axes, which are those that cut the component there, have the same part of it.
struct Component {
  std::vector<int> axes;
  std::vector<i64> extents;
  std::vector<bool> is_new;  // by axis: whether the input lacks it
  SubMesh in, out;
};

/// All components. One of no axes stands for axes of the arrays that have none, if such an axis is cut.
std::vector<Component> components(const Distribution& in, const Distribution& out, const std::vector<i64>& extents,
                                  const Mesh& mesh);

}  // namespace axisloom::distributed
