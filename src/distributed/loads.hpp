// How many elements travel between each two ranks, without the boxes that they travel in.
#pragma once

#include "distributed/components.hpp"

#include <memory>
#include <span>
#include <vector>

namespace axisloom::distributed {

class ComponentLoads;

/// Numbers of elements for one receiver after the other.
class Loads {
 public:
  /// Keeps references. No extent may be 0.
  Loads(const Distribution& in, const Distribution& out, std::span<const i64> extents, const Mesh& mesh,
        const std::vector<Component>& components);
  ~Loads();
  Loads(const Loads&) = delete;
  Loads& operator=(const Loads&) = delete;

  /// From here on it is this rank that receives.
  void receive(int to);
  /// How many of its elements a rank has.
  i64 from(int rank) const;

 private:
  const std::vector<Component>& components_;
  std::vector<std::unique_ptr<ComponentLoads>> loads_;  // by component
  std::vector<std::span<const i64>> received_;          // by component, and there by position of the sender
};

}  // namespace axisloom::distributed
