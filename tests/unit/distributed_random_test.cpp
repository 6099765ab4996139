// Redistributions that are drawn at random, run by plain loops on simulated ranks, and compared with the oracle.
#include <axisloom/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>

#include "core/text.hpp"

#include "distributed_cases.hpp"
#include "sanitizers.hpp"

namespace axisloom::distributed {
namespace {

using test::Drawer;
using test::DrawnCase;
using test::DrawnCut;
using test::DrawnCuts;
using test::DrawnDim;
using test::each;
using test::Indices;
using test::places;
using test::strided;

/// The whole run of one case.
class Simulation {
 public:
  Simulation(const DrawnCase& drawn, const Redistribution& plan, Drawer& drawer) : drawn_(drawn), plan_(plan) {
    for (int rank = 0; rank < plan.mesh().ranks(); ++rank) {
      Dims in_shape, out_shape;
      const Indices read = test::values_before(drawn, plan.mesh(), rank, in_shape);
      wanted_.push_back(test::values_after(drawn, plan.mesh(), rank, out_shape));
      EXPECT_EQ(plan.in_shape(rank), in_shape);
      EXPECT_EQ(plan.out_shape(rank), out_shape);
      in_views_.push_back(strided(in_shape, drawer));
      out_views_.push_back(strided(out_shape, drawer));
      std::vector<std::int64_t>& memory = inputs_.emplace_back(std::size_t(in_views_.back().bounds().high) + 1, -1);
      const std::vector<std::size_t> where = places(in_views_.back());
      for (std::size_t i = 0; i < where.size(); ++i) memory[where[i]] = read[i];
    }
  }

  void run() {
    std::vector<std::vector<Transfer>> received(in_views_.size());
    for (int rank = 0; rank < int(in_views_.size()); ++rank)
      for (const Transfer& transfer : plan_.sends(rank)) {
        ASSERT_EQ(transfer.from, rank);
        received[std::size_t(transfer.to)].push_back(transfer);
      }
    TransferLoad load;
    for (int rank = 0; rank < int(in_views_.size()); ++rank) {
      const std::vector<Transfer> transfers = plan_.receives(rank);
      ASSERT_EQ(transfers, received[std::size_t(rank)]) << "rank " << rank;
      receive(rank, transfers);
      count(rank, transfers, load.bytes_received, load.messages_received);
      count(rank, plan_.sends(rank), load.bytes_sent, load.messages_sent);
    }
    const TransferLoad largest = plan_.largest_load(Dtype::i64);
    EXPECT_EQ(largest.bytes_sent, load.bytes_sent);
    EXPECT_EQ(largest.bytes_received, load.bytes_received);
    EXPECT_EQ(largest.messages_sent, load.messages_sent);
    EXPECT_EQ(largest.messages_received, load.messages_received);
  }

 private:
  static void count(int rank, const std::vector<Transfer>& transfers, std::int64_t& bytes, int& messages) {
    std::int64_t sum = 0;
    int many = 0;
    for (const Transfer& transfer : transfers) {
      if (transfer.from == transfer.to) continue;
      EXPECT_TRUE(transfer.from == rank || transfer.to == rank);
      sum += transfer.elements * 8;
      ++many;
    }
    bytes = std::max(bytes, sum);
    messages = std::max(messages, many);
  }

  /// Whether two ranks have the same part of the input.
  bool alike(int one, int other) const {
    std::vector<bool> differ(drawn_.mesh.size(), false);
    const auto mark = [&](const std::vector<int>& axes) {
      for (const int axis : axes) differ[std::size_t(axis)] = true;
    };
    const auto mark_cuts = [&](const DrawnCuts& cuts) {
      for (const DrawnCut& cut : cuts) mark(cut.over);
    };
    mark(drawn_.in.addends);
    for (const DrawnCuts& cuts : drawn_.in.axis_cuts) mark_cuts(cuts);
    for (const DrawnDim& dim : drawn_.in.dims) mark_cuts(dim.cuts);
    const std::vector<int> a = plan_.mesh().coordinates(one), b = plan_.mesh().coordinates(other);
    for (std::size_t i = 0; i < a.size(); ++i)
      if (differ[i] && a[i] != b[i]) return false;
    return true;
  }

  void receive(int rank, const std::vector<Transfer>& transfers) {
    const View& out = out_views_[std::size_t(rank)];
    const std::size_t room = std::size_t(out.bounds().high) + 1;
    std::vector<std::int64_t> sums(room, 0), staged_sums(room, 0);
    std::vector<int> arrived(room, 0), staged(room, 0);
    for (const Transfer& transfer : transfers) {
      ASSERT_TRUE(transfer.from == rank || !alike(transfer.from, rank)) << "rank " << rank << " has it itself";
      const View& in = in_views_[std::size_t(transfer.from)];
      const std::vector<std::int64_t>& sent = inputs_[std::size_t(transfer.from)];
      for (const TransferCopy& copy : plan_.direct(transfer, in, out))
        each(copy, [&](std::size_t from, std::size_t to) { sums[to] += sent[from], ++arrived[to]; });
      constexpr std::size_t before = 5;
      std::vector<std::int64_t> message(before + std::size_t(transfer.elements), -1);
      for (const TransferCopy& copy : plan_.pack(transfer, in, before))
        each(copy, [&](std::size_t from, std::size_t to) {
          ASSERT_EQ(message.at(to), -1);
          message[to] = sent[from];
        });
      ASSERT_EQ(std::count(message.begin(), message.end(), -1), std::ptrdiff_t(before));
      for (const TransferCopy& copy : plan_.unpack(transfer, out, before))
        each(copy, [&](std::size_t from, std::size_t to) { staged_sums[to] += message.at(from), ++staged[to]; });
    }
    check(rank, sums, arrived);
    check(rank, staged_sums, staged);
  }

  /// Each element arrived once from each addend, and nothing else was written.
  void check(int rank, const std::vector<std::int64_t>& sums, const std::vector<int>& arrived) const {
    const std::vector<std::size_t> where = places(out_views_[std::size_t(rank)]);
    const Indices& wanted = wanted_[std::size_t(rank)];
    ASSERT_EQ(where.size(), wanted.size());
    const auto addends = std::ptrdiff_t(test::addends_for(drawn_, plan_.mesh(), rank).size());
    ASSERT_EQ(plan_.addends(), addends);
    for (std::size_t i = 0; i < where.size(); ++i) {
      ASSERT_EQ(arrived[where[i]], addends) << "rank " << rank << " element " << i;
      ASSERT_EQ(sums[where[i]], wanted[i]);
    }
    const auto all = std::accumulate(arrived.begin(), arrived.end(), std::ptrdiff_t{0});
    ASSERT_EQ(all, std::ptrdiff_t(where.size()) * addends);
  }

  const DrawnCase& drawn_;
  const Redistribution& plan_;
  std::vector<View> in_views_, out_views_;
  std::vector<std::vector<std::int64_t>> inputs_;
  std::vector<Indices> wanted_;
};

void run_case(const DrawnCase& drawn, Drawer& drawer) {
  const test::DrawnJob job = test::job_of(drawn);
  SCOPED_TRACE(to_string(job));
  const Redistribution plan(job.pattern, job.mesh, job.shape, job.lengths);
  Simulation(drawn, plan, drawer).run();
}

TEST(DistributedRandom, EveryElementArrivesWhereTheOracleHasIt) {
  const unsigned cases = test::address_sanitizer || test::thread_sanitizer ? 1000 : 10000;
  for (unsigned seed = 0; seed < cases && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(concat("case ", seed));
    Drawer drawer(seed);
    run_case(drawer.draw(), drawer);
  }
}

TEST(DistributedRandom, BlocksDealtWithinTheRowsOfBothSides) {
  // A rank has tens of blocks, which line up with the rows of neither side.
  for (unsigned seed = 0; seed < 30 && !testing::Test::HasFailure(); ++seed) {
    Drawer drawer(seed);
    const auto dealt = [&drawer](int mesh_axis) { return DrawnCut{{mesh_axis}, 2, 1 + drawer.below(9)}; };
    DrawnCase drawn{.mesh = {{"x", 2 + drawer.below(12)}, {"y", 1 + drawer.below(3)}},
                    .axes = {{"a", 30 + drawer.below(40)}, {"b", 1 + drawer.below(3)}, {"c", 30 + drawer.below(40)}},
                    .in = {.dims = {{.axes = {0, 2}, .cuts = {dealt(0)}, .composed = true}, {.axes = {1}, .cuts = {}}},
                           .axis_cuts = {{}, {dealt(1)}, {}},
                           .addends = {}},
                    .out = {.dims = {{.axes = {2, 1, 0}, .cuts = {dealt(0)}, .composed = true}},
                            .axis_cuts = {{}, {}, {}},
                            .addends = {}}};
    if (drawer.one_in(2)) drawn.out.dims[0].cuts[0].over.push_back(1);
    SCOPED_TRACE(concat("case ", seed));
    run_case(drawn, drawer);
  }
}

}  // namespace
}  // namespace axisloom::distributed
