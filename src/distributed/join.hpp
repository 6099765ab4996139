// What the blocks of two ranks have in common, found without looking at every pair of blocks.
#pragma once

#include "distributed/unravel.hpp"

#include <memory>
#include <vector>

namespace axisloom::distributed {

/// What two sets of blocks have in common: boxes, each of them a nest of indices along every axis.
struct Joint {
  explicit Joint(size_t axes) : axes(axes) {}

  size_t axes, boxes = 0;
  i64 elements = 0;           // that travel: along a new axis one for each box
  std::vector<Common> parts;  // of box b along axis a: parts[b * axes + a]
};

/// Intervals that are asked which of them meet another one.
class IntervalIndex {
 public:
  struct Interval {
    i64 first = 0, end = 0;
    size_t block = 0;  // that it is of
  };
  IntervalIndex() = default;
  /// Within an axis of this extent.
  IntervalIndex(std::vector<Interval> intervals, i64 extent);

  /// Calls visit(block) for each interval that meets this one, perhaps several times.
  void meeting(i64 first, i64 end, auto&& visit) const {
    for (i64 bucket = first >> shift_; bucket <= (end - 1) >> shift_; ++bucket)
      for (size_t i = begins_[size_t(bucket)]; i < begins_[size_t(bucket) + 1]; ++i)
        if (sorted_[i].first < end && first < sorted_[i].end) visit(sorted_[i].block);
  }

 private:
  int shift_ = 0;
  std::vector<size_t> begins_;    // by bucket, of those in sorted_ that reach into it
  std::vector<Interval> sorted_;  // by bucket
};

/// The blocks of one rank, to be joined with those of others.
class Join {
 public:
  /// `are_in`: whether these are blocks of the input; else of the output. Of each axis its extent, and whether the
  /// input lacks it. Keeps references.
  Join(const Blocks& mine, bool are_in, const std::vector<i64>& extents, const std::vector<bool>& is_new);

  /// Throws Error(unsupported) where boxes are more than most_parts.
  void find(const Blocks& theirs, Joint& joint);
  /// The elements alone.
  i64 count(const Blocks& theirs);

 private:
  void each_pair(const Blocks& theirs, auto&& visit);
  void each_candidate(const Block& block, auto&& visit);
  void choose_index(const Blocks& theirs);
  bool common_parts(const Block& my_block, const Block& their_block);
  void add_boxes(Joint& joint) const;
  i64 elements() const;

  const Blocks& mine_;
  const bool are_in_;
  const std::vector<i64>& extents_;
  const std::vector<bool>& is_new_;

  bool chosen_ = false;
  size_t axis_ = 0;                       // of the index
  std::unique_ptr<IntervalIndex> index_;  // none where every pair is looked at
  std::vector<size_t> asked_by_;          // of each block of mine, the last question that found it
  size_t question_ = 0;

  std::vector<std::vector<Common>> parts_;  // by axis, of the pair at hand
};

}  // namespace axisloom::distributed
