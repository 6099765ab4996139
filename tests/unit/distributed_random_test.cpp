// Redistributions that are drawn at random, run by plain loops on simulated ranks, and compared with an oracle that
// shares no code with the planner: lists of indices, cut one by one.
#include <axisloom/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "core/text.hpp"

#include "sanitizers.hpp"

namespace axisloom::distributed {
namespace {

using Indices = std::vector<std::int64_t>;

/// A cut over mesh axes, as in a pattern.
struct DrawnCut {
  std::vector<int> over;
  int kind = 0;  // 0: as torch.chunk, 1: balanced, else dealt in turn
  int block = 1;
};
using DrawnCuts = std::vector<DrawnCut>;

struct DrawnAxis {
  std::string name;
  std::int64_t extent = 1;
  bool added = false;
};

struct DrawnDim {
  std::vector<int> axes;
  DrawnCuts cuts;
  bool composed = false;
};

struct DrawnSide {
  std::vector<DrawnDim> dims;
  std::vector<DrawnCuts> axis_cuts;
  std::vector<int> addends;
};

struct DrawnCase {
  std::vector<MeshAxis> mesh;
  std::vector<DrawnAxis> axes;
  DrawnSide in, out;
};

class Drawer {
 public:
  explicit Drawer(unsigned seed) : random_(seed) {}

  int below(int n) { return int(random_() % unsigned(n)); }
  bool one_in(int n) { return below(n) == 0; }

  DrawnCase draw() {
    DrawnCase drawn;
    for (int ranks = 1, most = 1 + below(64); int(drawn.mesh.size()) < 4 && !one_in(12);) {
      const int extent = 1 + below(one_in(4) ? 9 : 4);
      if (ranks * extent > most) break;
      ranks *= extent;
      drawn.mesh.push_back({std::string(1, "xyzu"[drawn.mesh.size()]), extent});
    }
    std::int64_t most = one_in(8) ? 2000 : 200;
    for (int count = one_in(20) ? 0 : 1 + below(6); count > 0; --count) {
      const std::int64_t extent = one_in(60) ? 0 : 1 + below(one_in(3) ? 20 : 6);
      if (extent > most) continue;
      most /= std::max<std::int64_t>(extent, 1);
      drawn.axes.push_back({std::string(1, "abcdefgx"[drawn.axes.size()]), extent, one_in(9)});
    }
    drawn.in = side(drawn, false);
    drawn.out = side(drawn, true);
    if (one_in(2)) likeness(drawn);
    cut(drawn, drawn.in, true);
    cut(drawn, drawn.out, false);
    return drawn;
  }

 private:
  DrawnSide side(const DrawnCase& drawn, bool output) {
    DrawnSide side;
    side.axis_cuts.resize(drawn.axes.size());
    std::vector<int> order;
    for (int i = 0; i < int(drawn.axes.size()); ++i)
      if (output || !drawn.axes[std::size_t(i)].added) order.push_back(i);
    if (one_in(2)) std::shuffle(order.begin(), order.end(), random_);
    for (std::size_t i = 0; i < order.size();) {
      if (one_in(20)) side.dims.push_back({});
      DrawnDim dim{.axes = {}, .cuts = {}, .composed = one_in(3)};
      do dim.axes.push_back(order[i++]);
      while (dim.composed && i < order.size() && !one_in(3));
      side.dims.push_back(dim);
    }
    return side;
  }

  /// The output's axes as the input's, in another order.
  void likeness(DrawnCase& drawn) {
    if (std::ranges::any_of(drawn.axes, &DrawnAxis::added)) return;
    drawn.out = drawn.in;
    std::shuffle(drawn.out.dims.begin(), drawn.out.dims.end(), random_);
  }

  void cut(const DrawnCase& drawn, DrawnSide& side, bool input) {
    std::vector<int> order(drawn.mesh.size());
    std::iota(order.begin(), order.end(), 0);
    std::shuffle(order.begin(), order.end(), random_);
    std::vector<DrawnDim*> dims;
    for (DrawnDim& dim : side.dims)
      if (!dim.axes.empty()) dims.push_back(&dim);
    for (const int mesh_axis : order) {
      const bool addends = input ? one_in(8) : core::contains(drawn.in.addends, mesh_axis) && one_in(3);
      if (addends) {
        side.addends.push_back(mesh_axis);
        continue;
      }
      if (dims.empty() || one_in(4)) continue;
      DrawnDim& dim = *dims[std::size_t(below(int(dims.size())))];
      const auto is_cut = [&](int axis) { return !side.axis_cuts[std::size_t(axis)].empty(); };
      const bool parts = !dim.composed || (dim.cuts.empty() && (std::ranges::any_of(dim.axes, is_cut) || one_in(2)));
      const auto axis = std::size_t(dim.axes[std::size_t(below(int(dim.axes.size())))]);
      DrawnCuts& cuts = parts ? side.axis_cuts[axis] : dim.cuts;
      if (!cuts.empty() && one_in(2))
        cuts.back().over.push_back(mesh_axis);
      else
        cuts.push_back({{mesh_axis}, below(4), one_in(3) ? 1 + below(12) : 1 + below(3)});
    }
  }

  std::mt19937 random_;
};

std::string text_of(const DrawnCase& drawn, const DrawnCuts& cuts) {
  std::string text;
  for (const DrawnCut& cut : cuts) {
    const std::string over = joined(cut.over, " ", [&](int axis) { return drawn.mesh[std::size_t(axis)].name; });
    text += cut.over.size() == 1 ? "@" + over : "@(" + over + ")";
    if (cut.kind == 1) text += ":balanced";
    if (cut.kind > 1) text += concat(":", cut.block);
  }
  return text;
}

std::string text_of(const DrawnCase& drawn, const DrawnSide& side) {
  std::string text;
  for (const DrawnDim& dim : side.dims) {
    const auto shown = [&](int axis) {
      return drawn.axes[std::size_t(axis)].name + text_of(drawn, side.axis_cuts[std::size_t(axis)]);
    };
    const std::string axes = joined(dim.axes, " ", shown);
    text += (dim.composed || axes.empty() ? "(" + axes + ")" : axes) + text_of(drawn, dim.cuts) + " ";
  }
  for (const int axis : side.addends) text += "+" + drawn.mesh[std::size_t(axis)].name + " ";
  return text;
}

/// The oracle: which elements a rank holds, in the order of its local array.
class Oracle {
 public:
  Oracle(const DrawnCase& drawn, std::vector<int> at) : drawn_(drawn), at_(std::move(at)) {}

  Indices elements(const DrawnSide& side, Dims& shape) const {
    Indices ids{0};
    for (const DrawnDim& dim : side.dims) {
      const Indices along = dim.cuts.empty() ? parts(side, dim) : cut(whole(dim), dim.cuts);
      shape.push_back(std::int64_t(along.size()));
      Indices all;
      for (const std::int64_t id : ids)
        for (const std::int64_t more : along) all.push_back(id + more);
      ids = std::move(all);
    }
    return ids;
  }

 private:
  /// What an element's number grows by along an axis; new axes repeat elements.
  std::int64_t weight(int axis) const {
    std::int64_t weight = drawn_.axes[std::size_t(axis)].added ? 0 : 1;
    for (std::size_t i = 0; i < std::size_t(axis); ++i)
      if (!drawn_.axes[i].added) weight *= std::max<std::int64_t>(drawn_.axes[i].extent, 1);
    return weight;
  }

  Indices axis_ids(int axis) const {
    Indices ids(std::size_t(drawn_.axes[std::size_t(axis)].extent));
    for (std::size_t i = 0; i < ids.size(); ++i) ids[i] = std::int64_t(i) * weight(axis);
    return ids;
  }

  static Indices product(const Indices& slow, const Indices& fast) {
    Indices ids;
    for (const std::int64_t a : slow)
      for (const std::int64_t b : fast) ids.push_back(a + b);
    return ids;
  }

  Indices whole(const DrawnDim& dim) const {
    Indices ids{0};
    for (const int axis : dim.axes) ids = product(ids, axis_ids(axis));
    return ids;
  }

  Indices parts(const DrawnSide& side, const DrawnDim& dim) const {
    Indices ids{0};
    for (const int axis : dim.axes) ids = product(ids, cut(axis_ids(axis), side.axis_cuts[std::size_t(axis)]));
    return ids;
  }

  /// Element by element: to which part does the one at this position belong?
  static std::int64_t owner(const DrawnCut& cut, std::int64_t position, std::int64_t extent, std::int64_t parts) {
    if (cut.kind == 0) {
      std::int64_t length = extent / parts;
      while (length * parts < extent) ++length;
      return position / length;
    }
    if (cut.kind == 1) {
      std::int64_t part = 0;
      for (std::int64_t end = 0;; ++part) {
        end += extent / parts;
        if (part < extent % parts) ++end;
        if (position < end) return part;
      }
    }
    return position / cut.block % parts;
  }

  Indices cut(Indices ids, const DrawnCuts& cuts) const {
    for (const DrawnCut& one : cuts) {
      std::int64_t parts = 1, mine = 0;
      for (const int axis : one.over) {
        parts *= drawn_.mesh[std::size_t(axis)].extent;
        mine = mine * drawn_.mesh[std::size_t(axis)].extent + at_[std::size_t(axis)];
      }
      Indices kept;
      for (std::size_t i = 0; i < ids.size(); ++i)
        if (owner(one, std::int64_t(i), std::int64_t(ids.size()), parts) == mine) kept.push_back(ids[i]);
      ids = std::move(kept);
    }
    return ids;
  }

  const DrawnCase& drawn_;
  std::vector<int> at_;
};

/// Calls visit(element of `from`, element of `to`) for each index.
void each(const TransferCopy& copy, const auto& visit) {
  ASSERT_EQ(copy.from.shape, copy.to.shape);
  const auto walk = [&](const auto& self, int axis, std::int64_t from, std::int64_t to) -> void {
    if (axis == copy.from.rank()) return visit(std::size_t(from), std::size_t(to));
    for (std::int64_t i = 0; i < copy.from.shape[axis]; ++i)
      self(self, axis + 1, from + i * copy.from.strides[axis], to + i * copy.to.strides[axis]);
  };
  walk(walk, 0, copy.from.offset, copy.to.offset);
}

/// Where the elements of a local array lie, in the order of its indices.
std::vector<std::size_t> places(const View& view) {
  std::vector<std::size_t> found;
  const TransferCopy self{view, View::contiguous(view.dtype, view.shape)};
  if (view.count() > 0) each(self, [&](std::size_t at, std::size_t) { found.push_back(at); });
  return found;
}

/// The whole run of one case.
class Simulation {
 public:
  Simulation(const DrawnCase& drawn, const Redistribution& plan, Drawer& drawer) : drawn_(drawn), plan_(plan) {
    for (int rank = 0; rank < plan.mesh().ranks(); ++rank) {
      const std::vector<int> at = plan.mesh().coordinates(rank);
      Dims in_shape, out_shape;
      Indices read = Oracle(drawn, at).elements(drawn.in, in_shape);
      wanted_.push_back(Oracle(drawn, at).elements(drawn.out, out_shape));
      EXPECT_EQ(plan.in_shape(rank), in_shape);
      EXPECT_EQ(plan.out_shape(rank), out_shape);
      in_views_.push_back(strided(in_shape, drawer));
      out_views_.push_back(strided(out_shape, drawer));
      std::vector<std::int64_t>& memory = inputs_.emplace_back(std::size_t(in_views_.back().bounds().high) + 1, -1);
      const std::vector<std::size_t> where = places(in_views_.back());
      for (std::size_t i = 0; i < where.size(); ++i) memory[where[i]] = read[i] * plan.mesh().ranks() + addend_of(rank);
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
  /// A number for what a rank holds addends of, below the number of ranks.
  std::int64_t addend_of(int rank) const {
    const std::vector<int> at = plan_.mesh().coordinates(rank);
    std::int64_t addend = 0;
    for (const int axis : drawn_.in.addends)
      addend = addend * drawn_.mesh[std::size_t(axis)].extent + at[std::size_t(axis)];
    return addend;
  }

  /// Those that a rank's result is the sum of.
  std::set<std::int64_t> addends_for(int rank) const {
    const std::vector<int> at = plan_.mesh().coordinates(rank);
    std::set<std::int64_t> addends;
    for (int other = 0; other < plan_.mesh().ranks(); ++other) {
      const std::vector<int> there = plan_.mesh().coordinates(other);
      const auto alike = [&](int axis) { return at[std::size_t(axis)] == there[std::size_t(axis)]; };
      if (std::ranges::all_of(drawn_.out.addends, alike)) addends.insert(addend_of(other));
    }
    return addends;
  }

  /// Gaps between rows, and sometimes the axes in reverse order.
  static View strided(const Dims& shape, Drawer& drawer) {
    View view{.dtype = Dtype::i64, .shape = shape, .strides = contiguous_strides(shape), .offset = drawer.below(3)};
    if (drawer.one_in(3)) view.strides = fortran_strides(shape);
    const std::int64_t gap = drawer.one_in(3) ? 2 : 1;
    for (std::int64_t& stride : view.strides) stride *= gap;
    return view;
  }

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
    const Indices& ids = wanted_[std::size_t(rank)];
    ASSERT_EQ(where.size(), ids.size());
    const std::set<std::int64_t> sum_of = addends_for(rank);
    const std::int64_t addends = std::int64_t(sum_of.size()), ranks = plan_.mesh().ranks();
    ASSERT_EQ(plan_.addends(), addends);
    for (std::size_t i = 0; i < where.size(); ++i) {
      ASSERT_EQ(arrived[where[i]], addends) << "rank " << rank << " element " << i;
      ASSERT_EQ(sums[where[i]], std::accumulate(sum_of.begin(), sum_of.end(), ids[i] * addends * ranks));
    }
    const auto all = std::accumulate(arrived.begin(), arrived.end(), std::int64_t{0});
    ASSERT_EQ(all, std::int64_t(where.size()) * addends);
  }

  const DrawnCase& drawn_;
  const Redistribution& plan_;
  std::vector<View> in_views_, out_views_;
  std::vector<std::vector<std::int64_t>> inputs_;
  std::vector<Indices> wanted_;
};

std::int64_t extent_of(const DrawnCase& drawn, const DrawnDim& dim) {
  std::int64_t extent = 1;
  for (const int axis : dim.axes) extent *= drawn.axes[std::size_t(axis)].extent;
  return extent;
}

void run_case(Drawer& drawer) {
  const DrawnCase drawn = drawer.draw();
  const Mesh mesh(joined(drawn.mesh, " ", [](const MeshAxis& axis) { return concat(axis.name, "=", axis.extent); }));
  const std::string pattern = text_of(drawn, drawn.in) + "-> " + text_of(drawn, drawn.out);
  Dims shape;
  for (const DrawnDim& dim : drawn.in.dims) shape.push_back(extent_of(drawn, dim));
  Lengths lengths;
  for (const DrawnAxis& axis : drawn.axes) lengths.emplace_back(axis.name, axis.extent);
  SCOPED_TRACE(
      concat("\"", pattern, "\" mesh \"", to_string(mesh), "\" of ", to_string(shape), " with ",
             joined(lengths, " ", [](const auto& length) { return concat(length.first, "=", length.second); })));
  const Redistribution plan(pattern, mesh, shape, lengths);
  Simulation(drawn, plan, drawer).run();
}

TEST(DistributedRandom, EveryElementArrivesWhereTheOracleHasIt) {
  const unsigned cases = test::address_sanitizer || test::thread_sanitizer ? 1000 : 10000;
  for (unsigned seed = 0; seed < cases && !testing::Test::HasFailure(); ++seed) {
    SCOPED_TRACE(concat("case ", seed));
    Drawer drawer(seed);
    run_case(drawer);
  }
}

}  // namespace
}  // namespace axisloom::distributed
