// Some axes of a mesh, and where ranks are along these.
#pragma once

#include <vector>

namespace axisloom::distributed {

/// Ranks that differ along other axes of the mesh only are at the same position. Positions count row-major.
class SubMesh {
 public:
  /// One more axis, faster than those before. `stride`: between the numbers of neighbouring ranks along it.
  void add(int extent, int stride) { axes_.push_back({extent, stride}); }

  int count() const;
  int position(int rank) const;
  /// The rank there that is first along all other axes.
  int rank_at(int position) const;

 private:
  struct Axis {
    int extent = 1;
    int stride = 1;
  };
  std::vector<Axis> axes_;
};

}  // namespace axisloom::distributed
