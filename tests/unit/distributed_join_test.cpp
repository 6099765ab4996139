// What blocks of two ranks have in common: by an index as by looking at every pair.
#include <gtest/gtest.h>

#include <algorithm>
#include <random>
#include <set>
#include <tuple>

#include "distributed/join.hpp"

namespace axisloom::distributed {
namespace {

class RandomBlocks {
 public:
  explicit RandomBlocks(unsigned seed) : random_(seed) {}
  i64 below(i64 n) { return i64(random_() % std::uint64_t(n)); }

  Comb comb(i64 extent, i64 most_runs) {
    const i64 count = 1 + below(most_runs), step = std::max<i64>(1, extent / count);
    const i64 length = 1 + below(step < 8 ? step : 8);
    Comb made = run(below(extent - (count - 1) * step - length + 1), length, below(1000), 1 + below(3));
    made.count = count;
    if (count > 1) {
      made.step = step;
      made.local_step = 1000;
    }
    return made;
  }

  Blocks blocks(const std::vector<i64>& extents, size_t count, i64 most_runs) {
    Blocks made(extents.size());
    for (; count > 0; --count) {
      std::vector<Comb> block;
      for (const i64 extent : extents) block.push_back(comb(extent, one_in(2) ? 1 : most_runs));
      made.add(block);
    }
    return made;
  }

  bool one_in(i64 n) { return below(n) == 0; }

 private:
  std::mt19937 random_;
};

using Places = std::multiset<std::tuple<i64, i64, i64, i64, i64>>;

/// Boxes in no order.
Places places(const Joint& joint) {
  Places found;
  for (size_t box = 0; box < joint.boxes; ++box) {
    const Common &first = joint.parts[box * joint.axes], &last = joint.parts[(box + 1) * joint.axes - 1];
    found.emplace(first.in, first.out, last.in, last.out, first.size() * last.size());
  }
  return found;
}

TEST(DistributedJoin, AnIndexFindsWhatEveryPairHas) {
  size_t boxes = 0;
  for (unsigned seed = 0; seed < 400; ++seed) {
    RandomBlocks random(seed);
    std::vector<i64> extents;
    for (i64 axes = 1 + random.below(3); axes > 0; --axes) extents.push_back(200 + random.below(400));
    const std::vector<bool> is_new(extents.size(), false);
    const bool are_in = random.one_in(2);
    const Blocks mine = random.blocks(extents, size_t(1 + random.below(100)), 1 + random.below(90));
    Join join(mine, are_in, extents, is_new);
    for (int other = 0; other < 3; ++other) {
      const Blocks theirs = random.blocks(extents, size_t(random.below(40)), 1 + random.below(90));
      Joint found(extents.size());
      join.find(theirs, found);
      Places wanted;
      i64 elements = 0;
      for (size_t i = 0; i < mine.size(); ++i) {
        Blocks one(extents.size());
        one.add(mine[i]);
        Joint part(extents.size());
        Join(one, are_in, extents, is_new).find(theirs, part);
        wanted.merge(places(part));
        elements += part.elements;
      }
      ASSERT_EQ(places(found), wanted) << "case " << seed;
      ASSERT_EQ(found.elements, elements);
      ASSERT_EQ(join.count(theirs), elements);
      boxes += found.boxes;
    }
  }
  EXPECT_GT(boxes, 10000u);
}

TEST(DistributedJoin, IntervalsThatMeet) {
  for (unsigned seed = 0; seed < 300; ++seed) {
    RandomBlocks random(seed);
    const i64 extent = random.one_in(3) ? i64{1} << 62 : 1 + random.below(500);
    std::vector<IntervalIndex::Interval> intervals;
    for (size_t i = 0; i < size_t(1 + random.below(60)); ++i) {
      const i64 first = random.below(extent);
      intervals.push_back({first, first + 1 + random.below(extent - first), i});
    }
    const IntervalIndex index(intervals, extent);
    for (int question = 0; question < 20; ++question) {
      const i64 first = random.below(extent), end = first + 1 + random.below(extent - first);
      std::set<size_t> found, wanted;
      index.meeting(first, end, [&](size_t block) { found.insert(block); });
      for (const auto& [begin, last, block] : intervals)
        if (begin < end && first < last) wanted.insert(block);
      ASSERT_EQ(found, wanted);
    }
  }
}

TEST(DistributedJoin, AlongANewAxisEachBoxIsOneElement) {
  const std::vector<i64> extents{6, 10};
  const std::vector<bool> is_new{false, true};
  Blocks in(2), out(2);
  in.add(std::vector<Comb>{run(0, 4), run(0, 10, 0, 0)});
  out.add(std::vector<Comb>{run(2, 4), run(0, 3)});
  out.add(std::vector<Comb>{run(2, 4), run(5, 5)});
  EXPECT_EQ(Join(in, true, extents, is_new).count(out), 4);
  EXPECT_EQ(Join(out, false, extents, is_new).count(in), 4);
}

}  // namespace
}  // namespace axisloom::distributed
