// Combs: cuts against the sizes that torch.chunk, MPI codes and ScaLAPACK's numroc give, chains of cuts, intersections
// and composed axes against lists of indices.
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <random>

#include "distributed/comb.hpp"
#include "distributed/unravel.hpp"

namespace axisloom::distributed {
namespace {

using core::Cut;
using core::Deal;

constexpr Cut chunks{};
const Cut balanced{.over = {}, .deal = Deal::balanced};

Cut dealt(i64 block) {
  return {.over = {}, .deal = Deal::cyclic, .block = block};
}

/// The indices of a set by their places.
std::map<i64, i64> by_place(const Combs& set) {
  std::map<i64, i64> indices;
  for (const Comb& comb : set)
    for (i64 k = 0; k < comb.count; ++k)
      for (i64 i = 0; i < comb.length; ++i) {
        const auto [at, is_new] =
            indices.emplace(comb.local + k * comb.local_step + i * comb.unit, comb.first + k * comb.step + i);
        EXPECT_TRUE(is_new) << "place " << at->first;
      }
  return indices;
}

/// The indices in the order of their places, which must be 0, 1, ...
std::vector<i64> listed(const Combs& set) {
  std::vector<i64> indices;
  for (const auto& [place, index] : by_place(set)) {
    EXPECT_EQ(place, i64(indices.size()));
    indices.push_back(index);
  }
  return indices;
}

std::vector<i64> sizes(i64 extent, const Cut& cut, i64 parts) {
  std::vector<i64> found;
  for (i64 part = 0; part < parts; ++part) found.push_back(size_of(part_of(extent, cut, parts, part)));
  return found;
}

using Sizes = std::vector<i64>;
using Listed = std::vector<i64>;

TEST(DistributedComb, ChunksAreThoseOfTorch) {
  // [len(c) for c in torch.arange(n).chunk(p)], with the missing chunks as empty ones.
  EXPECT_EQ(sizes(10, chunks, 4), (Sizes{3, 3, 3, 1}));
  EXPECT_EQ(sizes(6, chunks, 4), (Sizes{2, 2, 2, 0}));
  EXPECT_EQ(sizes(5, chunks, 4), (Sizes{2, 2, 1, 0}));
  EXPECT_EQ(sizes(9, chunks, 8), (Sizes{2, 2, 2, 2, 1, 0, 0, 0}));
  EXPECT_EQ(sizes(2, chunks, 3), (Sizes{1, 1, 0}));
  EXPECT_EQ(sizes(0, chunks, 3), (Sizes{0, 0, 0}));
  EXPECT_EQ(sizes(1, chunks, 1), (Sizes{1}));
  EXPECT_EQ(listed(part_of(10, chunks, 4, 3)), (Listed{9}));
  const i64 large = (i64{1} << 62) + 1;
  EXPECT_EQ(sizes(large, chunks, 3), (Sizes{large / 3 + 1, large / 3 + 1, large - 2 * (large / 3 + 1)}));
}

TEST(DistributedComb, BalancedPartsDifferByOne) {
  EXPECT_EQ(sizes(10, balanced, 4), (Sizes{3, 3, 2, 2}));
  EXPECT_EQ(sizes(5, balanced, 4), (Sizes{2, 1, 1, 1}));
  EXPECT_EQ(sizes(2, balanced, 3), (Sizes{1, 1, 0}));
  EXPECT_EQ(listed(part_of(10, balanced, 4, 2)), (Listed{6, 7}));
}

/// ScaLAPACK's numroc with isrcproc = 0, step by step as its source has it.
i64 numroc(i64 n, i64 nb, i64 iproc, i64 nprocs) {
  const i64 nblocks = n / nb, extrablks = nblocks % nprocs;
  i64 count = nblocks / nprocs * nb;
  if (iproc < extrablks)
    count += nb;
  else if (iproc == extrablks)
    count += n % nb;
  return count;
}

TEST(DistributedComb, DealtBlocksCountAsNumroc) {
  EXPECT_EQ(sizes(10, dealt(2), 2), (Sizes{6, 4}));
  EXPECT_EQ(sizes(1000, dealt(64), 3), (Sizes{360, 320, 320}));
  EXPECT_EQ(listed(part_of(11, dealt(2), 3, 2)), (Listed{4, 5, 10}));
  EXPECT_EQ(listed(part_of(11, dealt(2), 3, 0)), (Listed{0, 1, 6, 7}));
  for (i64 n = 0; n < 40; ++n)
    for (i64 block = 1; block < 12; ++block)
      for (i64 parts = 1; parts < 6; ++parts)
        for (i64 part = 0; part < parts; ++part)
          ASSERT_EQ(size_of(part_of(n, dealt(block), parts, part)), numroc(n, block, part, parts))
              << n << " in blocks of " << block << " over " << parts << " at " << part;
  EXPECT_EQ(sizes(10, dealt(i64{1} << 62), 4), (Sizes{10, 0, 0, 0}));
}

TEST(DistributedComb, ADealtPartIsOneCombAndATail) {
  EXPECT_EQ(part_of(1000000, dealt(64), 4, 1).size(), 1u);
  EXPECT_EQ(part_of(1000000, dealt(63), 4, 0).size(), 1u);
  EXPECT_EQ(part_of(1000000, dealt(63), 4, 15873 % 4).size(), 2u);
}

TEST(DistributedComb, ASecondCutDividesWhatTheFirstLeft) {
  // As torch's [Shard(0), Shard(0)]: chunks of 3 of 10, the first of them in chunks of 2.
  EXPECT_EQ(listed(chained(part_of(10, chunks, 4, 0), part_of(3, chunks, 2, 1))), (Listed{2}));
  EXPECT_EQ(listed(chained(part_of(12, dealt(2), 2, 1), part_of(6, dealt(1), 2, 1))), (Listed{3, 7, 11}));
  EXPECT_EQ(listed(chained(part_of(12, dealt(2), 2, 1), part_of(6, chunks, 2, 0))), (Listed{2, 3, 6}));
}

class RandomCombs {
 public:
  i64 below(i64 n) { return i64(random_() % u64(n)); }
  Cut cut() {
    const i64 kind = below(4);
    return kind == 0 ? chunks : kind == 1 ? balanced : dealt(1 + below(kind == 2 ? 3 : 12));
  }
  /// Cuts one after the other, and what a plain list says of them.
  Combs set(i64 extent, std::vector<i64>& indices) {
    indices.clear();
    for (i64 i = 0; i < extent; ++i) indices.push_back(i);
    Combs set{run(0, extent)};
    for (i64 cuts = 1 + below(3); cuts > 0 && !indices.empty(); --cuts) {
      const Cut next = cut();
      const i64 parts = 1 + below(5), part = below(parts), size = i64(indices.size());
      set = chained(set, part_of(size, next, parts, part));
      std::vector<i64> kept;
      for (i64 i = 0; i < size; ++i)
        if (owner(next, i, size, parts) == part) kept.push_back(indices[size_t(i)]);
      indices = kept;
    }
    return set;
  }

 private:
  static i64 owner(const Cut& cut, i64 at, i64 extent, i64 parts) {
    if (cut.deal == Deal::cyclic) return at / cut.block % parts;
    if (cut.deal == Deal::chunks) return at / ceil_div(extent, parts);
    const i64 most = extent % parts, least = extent / parts, longer = most * (least + 1);
    return at < longer ? at / (least + 1) : most + (at - longer) / least;
  }
  std::mt19937 random_{11};
};

TEST(DistributedComb, RandomChainsAreListsCutOneByOne) {
  RandomCombs random;
  for (int i = 0; i < 20000; ++i) {
    std::vector<i64> wanted;
    const Combs set = random.set(1 + random.below(150), wanted);
    ASSERT_EQ(listed(set), wanted) << "case " << i;
  }
}

/// Pairs of places by walking the parts.
std::map<i64, i64> pairs(const std::vector<Common>& parts) {
  std::map<i64, i64> found;
  for (const Common& part : parts)
    for (i64 a = 0; a < part.periods.extent; ++a)
      for (i64 b = 0; b < part.runs.extent; ++b)
        for (i64 c = 0; c < part.run.extent; ++c) {
          const bool is_new = found
                                  .emplace(part.in + a * part.periods.in + b * part.runs.in + c * part.run.in,
                                           part.out + a * part.periods.out + b * part.runs.out + c * part.run.out)
                                  .second;
          EXPECT_TRUE(is_new);
        }
  return found;
}

TEST(DistributedComb, RandomSetsHaveInCommonWhatListsHave) {
  RandomCombs random;
  for (int i = 0; i < 20000; ++i) {
    const i64 extent = 1 + random.below(400);
    std::vector<i64> in_list, out_list;
    const Combs in = random.set(extent, in_list), out = random.set(extent, out_list);
    std::map<i64, i64> wanted;
    for (size_t k = 0; k < in_list.size(); ++k) {
      const auto found = std::ranges::find(out_list, in_list[k]);
      if (found != out_list.end()) wanted.emplace(i64(k), found - out_list.begin());
    }
    std::vector<Common> parts;
    for (const Comb& a : in)
      for (const Comb& b : out) add_common(a, b, parts);
    ASSERT_EQ(pairs(parts), wanted) << "case " << i;
  }
}

/// What two combs have in common, run by run.
std::map<i64, i64> pairs_by_runs(const Comb& in, const Comb& out) {
  std::map<i64, i64> found;
  for (i64 a = 0; a < in.count; ++a)
    for (i64 b = 0; b < out.count; ++b) {
      const i64 in_first = in.first + a * in.step, out_first = out.first + b * out.step;
      for (i64 i = std::max(in_first, out_first); i < std::min(in_first + in.length, out_first + out.length); ++i)
        found.emplace(in.local + a * in.local_step + i - in_first, out.local + b * out.local_step + i - out_first);
    }
  return found;
}

size_t parts_of(const Comb& in, const Comb& out) {
  std::vector<Common> parts;
  add_common(in, out, parts);
  return parts.size();
}

TEST(DistributedComb, ShortRunsThatSeldomMeetAreFound) {
  RandomCombs random;
  size_t met = 0;
  for (int i = 0; i < 3000; ++i) {
    const i64 parts = 20 + random.below(80), extent = 20000 + random.below(20000);
    const Cut in_cut = dealt(1 + random.below(12)), out_cut = dealt(1 + random.below(12));
    for (const Comb& in : part_of(extent, in_cut, parts, random.below(parts)))
      for (const Comb& out : part_of(extent, out_cut, random.below(2) ? parts : parts + 1, random.below(parts))) {
        std::vector<Common> parts_found;
        add_common(in, out, parts_found);
        ASSERT_EQ(pairs(parts_found), pairs_by_runs(in, out)) << "case " << i;
        met += parts_found.size();
      }
  }
  EXPECT_GT(met, 3000u);
  // There are 999 places where runs of the one may begin beside those of the other: at two of them, at most, they meet.
  const Comb in = part_of(i64{1} << 40, dealt(1000), 1024, 7)[0], out = part_of(i64{1} << 40, dealt(999), 1024, 9)[0];
  EXPECT_LE(parts_of(in, out), 2u);
}

TEST(DistributedComb, LongAxesHaveFewParts) {
  const Comb block = run(1'000'136, 700'000'000);
  const Comb fine = part_of(1'000'000'000, dealt(64), 8, 3)[0];
  EXPECT_EQ(parts_of(block, fine), 2u);  // a head that is cut, and the rest
  EXPECT_EQ(parts_of(fine, block), 2u);
  EXPECT_EQ(parts_of(run(192, 512 * 1000), fine), 1u);
  EXPECT_EQ(parts_of(part_of(1'000'000'000, dealt(1024), 2, 0)[0], part_of(1'000'000'000, dealt(1), 2, 1)[0]), 1u);
  EXPECT_THROW(
      parts_of(part_of(i64{1} << 50, dealt(1'000'003), 2, 0)[0], part_of(i64{1} << 50, dealt(999'983), 2, 0)[0]),
      Error);
}

Blocks unravelled(const Comb& comb, const std::vector<i64>& extents) {
  std::vector<Comb> block(extents.size());
  std::vector<Comb*> combs;
  for (Comb& along : block) combs.push_back(&along);
  Blocks blocks(extents.size());
  unravel(comb, extents, combs, [&] { blocks.add(block); });
  return blocks;
}

/// The places of a block's elements by their flat index.
void add_places(const Block& block, const std::vector<i64>& extents, std::map<i64, i64>& places) {
  std::vector<std::pair<i64, i64>> points{{0, 0}};
  for (size_t axis = 0; axis < extents.size(); ++axis) {
    std::vector<std::pair<i64, i64>> longer;
    for (const auto& [index, place] : points)
      for (const auto& [along, at] : by_place({block[axis]})) {
        ASSERT_LT(at, extents[axis]);
        longer.emplace_back(index * extents[axis] + at, place + along);
      }
    points = longer;
  }
  for (const auto& [index, place] : points) ASSERT_TRUE(places.emplace(index, place).second);
}

void add_places(const Blocks& blocks, const std::vector<i64>& extents, std::map<i64, i64>& places) {
  for (size_t i = 0; i < blocks.size(); ++i) add_places(blocks[i], extents, places);
}

TEST(DistributedComb, RandomCombsOfComposedAxesUnravel) {
  RandomCombs random;
  for (int i = 0; i < 5000; ++i) {
    std::vector<i64> extents;
    i64 extent = 1;
    for (i64 axes = 1 + random.below(4); axes > 0; --axes) {
      extents.push_back(1 + random.below(axes == 1 ? 25 : 6));
      extent *= extents.back();
    }
    std::vector<i64> wanted;
    std::map<i64, i64> places;
    for (const Comb& comb : random.set(extent, wanted)) add_places(unravelled(comb, extents), extents, places);
    ASSERT_EQ(places.size(), wanted.size());
    for (size_t k = 0; k < wanted.size(); ++k) ASSERT_EQ(places.at(wanted[k]), i64(k)) << "case " << i;
  }
}

TEST(DistributedComb, RunsThatCrossRowsAreCutThere) {
  // Runs of 2, 4 apart, from 15 on, in rows of 8: every second one crosses the end of a row.
  const Comb comb{.first = 15, .length = 2, .step = 4, .count = 5, .local = 0, .unit = 1, .local_step = 2};
  std::map<i64, i64> places;
  const std::vector<i64> extents{5, 8};
  add_places(unravelled(comb, extents), extents, places);
  EXPECT_EQ(places, (std::map<i64, i64>{
                        {15, 0}, {16, 1}, {19, 2}, {20, 3}, {23, 4}, {24, 5}, {27, 6}, {28, 7}, {31, 8}, {32, 9}}));
}

TEST(DistributedComb, RunsThatLineUpWithRowsShareBlocks) {
  const auto blocks = [](i64 block, i64 parts, std::vector<i64> extents) {
    i64 extent = 1;
    for (const i64 axis : extents) extent *= axis;
    return unravelled(part_of(extent, dealt(block), parts, 1)[0], extents).size();
  };
  EXPECT_EQ(blocks(64, 4, {1000, 1024}), 1u);       // every row has the same columns
  EXPECT_EQ(blocks(2048, 4, {4096, 1024}), 1u);     // whole rows
  EXPECT_EQ(blocks(64, 4, {4096, 64}), 1u);         // one row each
  EXPECT_EQ(blocks(512, 4, {4096, 1024}), 1u);      // half of every other row
  EXPECT_EQ(blocks(64, 2, {100000, 96}), 4u);       // three places where runs begin, of which one is cut by a row
  EXPECT_LE(blocks(64, 8, {100000, 1003}), 2500u);  // columns repeat after 1003 runs
  EXPECT_EQ(unravelled(run(1000, 100'000), {1000, 1024}).size(), 3u);  // head, rows, tail
}

}  // namespace
}  // namespace axisloom::distributed
