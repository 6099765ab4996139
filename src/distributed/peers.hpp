// Which rank sends where several have the same elements.
#pragma once

#include "distributed/distribution.hpp"
#include "distributed/sub_mesh.hpp"

namespace axisloom::distributed {

/// Ranks that hold the same part of an array make a class: those that differ along mesh axes over which it is
/// replicated.
class Peers {
 public:
  Peers() = default;
  Peers(const Mesh& mesh, const Distribution& in, const Distribution& out);

  /// Number of classes of inputs, and the class of a rank's.
  int in_classes() const { return in_kept_.count(); }
  int in_class(int rank) const { return in_kept_.position(rank); }
  /// A rank of a class of inputs.
  int first_of(int in_class) const { return in_kept_.rank_at(in_class); }

  /// The rank of a class of inputs that sends to a receiver what that needs: itself if it can be. Along a mesh axis
  /// over which the input is replicated it has the receiver's coordinate. Where the output cuts an axis along that mesh
  /// axis that the input cuts too, one coordinate may need more of a class than another: there its copies take turns,
  /// counted by how far the receiver's class is from theirs. Nobody (-1) where the receiver is to hold other addends
  /// than that class.
  int sender(int in_class, int receiver) const;

  /// How many ranks send a receiver addends of an element.
  int addends() const { return addends_; }

 private:
  SubMesh in_kept_;      // mesh axes along which inputs differ
  SubMesh staying_;      // of input and output: those along which ranks hold addends
  SubMesh cut_;          // of the input: those of in_kept_ that are no addends'
  SubMesh own_, turns_;  // of the input: those over which it is replicated, by who sends
  int addends_ = 1;
};

}  // namespace axisloom::distributed
