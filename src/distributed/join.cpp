// Candidates by an index along one axis, and boxes from what pairs of blocks have in common.
#include "distributed/join.hpp"

#include <algorithm>
#include <bit>
#include <utility>

namespace axisloom::distributed {
namespace {

/// Fewer blocks are compared one by one.
constexpr size_t least_indexed = 8;

/// Runs of a comb that are looked up one by one; of more, all from the first to the last are taken to be there.
constexpr i64 most_runs = 64;

/// The intervals that stand for a comb.
void each_interval(const Comb& comb, auto&& visit) {
  if (comb.count > most_runs) return visit(comb.first, comb.end());
  for (i64 k = 0; k < comb.count; ++k) visit(comb.first + k * comb.step, comb.first + k * comb.step + comb.length);
}

/// How many intervals blocks have along an axis, and how long these are together.
struct Cover {
  double intervals = 0, length = 0;
};

Cover cover_of(const Blocks& blocks, size_t axis) {
  Cover cover;
  for (size_t i = 0; i < blocks.size(); ++i)
    each_interval(blocks[i][axis], [&](i64 first, i64 end) {
      ++cover.intervals;
      cover.length += double(end - first);
    });
  return cover;
}

}  // namespace

IntervalIndex::IntervalIndex(std::vector<Interval> intervals, i64 extent) {
  // Buckets are at most four for each interval, and few are much shorter than intervals are.
  double length = 1;
  for (const Interval& interval : intervals) length += double(interval.end - interval.first);
  const auto mean = u64(length / double(intervals.size()));
  const int bits = std::bit_width(u64(extent - 1)), wanted = std::bit_width(2 * intervals.size());
  shift_ = std::max({0, bits - wanted, int(std::bit_width(mean)) - 2});
  const auto each_bucket = [&](const Interval& interval, auto&& visit) {
    for (i64 bucket = interval.first >> shift_; bucket <= (interval.end - 1) >> shift_; ++bucket) visit(size_t(bucket));
  };
  begins_.assign(size_t((extent - 1) >> shift_) + 2, 0);
  for (const Interval& interval : intervals) each_bucket(interval, [&](size_t bucket) { ++begins_[bucket + 1]; });
  for (size_t i = 1; i < begins_.size(); ++i) begins_[i] += begins_[i - 1];
  sorted_.resize(begins_.back());
  std::vector<size_t> next(begins_.begin(), begins_.end() - 1);
  for (const Interval& interval : intervals)
    each_bucket(interval, [&](size_t bucket) { sorted_[next[bucket]++] = interval; });
}

Join::Join(const Blocks& mine, bool are_in, const std::vector<i64>& extents, const std::vector<bool>& is_new)
    : mine_(mine), are_in_(are_in), extents_(extents), is_new_(is_new), parts_(mine.axes()) {}

/// By the axis along which a block of theirs is near the fewest of mine, as the first of theirs tell.
void Join::choose_index(const Blocks& theirs) {
  if (chosen_ || theirs.size() == 0) return;
  chosen_ = true;
  const auto my_blocks = double(mine_.size()), their_blocks = double(theirs.size());
  double least = my_blocks / 2;
  for (size_t axis = 0; axis < mine_.axes(); ++axis) {
    const Cover my_cover = cover_of(mine_, axis), their_cover = cover_of(theirs, axis);
    const double met = (my_cover.intervals * their_cover.length + their_cover.intervals * my_cover.length) /
                       (double(extents_[axis]) * their_blocks);
    const double cost = their_cover.intervals / their_blocks + met;
    if (cost >= least || my_cover.intervals > 16 * my_blocks) continue;
    least = cost;
    axis_ = axis;
    index_ = std::make_unique<IntervalIndex>();
  }
  if (!index_) return;
  std::vector<IntervalIndex::Interval> intervals;
  for (size_t i = 0; i < mine_.size(); ++i)
    each_interval(mine_[i][axis_], [&](i64 first, i64 end) { intervals.push_back({first, end, i}); });
  *index_ = IntervalIndex(std::move(intervals), extents_[axis_]);
  asked_by_.assign(mine_.size(), 0);
}

void Join::each_candidate(const Block& block, auto&& visit) {
  if (!index_) {
    for (size_t i = 0; i < mine_.size(); ++i) visit(mine_[i]);
    return;
  }
  ++question_;
  each_interval(block[axis_], [&](i64 first, i64 end) {
    index_->meeting(first, end, [&](size_t mine) {
      if (std::exchange(asked_by_[mine], question_) != question_) visit(mine_[mine]);
    });
  });
}

/// Calls visit() for each pair of blocks that meet, when parts_ has what they have in common.
void Join::each_pair(const Blocks& theirs, auto&& visit) {
  if (mine_.size() >= least_indexed) choose_index(theirs);
  for (size_t i = 0; i < theirs.size(); ++i) {
    const Block their_block = theirs[i];
    each_candidate(their_block, [&](const Block& my_block) {
      if (common_parts(my_block, their_block)) visit();
    });
  }
}

/// False where it is nothing along one of the axes.
bool Join::common_parts(const Block& my_block, const Block& their_block) {
  for (size_t axis = 0; axis < my_block.size(); ++axis)
    if (!may_meet(my_block[axis], their_block[axis])) return false;
  const Block &in = are_in_ ? my_block : their_block, &out = are_in_ ? their_block : my_block;
  for (size_t axis = 0; axis < in.size(); ++axis) {
    parts_[axis].clear();
    add_common(in[axis], out[axis], parts_[axis]);
    if (parts_[axis].empty()) return false;
  }
  return true;
}

i64 Join::elements() const {
  i64 elements = 1;
  for (size_t axis = 0; axis < parts_.size(); ++axis) {
    i64 along = 0;
    for (const Common& part : parts_[axis]) along += is_new_[axis] ? 1 : part.size();
    elements *= along;
  }
  return elements;
}

/// A box for each choice of a part along every axis.
void Join::add_boxes(Joint& joint) const {
  const size_t axes = parts_.size(), begin = joint.parts.size();
  size_t made = 1;
  for (const std::vector<Common>& parts : parts_) check_parts(joint.boxes + (made *= parts.size()));
  joint.parts.resize(begin + made * axes);
  for (size_t box = 0; box < made; ++box)
    for (size_t axis = axes, rest = box; axis-- > 0; rest /= parts_[axis].size())
      joint.parts[begin + box * axes + axis] = parts_[axis][rest % parts_[axis].size()];
  joint.boxes += made;
}

void Join::find(const Blocks& theirs, Joint& joint) {
  joint.boxes = 0;
  joint.elements = 0;
  joint.parts.clear();
  each_pair(theirs, [&] {
    joint.elements += elements();
    add_boxes(joint);
  });
}

i64 Join::count(const Blocks& theirs) {
  i64 sum = 0;
  each_pair(theirs, [&] { sum += elements(); });
  return sum;
}

}  // namespace axisloom::distributed
