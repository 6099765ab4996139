// Cuts tiles out of moves: the fastest axes of both sides, and the padding that keeps them out of each other's banks.
#include "ops/rearrange/tile_nd_shape.hpp"

#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/rearrange/candidate.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <set>
#include <utility>

namespace axisloom::ops {
namespace {

/// So many axes of a chain, and a block of the next one.
struct Cut {
  size_t whole;
  i64 block;
  auto operator<=>(const Cut&) const = default;
};

/// The axes that one after the other make up what lies side by side on one side, the fastest first.
struct Chain {
  std::vector<int> axes;
  std::vector<i64> starts;  // of runs along so many of them: a number that a power of two divides if it divides the
                            // byte address of every run's start
  std::vector<Cut> cuts;    // in ascending order
};

constexpr i64 packet = 16;  // bytes of the widest access

std::vector<int> chain_axes(const Move& move, bool output) {
  std::vector<int> chain;
  for (i64 run = 1; chain.size() < most_tile_nd_axes; run *= move.axes[chain.back()].extent) {
    const int next = longest_axis(move, output, run);
    if (next < 0 || core::contains(chain, next)) break;
    chain.push_back(next);
  }
  return chain;
}

/// Runs of about 32 bytes and upward, in steps of a half and a third; blocks of a cut axis are alike, and as far as
/// possible such that all runs begin at a sector.
std::vector<Cut> cuts_of(const Move& move, const std::vector<int>& chain, i64 most_bytes, i64 sector, bool flat) {
  std::set<Cut> cuts;
  const auto extent = [&](size_t k) { return move.axes[chain[k]].extent; };
  for (i64 bytes = 32, next = 48; bytes <= most_bytes; bytes = std::exchange(next, 2 * bytes)) {
    i64 run = move.element;
    size_t whole = 0;
    while (whole < chain.size() && run * extent(whole) <= bytes) run *= extent(whole++);
    if (whole > 0) cuts.insert({whole, 1});
    const i64 most = bytes / run;
    if (whole == chain.size() || most < 2) continue;
    const i64 block = ceil_div(extent(whole), ceil_div(extent(whole), most));
    cuts.insert({whole, block});
    for (const i64 unit : {sector, packet}) {  // a packet, where sectors are out of reach
      const i64 step = unit / std::gcd(unit, run), up = ceil_div(block, step) * step,
                even = up * run <= most_bytes || !flat ? up : block / step * step;
      if (even >= 2 && even < extent(whole) && even * run <= most_bytes) {
        cuts.insert({whole, even});
        break;
      }
      if (!flat) break;
    }
  }
  return {cuts.begin(), cuts.end()};
}

Chain chain_of(const Move& move, bool output, i64 most_bytes, i64 sector, bool flat) {
  const std::vector<int> axes = chain_axes(move, output);
  const i64 start =
      output ? move.out_align | move.out_offset * move.element : move.in_align | move.in_offset * move.element;
  Chain chain{axes, std::vector(axes.size() + 1, start), cuts_of(move, axes, most_bytes, sector, flat)};
  for (int d = 0; d < int(move.axes.size()); ++d) {
    const auto along = std::ranges::find(axes, d) - axes.begin();  // runs go along it if they have more
    for (i64 n = 0; n <= along; ++n) chain.starts[n] |= move.axes[d].*core::side(output) * move.element;
  }
  return chain;
}

struct Limits {
  i64 bytes, access, items, in_flight, sector;
  bool flat = false;  // for tile_flat.kernel: runs are as long as can be, and there are no tables
};

/// Tries the tiles of all pairs of cuts. What it works with is kept from pair to pair, so that it allocates little.
class Search {
 public:
  Search(const Move& move, const Limits& limits) : move_(move), limits_(limits) {}

  std::optional<TileNd> best() {
    // Larger cuts take at least as much of every axis, so tiles with as many elements are the same, and
    // the blocks for a cut of the output only grow to those for the next one.
    std::vector<i64> above(out_.cuts.size());
    for (const Cut& in : in_.cuts) {
      tile_.block.assign(move_.axes.size(), 1);
      elements_ = 1;
      take(in_.axes, in);
      i64 before = 0;
      for (size_t o = 0; o < out_.cuts.size(); before = above[o++]) {
        take(out_.axes, out_.cuts[o]);
        if (elements_ * move_.element > limits_.bytes) break;
        const i64 known = std::exchange(above[o], elements_);
        if (elements_ != before && elements_ != known) consider();
      }
    }
    return std::move(best_);
  }

 private:
  i64 extent(int axis) const { return move_.axes[axis].extent; }

  void take(const std::vector<int>& axes, const Cut& cut) {
    for (size_t k = 0; k < std::min(cut.whole + 1, axes.size()); ++k) {
      i64& now = tile_.block[axes[k]];
      const i64 block = std::max(now, k < cut.whole ? extent(axes[k]) : cut.block);
      elements_ = elements_ / std::exchange(now, block) * block;
    }
  }

  /// The tile of the blocks, unless its runs are too many for its tables or it cannot be better than the best.
  void consider() {
    set_run(in_, tile_.in);
    set_run(out_, tile_.out);
    if (limits_.flat) return consider_flat();
    if (tile_.in.count > most_tile_nd_runs || tile_.out.count > most_tile_nd_runs) return;
    traffic_ = (overhead(false) + overhead(true)) / 2;
    outside_ = sticking_out(tile_.in.cut) * (tile_.in.cut == tile_.out.cut ? 1 : sticking_out(tile_.out.cut));
    tile_.vector = vector();
    // Shorter runs have accesses that are no larger, and nobody makes fewer than all.
    if (best_ && cost_of(tile_.vector, 1, 1) >= best_->cost) return;
    set_runs(out_, tile_.in);
    set_runs(in_, tile_.out);
    settle();
    balance();
    if (!best_ || tile_.cost < best_->cost) best_ = tile_;
  }

  void consider_flat() {
    traffic_ = (overhead(false) + overhead(true)) / 2;
    outside_ = sticking_out(tile_.in.cut) * (tile_.in.cut == tile_.out.cut ? 1 : sticking_out(tile_.out.cut));
    // Items beyond the array have nothing to do, and what a group does before its first access is as for tile_nd.
    constexpr double idle = 0.25, beginning = 1536;
    // Packets that begin anywhere take half as many operations more.
    constexpr double anywhere = 0.02;
    const int sides = (alignment(false) < packet) + (alignment(true) < packet);
    const double begun = 1 + outside_ * beginning / (elements_ * move_.element);
    tile_.cost = traffic_ * (1 + idle * (outside_ - 1)) * (1 + anywhere * sides) * begun;
    if (best_ && tile_.cost >= best_->cost) return;
    set_runs(out_, tile_.in);
    set_runs(in_, tile_.out);
    best_ = tile_;
  }

  void set_run(const Chain& own, TileNd::Side& s) {
    s.run.clear();
    s.cut = -1;
    s.run_length = 1;
    for (const int axis : own.axes) {
      const i64 taken = tile_.block[axis];
      if (taken == 1) break;
      s.run.push_back(axis);
      s.run_length *= taken;
      if (taken == extent(axis)) continue;
      s.cut = axis;
      break;
    }
    s.count = elements_ / s.run_length;
  }

  void set_runs(const Chain& other, TileNd::Side& s) {
    s.runs.clear();
    for (const int axis : other.axes)
      if (tile_.block[axis] > 1 && !core::contains(s.run, axis)) s.runs.push_back(axis);
  }

  /// Largest power of two, up to a sector, that divides the byte address of every run's start on one side.
  i64 alignment(bool output) const {
    const TileNd::Side& s = tile_.side(output);
    i64 starts = limits_.sector | (output ? out_ : in_).starts[s.run.size()];
    if (s.cut >= 0) starts |= tile_.block[s.cut] * (move_.axes[s.cut].*core::side(output)) * move_.element;
    return starts & -starts;
  }

  /// Elements of an access: words where every run begins and ends with one, and has two of them. Single elements on one
  /// side set the pace.
  i64 vector() const {
    const i64 vector = limits_.access / move_.element;
    if (vector < 2) return 1;
    for (const bool output : {false, true}) {
      const TileNd::Side& s = tile_.side(output);
      const i64 run = s.run_length, last = s.cut < 0 ? run : extent(s.cut) * (run / tile_.block[s.cut]);
      if (alignment(output) % limits_.access != 0 || run % vector != 0 || last % vector != 0 || run <= vector) return 1;
    }
    return vector;
  }

  /// Cost of a run relative to as many bytes of a long one. Of the sectors at its ends, neighbouring tiles find half in
  /// the cache; a run of less than a sector costs as much as a whole one (8 of 32 bytes each, of 103 MB, took an H200
  /// 58 us). Warps that touch four lines of 128 bytes are 8% slower on an H100 than on one of 512, and those that touch
  /// sixteen sectors half as fast (Dao-AILab/quack, "Global memory coalescing notes"). Runs of which each sector holds
  /// one are a stream: 4, 5 and 8 of 32 channels took an H200 44, 42 and 48 us by "tile_flat".
  double overhead(bool output) const {
    const i64 sector = limits_.sector, align = alignment(output);
    const i64 run = tile_.side(output).run_length * move_.element, bytes = std::max(run, sector);
    const i64 touched = align == sector ? ceil_div(bytes, sector) * sector : bytes + sector - align;
    constexpr double shortest = 36, missed = 0.5;  // bytes of a run that takes twice its time; share beyond the cache
    constexpr i64 streamed = 64;                   // bytes of a run that costs as much as one of a stream
    const double half = shortest / (is_stream(output) ? std::max(bytes, streamed) : bytes);
    return (1 + half * half) * (bytes + missed * (touched - bytes)) / run;
  }

  /// Whether the next run begins in the same or the next sector.
  bool is_stream(bool output) const {
    if (!limits_.flat) return false;  // tables and short runs wait longer than memory does
    const TileNd::Side& s = tile_.side(output);
    for (size_t d = 0; d < move_.axes.size(); ++d) {
      const i64 step = std::abs(move_.axes[d].*core::side(output)) * move_.element;
      if (tile_.block[d] > 1 && step <= limits_.sector && !core::contains(s.run, int(d))) return true;
    }
    return false;
  }

  /// Indices of the tiles along an axis that is cut, relative to those of the array.
  double sticking_out(int axis) const {
    return axis < 0 ? 1 : in_blocks(extent(axis), tile_.block[axis]) / extent(axis);
  }

  /// `loads`, `stores`: iterations, relative to the fewest possible.
  double cost_of(i64 vector, double loads, double stores) const {
    // Bytes that a card could have copied while it made an access; those that put a word together from smaller elements
    // take longer, and extra iterations cost more than their number, since less is in flight. Fitted on an H200 to
    // permutations of f32 and f64 with many axes (2750 to 3565 GB/s), to 3, 4 or 8 channels of i8, f16 and f32 from
    // first to last and back (757 to 1789), and to layouts of 32 to 512 channels of i8 and f16 (1960 to 3050).
    constexpr double load_words = 0.64, store_words = 1.2;  // bytes copied meanwhile, of iterations that are full
    constexpr double full_loads = 2, full_stores = 8;       // iterations that count beside those that are too many
    constexpr double overlap = 4;  // of the shorter of traffic and passage a quarter shows, of a short passage less
    const double load = load_words * loads * (full_loads + loads) / (full_loads + 1);
    const double store = store_words * stores * (full_stores + stores) / (full_stores + 1) * (1 + 3 * vector) / 4;
    const double passage = outside_ * (load + store) / (vector * move_.element);
    // What a group does before its first access, in bytes that it could have moved.
    constexpr double beginning = 1536;
    const double bytes = elements_ * move_.element;
    const bool hides = limits_.items > 1 && passage < traffic_;  // a CPU's single item does one after the other
    const double shown = hides ? passage * passage / traffic_ : std::min(traffic_, passage);
    return (std::max(traffic_, passage) + shown / overlap) * (1 + beginning / bytes);
  }

  /// Accesses that items make for the runs of a side, relative to the fewest possible. Where there are fewer runs than
  /// accesses in flight, the last one is taken again.
  double iterations(const TileNd::Side& s) const {
    const i64 run = s.run_length / tile_.vector, items = limits_.items, width = tile_nd_width(run, items);
    const i64 in_flight = tile_nd_in_flight(tile_, move_.element, limits_.in_flight);
    const i64 all = ceil_div(run, width) * ceil_div(s.count, items / width * in_flight) * in_flight;
    return double(all * items) / (run * s.count);
  }

  void settle() {
    tile_.vector = vector();
    tile_.cost = cost_of(tile_.vector, iterations(tile_.in), iterations(tile_.out));
  }

  /// Items keep several accesses in flight, each of another run, so one long run does not keep them busy: the runs'
  /// ends are moved where that costs least. What is contiguous stays so.
  void balance() {
    for (const bool output : {true, false}) {
      const TileNd::Side& s = tile_.side(output);
      for (balanced_ = tile_; tile_nd_shorten(tile_, output) && s.count <= most_tile_nd_runs;) {
        settle();
        if (tile_.cost < balanced_.cost) balanced_ = tile_;
      }
      tile_ = balanced_;
    }
  }

  const Move& move_;
  const Limits limits_;
  const Chain in_ = chain_of(move_, false, limits_.bytes, limits_.sector, limits_.flat);
  const Chain out_ = chain_of(move_, true, limits_.bytes, limits_.sector, limits_.flat);
  TileNd tile_, balanced_;
  i64 elements_ = 1;                  // of the tile
  double traffic_ = 1, outside_ = 1;  // its cost if nothing but memory counted; how far tiles stick out of the array
  std::optional<TileNd> best_;
};

/// Places without padding of the first `most` elements in the output's order.
std::vector<i64> places_of(const TileNd& tile, size_t most) {
  std::vector<i64> places{0};
  for (const auto* axes : {&tile.out.run, &tile.out.runs})
    for (const int axis : *axes) {
      const size_t before = places.size(), all = std::min(most, before * size_t(tile.block[axis]));
      const i64 step = tile_nd_place(tile, {}, axis);
      for (size_t n = 0; before + n < all; ++n) places.push_back(places[n] + step);
    }
  return places;
}

constexpr i64 most_banks = 64;  // of any device's profile, with room

/// Counts the rounds in which the first few warps read from local memory what they store: a bank gives one word in
/// each.
class Conflicts {
 public:
  Conflicts(const TileNd& tile, i64 element, i64 room, i64 banks)
      : banks_(std::min(banks, most_banks)),
        vector_(tile.vector),
        shift_(std::max(0, 2 - std::countr_zero(u64(element)))),
        lanes_(std::max<i64>(1, std::min(banks_, 4 * banks_ / element))),
        places_(places_of(tile, warps * lanes_ * vector_)),
        left_out_(places_.size()),
        read_in_(size_t(1 + (room >> shift_))) {}

  /// From now on paddings come after so many elements.
  void pad_from(i64 from) {
    std::ranges::transform(places_, left_out_.begin(), [from](i64 place) { return place / from; });
  }

  /// The rounds of all accesses, for each element of one; not counted to the end where they are no fewer than `enough`.
  i64 rounds(i64 pad, bool rotate, i64 enough) {
    i64 sum = warps * vector_;
    for (i64 first = 0; first < warps * lanes_; first += lanes_)
      for (i64 j = 0; j < vector_ && sum < enough; ++j) sum += rounds_at(pad, rotate, first, j) - 1;
    return sum;
  }
  double per_access(i64 rounds) const { return double(rounds) / (warps * vector_); }

 private:
  /// Of element `j` of a warp's accesses.
  i64 rounds_at(i64 pad, bool rotate, i64 first, i64 j) {
    std::array<u8, most_banks> count{};  // different words of each bank
    u8 most = 1;
    ++step_;
    for (i64 lane = 0; lane < lanes_; ++lane) {
      const i64 part = rotate ? (j + lane * vector_ / banks_) & (vector_ - 1) : j;
      const auto n = size_t((first + lane) * vector_ + part);
      if (n >= places_.size()) break;
      const i64 word = (places_[n] + left_out_[n] * pad) >> shift_;
      if (std::exchange(read_in_[word], step_) != step_) most = std::max(most, ++count[word & (lanes_ - 1)]);
    }
    return most;
  }

  static constexpr i64 warps = 6;
  i64 banks_;                           // of 4 bytes
  i64 vector_;                          // elements of an access
  int shift_;                           // from elements to words
  i64 lanes_;                           // items that read at a time
  std::vector<i64> places_, left_out_;  // of elements, without padding, and how often it comes before
  u32 step_ = 0;
  std::vector<u32> read_in_;  // in which step each word was read last
};

}  // namespace

std::optional<TileNd> tile_nd_of(const Move& move, i64 bytes, i64 access, i64 items, i64 in_flight, i64 sector) {
  return Search(move, {bytes, access, items, in_flight, sector}).best();
}

std::optional<TileNd> tile_flat_of(const Move& move, i64 bytes, i64 sector) {
  return Search(move, {.bytes = bytes, .access = 1, .items = 1, .in_flight = 1, .sector = sector, .flat = true}).best();
}

bool tile_nd_shorten(TileNd& tile, bool output) {
  const bool shared = tile.in.cut == tile.out.cut;
  TileNd::Side& s = tile.side(output);
  if (s.run.size() < 2 || s.runs.size() == most_tile_nd_axes || (s.run.back() == s.cut && !shared)) return false;
  const int axis = s.run.back();
  s.run.pop_back();
  s.runs.insert(axis == s.cut ? s.runs.end() : s.runs.begin(), axis);
  if (axis == s.cut) s.cut = -1;
  s.run_length /= tile.block[axis];
  s.count *= tile.block[axis];
  return true;
}

i64 tile_nd_alignment(const Move& move, const TileNd& tile, bool output, i64 limit) {
  const TileNd::Side& s = tile.side(output);
  const auto step = [&](size_t d) { return move.axes[d].*core::side(output) * move.element; };
  i64 starts = limit | (output ? move.out_align | move.out_offset * move.element
                               : move.in_align | move.in_offset * move.element);
  for (size_t d = 0; d < move.axes.size(); ++d) {
    if (!core::contains(s.run, int(d)))
      starts |= step(d);
    else if (tile.block[d] < move.axes[d].extent)
      starts |= step(d) * tile.block[d];
  }
  return starts & -starts;
}

i64 tile_nd_width(i64 run, i64 items) {
  return ceil_div(run, ceil_div(run, items));
}

i64 tile_nd_in_flight(const TileNd& tile, i64 element, i64 bytes) {
  if (bytes == 0) bytes = tile.vector > 1 ? 16 : 32;
  return std::max<i64>(1, bytes / std::max<i64>(4, tile.vector * element));
}

TileNdPadding tile_nd_padding(const TileNd& tile, i64 element, i64 room, i64 banks) {
  constexpr double good_rounds = 1.1;  // no reason to look any further
  Conflicts conflicts(tile, element, room, banks);
  TileNdPadding best;
  i64 fewest = std::numeric_limits<i64>::max();
  const auto consider = [&](const TileNdPadding& padding) {
    for (const bool rotate : {false, true}) {
      if (rotate && tile.vector == 1) break;
      const i64 rounds = conflicts.rounds(padding.pad, rotate, fewest);
      if (rounds >= fewest) continue;
      fewest = rounds;
      best = {padding.from, padding.pad, rotate, conflicts.per_access(rounds)};
    }
  };
  consider({tile.elements(), 0});
  i64 from = 1;
  for (const int axis : tile.in.run) {
    from *= tile.block[axis];
    if (from % tile.vector != 0 || from <= tile.vector || from == tile.elements()) continue;
    conflicts.pad_from(from);
    for (i64 pad = tile.vector; pad < 16 * tile.vector && best.rounds > good_rounds; pad += tile.vector) {
      const TileNdPadding padding{from, pad};
      if (padding.place(tile.elements() - 1) >= room) break;
      consider(padding);
    }
  }
  return best;
}

i64 tile_nd_place(const TileNd& tile, const TileNdPadding& padding, int axis) {
  i64 step = 1;
  for (const auto* axes : {&tile.in.run, &tile.in.runs})
    for (const int d : *axes) {
      if (d == axis) return padding.place(step);
      step *= tile.block[d];
    }
  return 0;
}

}  // namespace axisloom::ops
