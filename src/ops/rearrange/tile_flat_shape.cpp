// Lays tiles of tile_flat.kernel out in local memory: runs apart, neighbours of the output out of each other's banks.
#include "ops/rearrange/tile_flat_shape.hpp"

#include "core/integers.hpp"

#include <algorithm>
#include <array>
#include <vector>

namespace axisloom::ops {
namespace {

constexpr i64 word = 4;  // bytes that local memory is written by; larger elements are words

// Operations of an item as counted in SASS for sm_90: of a packet of the input, and where it goes to local memory by
// words; of a packet of the output, of each of its elements, and of one that whole packets leave.
constexpr double in_packet = 45, in_words = 40, out_packet = 60, out_element = 7, end_element = 50;
// More of an element for each axis of a run, where a packet goes on at another row of its fastest axis again and again.
constexpr double axis_operations = 3;
constexpr double operations_a_round = 4;  // that a compute unit starts while local memory serves a warp
constexpr double accesses_beside = 2;     // of an element, to local and global memory beside the one with conflicts

/// Packets that a run touches at most.
i64 packets_of(const Move& move, const TileNd& tile, bool output, i64 access) {
  const i64 run = tile.side(output).run_length * move.element, align = tile_nd_alignment(move, tile, output, access);
  return ceil_div(run + access - align, access);
}

/// The layout with `pad` units more than needed after each run of the input: units of a word, or of a packet.
TileFlat laid_out(const Move& move, const TileNd& tile, const FlatAccess& access, bool by_words, i64 pad) {
  TileFlat flat{.tile = tile, .step = std::vector<i64>(tile.block.size(), 0), .by_words = by_words};
  const i64 whole = std::max(i64{1}, (by_words ? word : access.in) / move.element);  // elements of a unit
  const bool aligned = tile_nd_alignment(move, tile, false, whole * move.element) == whole * move.element;
  i64 length = 1;  // of what the axes so far take
  for (const int axis : tile.in.run) {
    flat.step[axis] = length;
    length *= tile.block[axis];
  }
  // Units hold what is beside a run, too, so no two runs share one.
  length = (aligned ? ceil_div(length, whole) * whole : length + 2 * (whole - 1)) + pad * whole;
  for (const int axis : tile.in.runs) {
    const i64 behind = (move.axes[axis].in - length) % whole;
    length += behind < 0 ? behind + whole : behind;
    flat.step[axis] = length;
    length *= tile.block[axis];
  }
  flat.size = ceil_div(length + whole - 1, whole) * whole;
  flat.in_packets = packets_of(move, tile, false, access.in);
  flat.out_packets = packets_of(move, tile, true, access.out);
  const auto axes = double(tile.out.run.size());
  if (axes > 1 && tile.block[tile.out.run.front()] < access.out / move.element - 1)
    flat.rows = axis_operations * (axes - 1);
  if (tile_nd_alignment(move, tile, true, access.out) < access.out)
    flat.ends = end_element * 2 * double(access.out) / move.element;
  return flat;
}

/// Rounds in which warps read the elements of their packets, for each element of an item.
class Conflicts {
 public:
  Conflicts(const Move& move, i64 access, i64 banks)
      : element_(move.element),
        whole_(std::max(i64{1}, word / element_)),
        words_(std::max(i64{1}, access / (whole_ * element_))),
        lanes_(std::max(i64{1}, std::min(std::min(banks, most_banks), banks * word / element_))),
        places_(size_t(ceil_div(accesses, words_ * whole_) * lanes_ * words_ * whole_)) {}

  /// From now on words lie as here.
  void lay_out(const TileFlat& flat) {
    size_t filled = 1;
    places_[0] = 0;
    for (const auto* axes : {&flat.tile.out.run, &flat.tile.out.runs})
      for (const int axis : *axes) {
        const size_t before = filled, all = std::min(places_.size(), before * size_t(flat.tile.block[axis]));
        for (; filled < all; ++filled) places_[filled] = places_[filled - before] + flat.step[axis];
      }
    filled_ = i64(filled);
  }

  double rounds(i64 turn_shift, i64 rotate_shift, bool rotate) const {
    const i64 warp = lanes_ * words_ * whole_;
    i64 sum = 0, count = 0;
    for (i64 first = 0; first < std::min(filled_, i64(places_.size())); first += warp)
      for (i64 w = 0; w < words_; ++w)
        for (i64 k = 0; k < whole_; ++k, ++count) sum += rounds_at(turn_shift, rotate ? rotate_shift : 31, first, w, k);
    return double(sum) / count;
  }

 private:
  i64 rounds_at(i64 turn_shift, i64 rotate_shift, i64 first, i64 w, i64 k) const {
    std::array<std::array<i64, told_apart>, most_banks> seen;  // words of each bank
    std::array<i64, most_banks> count{};
    i64 most = 1;
    for (i64 lane = 0; lane < lanes_; ++lane) {
      const i64 turned = (w + (lane >> turn_shift)) % words_, part = (k + (lane >> rotate_shift)) % whole_;
      const i64 n = first + (lane * words_ + turned) * whole_ + part;
      if (n >= filled_) continue;
      const i64 at = places_[size_t(n)] * element_ / std::max(word, element_), bank = at % lanes_;
      const auto begin = seen[bank].begin(), end = begin + std::min(count[bank], told_apart);
      if (std::find(begin, end, at) != end) continue;
      if (count[bank] < told_apart) *end = at;
      most = std::max(most, ++count[bank]);
    }
    return most;
  }

  static constexpr i64 most_banks = 64, told_apart = 4, accesses = 16;
  i64 element_, whole_, words_, lanes_, filled_ = 0;
  std::vector<i64> places_;  // of elements in the output's order
};

}  // namespace

double TileFlat::operations() const {
  const double in = (in_packet + by_words * in_words) * double(in_packets) / tile.in.run_length;
  return in + (out_packet * double(out_packets) + ends) / tile.out.run_length + out_element + rows;
}

double TileFlat::passage() const {
  const double local = rounds + accesses_beside, issued = operations() / operations_a_round;
  constexpr double shown = 0.25;  // of the shorter of the two, estimate
  return std::max(local, issued) + shown * std::min(local, issued);
}

TileFlat tile_flat_tight(const Move& move, const TileNd& tile, const FlatAccess& access) {
  return laid_out(move, tile, access, true, 0);
}

std::optional<TileFlat> tile_flat_layout(const Move& move, const TileNd& tile, const FlatAccess& access, i64 room,
                                         i64 banks) {
  constexpr i64 most_pad = 6;          // units
  constexpr double good_rounds = 1.2;  // no reason to look any further
  Conflicts conflicts(move, access.out, banks);
  std::optional<TileFlat> best;
  const i64 turns = access.out / std::max(word, move.element);  // words of a packet
  // Conflicts that hide behind operations are as good as none.
  const auto is_good = [&] {
    return best &&
           (best->rounds <= good_rounds || best->rounds + accesses_beside <= best->operations() / operations_a_round);
  };
  const auto consider = [&](TileFlat flat) {
    conflicts.lay_out(flat);
    for (const bool rotate : {false, true})
      for (flat.turn_shift = 0; flat.turn_shift < (turns > 1 ? 4 : 1); ++flat.turn_shift)
        for (flat.rotate_shift = rotate ? 0 : 3; flat.rotate_shift < 4; flat.rotate_shift += 3) {
          if (rotate && move.element >= word) return;
          flat.rotate = rotate;
          flat.rounds = conflicts.rounds(flat.turn_shift, flat.rotate_shift, rotate);
          if (best && flat.passage() >= best->passage()) continue;
          best = flat;
          if (flat.rounds <= good_rounds) return;
        }
  };
  TileNd split = tile;
  do {
    for (const bool by_words : {false, true}) {
      if (by_words && access.in <= std::max(word, move.element)) break;
      for (i64 pad = 0; pad <= most_pad && !(pad > 0 && split.in.runs.empty()); ++pad) {
        const TileFlat flat = laid_out(move, split, access, by_words, pad);
        if (flat.size > room) break;
        consider(flat);
        if (is_good()) return best;
      }
    }
  } while (tile_nd_shorten(split, false));
  return best;
}

}  // namespace axisloom::ops
