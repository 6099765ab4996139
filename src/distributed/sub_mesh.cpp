// Positions of ranks along some axes of a mesh.
#include "distributed/sub_mesh.hpp"

#include <cstddef>

namespace axisloom::distributed {

int SubMesh::count() const {
  int count = 1;
  for (const Axis& axis : axes_) count *= axis.extent;
  return count;
}

int SubMesh::position(int rank) const {
  int position = 0;
  for (const Axis& axis : axes_) position = position * axis.extent + rank / axis.stride % axis.extent;
  return position;
}

int SubMesh::rank_at(int position) const {
  int rank = 0;
  for (std::size_t i = axes_.size(); i-- > 0; position /= axes_[i].extent)
    rank += position % axes_[i].extent * axes_[i].stride;
  return rank;
}

}  // namespace axisloom::distributed
