// Redistributions that are drawn at random, and an oracle that shares no code with the planner: lists of indices, cut
// one by one.
#pragma once

#include <axisloom/distributed.hpp>

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <random>
#include <set>

#include "core/text.hpp"

namespace axisloom::test {

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
  explicit Drawer(unsigned seed, int most_ranks = 64) : random_(seed), most_ranks_(most_ranks) {}

  int below(int n) { return int(random_() % unsigned(n)); }
  bool one_in(int n) { return below(n) == 0; }

  DrawnCase draw() {
    DrawnCase drawn;
    for (int ranks = 1, most = 1 + below(most_ranks_); int(drawn.mesh.size()) < 4 && !one_in(12);) {
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
  int most_ranks_;
};

inline std::string text_of(const DrawnCase& drawn, const DrawnCuts& cuts) {
  std::string text;
  for (const DrawnCut& cut : cuts) {
    const std::string over = joined(cut.over, " ", [&](int axis) { return drawn.mesh[std::size_t(axis)].name; });
    text += cut.over.size() == 1 ? "@" + over : "@(" + over + ")";
    if (cut.kind == 1) text += ":balanced";
    if (cut.kind > 1) text += concat(":", cut.block);
  }
  return text;
}

inline std::string text_of(const DrawnCase& drawn, const DrawnSide& side) {
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
inline void each(const TransferCopy& copy, const auto& visit) {
  ASSERT_EQ(copy.from.shape, copy.to.shape);
  const auto walk = [&](const auto& self, int axis, std::int64_t from, std::int64_t to) -> void {
    if (axis == copy.from.rank()) return visit(std::size_t(from), std::size_t(to));
    for (std::int64_t i = 0; i < copy.from.shape[axis]; ++i)
      self(self, axis + 1, from + i * copy.from.strides[axis], to + i * copy.to.strides[axis]);
  };
  walk(walk, 0, copy.from.offset, copy.to.offset);
}

/// Where the elements of a local array lie, in the order of its indices.
inline std::vector<std::size_t> places(const View& view) {
  std::vector<std::size_t> found;
  const TransferCopy self{view, View::contiguous(view.dtype, view.shape)};
  if (view.count() > 0) each(self, [&](std::size_t at, std::size_t) { found.push_back(at); });
  return found;
}

/// As a Redistribution takes it.
struct DrawnJob {
  std::string pattern;
  Mesh mesh;
  Dims shape;
  Lengths lengths;
};

inline DrawnJob job_of(const DrawnCase& drawn) {
  DrawnJob job{
      .pattern = text_of(drawn, drawn.in) + "-> " + text_of(drawn, drawn.out),
      .mesh = Mesh(joined(drawn.mesh, " ", [](const MeshAxis& axis) { return concat(axis.name, "=", axis.extent); })),
      .shape = {},
      .lengths = {}};
  for (const DrawnDim& dim : drawn.in.dims) {
    std::int64_t extent = 1;
    for (const int axis : dim.axes) extent *= drawn.axes[std::size_t(axis)].extent;
    job.shape.push_back(extent);
  }
  for (const DrawnAxis& axis : drawn.axes) job.lengths.emplace_back(axis.name, axis.extent);
  return job;
}

inline std::string to_string(const DrawnJob& job) {
  return concat("\"", job.pattern, "\" mesh \"", to_string(job.mesh), "\" of ", to_string(job.shape), " with ",
                joined(job.lengths, " ", [](const auto& length) { return concat(length.first, "=", length.second); }));
}

/// A number for what a rank holds addends of, below the number of ranks.
inline std::int64_t addend_of(const DrawnCase& drawn, const Mesh& mesh, int rank) {
  const std::vector<int> at = mesh.coordinates(rank);
  std::int64_t addend = 0;
  for (const int axis : drawn.in.addends)
    addend = addend * drawn.mesh[std::size_t(axis)].extent + at[std::size_t(axis)];
  return addend;
}

/// Those that a rank's result is the sum of.
inline std::set<std::int64_t> addends_for(const DrawnCase& drawn, const Mesh& mesh, int rank) {
  const std::vector<int> at = mesh.coordinates(rank);
  std::set<std::int64_t> addends;
  for (int other = 0; other < mesh.ranks(); ++other) {
    const std::vector<int> there = mesh.coordinates(other);
    const auto alike = [&](int axis) { return at[std::size_t(axis)] == there[std::size_t(axis)]; };
    if (std::ranges::all_of(drawn.out.addends, alike)) addends.insert(addend_of(drawn, mesh, other));
  }
  return addends;
}

/// What a rank's local array has before, and the shape of it.
inline Indices values_before(const DrawnCase& drawn, const Mesh& mesh, int rank, Dims& shape) {
  Indices values = Oracle(drawn, mesh.coordinates(rank)).elements(drawn.in, shape);
  for (std::int64_t& value : values) value = value * mesh.ranks() + addend_of(drawn, mesh, rank);
  return values;
}

/// And afterwards.
inline Indices values_after(const DrawnCase& drawn, const Mesh& mesh, int rank, Dims& shape) {
  Indices values = Oracle(drawn, mesh.coordinates(rank)).elements(drawn.out, shape);
  const std::set<std::int64_t> sum_of = addends_for(drawn, mesh, rank);
  for (std::int64_t& value : values)
    value = std::accumulate(sum_of.begin(), sum_of.end(), value * std::int64_t(sum_of.size()) * mesh.ranks());
  return values;
}

/// Gaps between rows, and sometimes the axes in reverse order.
inline View strided(const Dims& shape, Drawer& drawer) {
  View view{.dtype = Dtype::i64, .shape = shape, .strides = contiguous_strides(shape), .offset = drawer.below(3)};
  if (drawer.one_in(3)) view.strides = fortran_strides(shape);
  const std::int64_t gap = drawer.one_in(3) ? 2 : 1;
  for (std::int64_t& stride : view.strides) stride *= gap;
  return view;
}

}  // namespace axisloom::test
