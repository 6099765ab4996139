// Which rank sends where several have the same elements.
#pragma once

#include "distributed/distribution.hpp"

#include <vector>

namespace axisloom::distributed {

/// Ranks that hold the same part of an array make a class: those that differ along mesh axes over which it is
/// replicated.
class Peers {
 public:
  Peers() = default;
  Peers(const Mesh& mesh, const Distribution& in, const Distribution& out);

  /// Number of classes of inputs and of outputs, and the class of a rank's.
  int in_classes() const { return count(in_kept_); }
  int out_classes() const { return count(out_kept_); }
  int in_class(int rank) const { return position(rank, in_kept_); }
  int out_class(int rank) const { return position(rank, out_kept_); }

  /// The rank of a class of inputs that sends to a receiver what that needs: itself if it can be. Along a mesh axis
  /// over which the input is replicated it has the receiver's coordinate. Where the output cuts an axis along that mesh
  /// axis that the input cuts too, one coordinate may need more of a class than another: there its copies take turns,
  /// counted by how far the receiver's class is from theirs. Nobody (-1) where the receiver is to hold other addends
  /// than that class.
  int sender(int in_class, int receiver) const;

  /// How many ranks send a receiver addends of an element.
  int addends() const { return addends_; }

 private:
  struct Axis {
    int extent = 1;
    int stride = 1;  // of ranks
  };
  using Axes = std::vector<Axis>;  // slowest first

  static int count(const Axes& axes);
  static int position(int rank, const Axes& axes);
  static int rank_at(int position, const Axes& axes);

  Axes in_kept_, out_kept_;  // mesh axes along which the parts differ
  Axes staying_;             // of both: those along which ranks hold addends
  Axes cut_;                 // of the input: those of in_kept_ that are no addends'
  Axes own_, turns_;         // of the input: those over which it is replicated, by who sends
  int addends_ = 1;
};

}  // namespace axisloom::distributed
