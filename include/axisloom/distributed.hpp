// Arrays that are distributed over ranks: who sends what to whom where such an array is rearranged. Plain arithmetic
// that knows no device and nothing of how messages travel.
#pragma once

#include <axisloom/array.hpp>
#include <axisloom/ops.hpp>

#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom {

/// A named axis of a mesh, and its number of ranks.
struct MeshAxis {
  std::string name;  ///< of letters, digits and underscores, a letter first
  int extent = 1;    ///< 1 or more
};

/// Ranks as a grid with named axes. They count row-major, the first axis being the slowest.
class Mesh {
 public:
  /// "x=2 y=3": rank 4 is at x=1, y=1. A text without axes is one rank. Throws Error(usage).
  explicit Mesh(std::string_view text);

  /// Its axes, slowest first, and the number of ranks.
  const std::vector<MeshAxis>& axes() const noexcept { return axes_; }
  int ranks() const noexcept { return ranks_; }
  /// Where a rank is along each axis, and the rank that is there. Throw Error(usage) for what the mesh does not have.
  std::vector<int> coordinates(int rank) const;
  int rank_at(std::span<const int> coordinates) const;

 private:
  std::vector<MeshAxis> axes_;
  int ranks_ = 1;
};
/// "x=2 y=3"
std::string to_string(const Mesh& mesh);

/// A loop over elements that one rank sends to another.
struct TransferLoop {
  std::int64_t extent = 1;  ///< number of steps
  int from_axis = -1;       ///< axis of the sender's local array; -1: the same element again and again (a new axis)
  std::int64_t from = 0;    ///< how much the index there grows with each step
  int to_axis = 0;          ///< the same in the receiver's local array
  std::int64_t to = 0;      ///< how much the index there grows
  /// Whether all members are the same.
  bool operator==(const TransferLoop&) const = default;
};

/// Elements that one nest of loops reaches in both local arrays.
struct TransferBox {
  Dims from;                        ///< the first element's index in the sender's local array
  Dims to;                          ///< and in the receiver's
  std::vector<TransferLoop> loops;  ///< in the order of the output's axes, slowest first
  /// Number of elements that travel: the steps along a new axis are the same element.
  std::int64_t elements() const;
  /// Whether all members are the same.
  bool operator==(const TransferBox&) const = default;
};

/// What one rank sends to another, or keeps. The message has the boxes one after the other, each dense in the order of
/// its loops.
struct Transfer {
  int from = 0;                    ///< the rank that sends
  int to = 0;                      ///< the rank that receives; the same for what stays
  std::int64_t elements = 0;       ///< length of the message
  std::vector<TransferBox> boxes;  ///< one, unless a cut falls within a composed axis or blocks are dealt in turn
  /// Whether all members are the same.
  bool operator==(const Transfer&) const = default;
};

/// A copy between two buffers, as plan(copy(), {from, to}) takes it.
struct TransferCopy {
  View from;  ///< what is read
  View to;    ///< what is written, of the same shape and dtype
};

/// The most that any rank has to do, without what it keeps.
struct TransferLoad {
  std::int64_t bytes_sent = 0;      ///< by the rank that sends most
  std::int64_t bytes_received = 0;  ///< by the rank that receives most
  int messages_sent = 0;            ///< by the rank that sends the most messages
  int messages_received = 0;        ///< by the rank that receives the most messages
};

struct RedistributionImpl;

/// A rearrange of a distributed array: "b s@x h d -> b s h@x d". The pattern is that of rearrange, and may have new
/// axes on the right as repeat's. "@x" behind an axis or a parenthesis cuts it over the mesh axis x; over a mesh axis
/// that a side does not name, the array is replicated. " +x" at the end of the left side: the ranks along x hold
/// addends; at the end of both sides: they still do afterwards. Immutable; may be shared between threads.
///
/// All ranks make the same one, and each asks for its own transfers. Every element of every rank's output arrives
/// exactly once; of addends, once from each rank that holds one. An element that several ranks have comes from the
/// receiver itself where it is one of them. Else it comes from the copy with the receiver's own coordinates; where the
/// output cuts, over a mesh axis of copies, an axis that the input cuts too, the copies take turns, so that all of them
/// send.
class Redistribution {
 public:
  /// `shape`: of the whole input. Throws Error(pattern), Error(shape). Where cuts make more than 65,536 boxes, what
  /// plans transfers throws Error(unsupported).
  Redistribution(std::string_view pattern, const Mesh& mesh, const Dims& shape, const Lengths& lengths = {});
  /// Moving copies: none is ever empty.
  Redistribution(const Redistribution&) = default;
  Redistribution& operator=(const Redistribution&) = default;

  /// What it was made from.
  const std::string& pattern() const noexcept;
  const Lengths& lengths() const noexcept;
  /// The mesh, and the shapes of the whole arrays.
  const Mesh& mesh() const noexcept;
  const Dims& in_shape() const noexcept;
  const Dims& out_shape() const noexcept;
  /// The shapes of a rank's local arrays.
  Dims in_shape(int rank) const;
  Dims out_shape(int rank) const;

  /// How many ranks send a receiver addends of an element; 1 where nothing is added. The receiver adds what comes.
  int addends() const noexcept;

  /// What a rank sends, in the order of receivers, and what it receives, in the order of senders. Both include what it
  /// keeps, and leave out ranks with which it has nothing to do.
  std::vector<Transfer> sends(int rank) const;
  std::vector<Transfer> receives(int rank) const;

  /// From the sender's local array to the receiver's, where the one can reach the memory of the other. The views say
  /// how the local arrays lie in memory: View::contiguous(dtype, out_shape(rank)), or with any strides.
  std::vector<TransferCopy> direct(const Transfer& transfer, const View& in, const View& out) const;
  /// By way of a message of `Transfer::elements` elements, which begins at element `at` of its buffer: from the
  /// sender's local array to the message, and from there to the receiver's.
  std::vector<TransferCopy> pack(const Transfer& transfer, const View& in, std::int64_t at = 0) const;
  std::vector<TransferCopy> unpack(const Transfer& transfer, const View& out, std::int64_t at = 0) const;

  /// For elements of this dtype. Looks at every pair of ranks: for 1,024 ranks this takes 20 ms or more.
  TransferLoad largest_load(Dtype dtype) const;

 private:
  std::shared_ptr<const RedistributionImpl> impl_;
};

}  // namespace axisloom
