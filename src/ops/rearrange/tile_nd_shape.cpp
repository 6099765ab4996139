// Cuts tiles out of moves: the fastest axes of both sides, and the padding that keeps them out of each other's banks.
#include "ops/rearrange/tile_nd_shape.hpp"

#include "core/integers.hpp"
#include "planner/choose.hpp"

#include <algorithm>
#include <array>
#include <numeric>
#include <set>
#include <utility>

namespace axisloom::ops {
namespace {

constexpr i64 sector = 32;  // bytes that a GPU's memory moves at least

const core::Loop& at(const core::Move& move, int axis) {
  return move.axes[axis];
}
i64 stride_of(const core::Move& move, int axis, bool output) {
  return at(move, axis).*core::side(output);
}
bool among(const std::vector<int>& axes, int axis) {
  return std::find(axes.begin(), axes.end(), axis) != axes.end();
}

/// The axes that one after the other make up what lies side by side on one side, the fastest first.
std::vector<int> chain_of(const core::Move& move, bool output) {
  std::vector<int> chain;
  for (i64 run = 1; chain.size() < most_tile_nd_axes;) {
    int next = -1;
    for (int d = 0; d < int(move.axes.size()); ++d)
      if (stride_of(move, d, output) == run && !among(chain, d) &&
          (next < 0 || at(move, d).extent > at(move, next).extent))
        next = d;
    if (next < 0) break;
    chain.push_back(next);
    run *= at(move, next).extent;
  }
  return chain;
}

/// So many axes of a chain, and a block of the next one.
struct Cut {
  std::size_t whole;
  i64 block;
  auto operator<=>(const Cut&) const = default;
};

/// Runs of about 32 bytes and upward, in steps of a half and a third; blocks of a cut axis are alike, and as far as
/// possible such that all runs begin at a sector.
std::set<Cut> cuts_of(const core::Move& move, const std::vector<int>& chain, i64 most_bytes) {
  std::set<Cut> cuts;
  for (i64 bytes = 32, next = 48; bytes <= most_bytes; bytes = std::exchange(next, 2 * bytes)) {
    i64 run = move.element;
    std::size_t whole = 0;
    while (whole < chain.size() && run * at(move, chain[whole]).extent <= bytes) run *= at(move, chain[whole++]).extent;
    if (whole > 0) cuts.insert({whole, 1});
    const i64 most = bytes / run;
    if (whole == chain.size() || most < 2) continue;
    const i64 extent = at(move, chain[whole]).extent;
    const i64 block = ceil_div(extent, ceil_div(extent, most)), step = sector / std::gcd(sector, run);
    cuts.insert({whole, block});
    if (const i64 even = ceil_div(block, step) * step; even < extent && even * run <= most_bytes)
      cuts.insert({whole, even});
  }
  return cuts;
}

void take(const core::Move& move, const std::vector<int>& chain, const Cut& cut, std::vector<i64>& block) {
  for (std::size_t k = 0; k < cut.whole; ++k) block[chain[k]] = at(move, chain[k]).extent;
  if (cut.whole == chain.size()) return;
  i64& last = block[chain[cut.whole]];
  last = std::max(last, cut.block);
}

/// The axes of a chain along which a tile is contiguous; `cut` becomes the last one if it is cut.
std::vector<int> run_of(const core::Move& move, const std::vector<int>& chain, const std::vector<i64>& block,
                        int& cut) {
  std::vector<int> run;
  for (const int axis : chain) {
    const i64 taken = block[axis];
    if (taken > 1) run.push_back(axis);
    if (taken == at(move, axis).extent) continue;
    if (taken > 1) cut = axis;
    break;
  }
  return run;
}

/// Largest power of two, up to a sector, that divides the byte address of every run's start on one side.
i64 run_alignment(const core::Move& move, const TileNd& tile, bool output) {
  const std::vector<int>& run = output ? tile.out_run : tile.in_run;
  const int cut = output ? tile.cut_out : tile.cut_in;
  i64 align = std::gcd(sector, output ? move.out_align : move.in_align);
  const auto starts_at = [&](i64 elements) { align = std::gcd(align, elements * move.element); };
  starts_at(output ? move.out_offset : move.in_offset);
  for (int d = 0; d < int(move.axes.size()); ++d)
    if (!among(run, d)) starts_at(stride_of(move, d, output));
  if (cut >= 0) starts_at(tile.block[cut] * stride_of(move, cut, output));
  return align;
}

/// Elements of an access: words of `access` bytes where every run begins and ends with one, and has two of them.
i64 vector_of(const core::Move& move, const TileNd& tile, bool output, i64 access) {
  const i64 vector = access / move.element;
  if (vector < 2 || run_alignment(move, tile, output) % access != 0) return 1;
  const i64 run = tile.product(output ? tile.out_run : tile.in_run);
  const int cut = output ? tile.cut_out : tile.cut_in;
  const i64 last = cut < 0 ? run : at(move, cut).extent * (run / tile.block[cut]);
  return run % vector == 0 && last % vector == 0 && run > vector ? vector : 1;
}

/// Cost of a run relative to as many bytes of a long one. Of the sectors at its ends, neighbouring tiles find half in
/// the cache. Warps that touch four lines of 128 bytes are 8% slower on an H100 than on one of 512, and
/// those that touch sixteen sectors half as fast (Dao-AILab/quack, "Global memory coalescing notes").
double overhead_of(const core::Move& move, const TileNd& tile, bool output) {
  const i64 bytes = tile.product(output ? tile.out_run : tile.in_run) * move.element;
  const i64 align = run_alignment(move, tile, output);
  const i64 touched = align == sector ? ceil_div(bytes, sector) * sector : bytes + sector - align;
  constexpr double shortest = 36, missed = 0.5;  // bytes of a run that takes twice its time; share beyond the cache
  const double half = shortest / double(bytes);
  return (1 + half * half) * (1 + missed * double(touched - bytes) / double(bytes));
}

/// Accesses that items make for `runs` runs of `run` accesses each, relative to the fewest possible. Where there are
/// fewer runs than accesses in flight, the last one is taken again.
double iterations_of(i64 run, i64 runs, i64 items, i64 in_flight) {
  const i64 width = tile_nd_width(run, items);
  const i64 iterations = ceil_div(run, width) * ceil_div(runs, items / width * in_flight) * in_flight;
  return double(iterations * items) / double(run * runs);
}

double traffic_of(const core::Move& move, const TileNd& tile) {
  return (overhead_of(move, tile, false) + overhead_of(move, tile, true)) / 2;
}

double cost_of(const core::Move& move, const TileNd& tile, double traffic, i64 items, i64 in_flight) {
  double outside = 1;  // tiles stick out of the array
  for (std::size_t d = 0; d < tile.block.size(); ++d)
    outside *= double(ceil_div(move.axes[d].extent, tile.block[d]) * tile.block[d]) / double(move.axes[d].extent);
  const i64 accesses = tile_nd_in_flight(tile, move.element, in_flight);
  const double loads =
      iterations_of(tile.product(tile.in_run) / tile.vector, tile.product(tile.in_runs), items, accesses);
  const double stores =
      iterations_of(tile.product(tile.out_run) / tile.vector, tile.product(tile.out_runs), items, accesses);
  // Bytes that a card could have copied while it made an access; those that put a word together from smaller elements
  // take longer, and extra iterations cost more than their number, since less is in flight. Fitted to 23 moves on an
  // H200: permutations of f32 and f64 with many axes (2750 to 3565 GB/s), and 3, 4 or 8 channels of i8, f16 and f32
  // from first to last and back (757 to 1789).
  constexpr double load_words = 0.64, store_words = 1.2;  // bytes copied meanwhile, of iterations that are full
  constexpr double full_loads = 2, full_stores = 8;       // iterations that count beside those that are too many
  constexpr double overlap = 4;                           // of the shorter of traffic and passage a quarter shows
  const double load = load_words * loads * (full_loads + loads) / (full_loads + 1);
  const double store =
      store_words * stores * (full_stores + stores) / (full_stores + 1) * (2 + double(tile.vector)) / 3;
  const double passage = outside * (load + store) / double(tile.vector * move.element);
  // What a group does before its first access, in bytes that it could have moved.
  constexpr double beginning = 1536;
  const double bytes = double(tile.elements() * move.element);
  return (std::max(traffic, passage) + std::min(traffic, passage) / overlap) * (1 + beginning / bytes);
}

struct Limits {
  i64 bytes, access, items, in_flight;
};

/// Single elements on one side set the pace.
void settle(const core::Move& move, double traffic, const Limits& limits, TileNd& tile) {
  tile.vector = std::min(vector_of(move, tile, false, limits.access), vector_of(move, tile, true, limits.access));
  tile.cost = cost_of(move, tile, traffic, limits.items, limits.in_flight);
}

/// The tile with the slowest axis of a run numbering shorter runs instead. An axis that is cut must stay the slowest
/// there, and can only be one that both sides cut.
std::optional<TileNd> with_shorter_runs(TileNd tile, bool output) {
  const bool shared = tile.cut_in == tile.cut_out;
  std::vector<int>& run = output ? tile.out_run : tile.in_run;
  std::vector<int>& runs = output ? tile.out_runs : tile.in_runs;
  int& cut = output ? tile.cut_out : tile.cut_in;
  if (run.size() < 2 || runs.size() == most_tile_nd_axes || (run.back() == cut && !shared)) return std::nullopt;
  const int axis = run.back();
  run.pop_back();
  runs.insert(axis == cut ? runs.end() : runs.begin(), axis);
  if (axis == cut) cut = -1;
  if (tile.product(runs) > most_tile_nd_runs) return std::nullopt;
  return tile;
}

/// Items keep several accesses in flight, each of another run, so one long run does not keep them busy: the runs' ends
/// are moved where that costs least. What is contiguous stays so.
void balance(const core::Move& move, double traffic, const Limits& limits, TileNd& tile) {
  for (const bool output : {true, false}) {
    for (auto shorter = with_shorter_runs(tile, output); shorter; shorter = with_shorter_runs(*shorter, output)) {
      settle(move, traffic, limits, *shorter);
      if (shorter->cost < tile.cost) tile = *shorter;
    }
  }
}

/// The tile of two cuts; none where it is too large for local memory or its tables.
std::optional<TileNd> tile_nd_between(const core::Move& move, const std::vector<int>& in_chain, const Cut& in,
                                      const std::vector<int>& out_chain, const Cut& out, const Limits& limits) {
  TileNd tile;
  tile.block.assign(move.axes.size(), 1);
  take(move, in_chain, in, tile.block);
  take(move, out_chain, out, tile.block);
  tile.in_run = run_of(move, in_chain, tile.block, tile.cut_in);
  tile.out_run = run_of(move, out_chain, tile.block, tile.cut_out);
  const auto others = [&](const std::vector<int>& chain, const std::vector<int>& run, std::vector<int>& rest) {
    for (const int axis : chain)
      if (tile.block[axis] > 1 && !among(run, axis)) rest.push_back(axis);
  };
  others(out_chain, tile.in_run, tile.in_runs);
  others(in_chain, tile.out_run, tile.out_runs);
  if (tile.elements() * move.element > limits.bytes || tile.product(tile.in_runs) > most_tile_nd_runs ||
      tile.product(tile.out_runs) > most_tile_nd_runs)
    return std::nullopt;
  const double traffic = traffic_of(move, tile);
  settle(move, traffic, limits, tile);
  balance(move, traffic, limits, tile);
  return tile;
}

/// Rounds of local memory in which `lanes` items read what they store next to each other, from unit `first` on.
double rounds_at(const TileNd& tile, bool rotate, const std::vector<i64>& place_of, i64 element, i64 first, i64 lanes) {
  const i64 banks = element < 4 ? 32 : 128 / element;
  double rounds = 0;
  for (i64 j = 0; j < tile.vector; ++j) {
    std::array<std::array<i64, 32>, 32> words;  // different ones of each bank
    std::array<std::size_t, 32> count{};
    for (i64 lane = 0; lane < lanes; ++lane) {
      const i64 part = (j + (rotate ? lane * tile.vector / 32 : 0)) % tile.vector;
      const auto n = static_cast<std::size_t>((first + lane) * tile.vector + part);
      if (n >= place_of.size()) break;
      const i64 word = element < 4 ? place_of[n] * element / 4 : place_of[n];
      const auto bank = static_cast<std::size_t>(word % banks);
      i64* const end = words[bank].data() + count[bank];
      if (std::find(words[bank].data(), end, word) != end) continue;
      *end = word;
      count[bank] += 1;
    }
    rounds += double(std::max<std::size_t>(1, *std::max_element(count.begin(), count.end())));
  }
  return rounds / double(tile.vector);
}

/// Places of the tile's elements in the output's order.
std::vector<i64> places(const TileNd& tile, const TileNdPadding& padding, i64 most) {
  std::vector<int> axes = tile.out_run;
  axes.insert(axes.end(), tile.out_runs.begin(), tile.out_runs.end());
  std::vector<i64> steps, list;
  for (const int axis : axes) steps.push_back(tile_nd_place(tile, padding, axis));
  for (i64 n = 0; n < std::min(most, tile.elements()); ++n) {
    i64 place = 0, rest = n;
    for (std::size_t k = 0; k < axes.size(); ++k) {
      const i64 extent = tile.block[axes[k]];
      place += rest % extent * steps[k];
      rest /= extent;
    }
    list.push_back(place);
  }
  return list;
}

/// Fills in `rotate` and `rounds`, by the first few warps.
void count_rounds(const TileNd& tile, i64 element, TileNdPadding& padding) {
  const i64 lanes = element < 4 ? 32 : 128 / element;
  constexpr i64 warps = 6;
  const std::vector<i64> place_of = places(tile, padding, warps * lanes * tile.vector);
  const auto rounds = [&](bool rotate) {
    double sum = 0;
    for (i64 warp = 0; warp < warps; ++warp) sum += rounds_at(tile, rotate, place_of, element, warp * lanes, lanes);
    return sum / double(warps);
  };
  padding.rounds = rounds(false);
  if (tile.vector == 1) return;
  const double rotated = rounds(true);
  padding.rotate = rotated < padding.rounds;
  padding.rounds = std::min(padding.rounds, rotated);
}

}  // namespace

i64 TileNd::product(const std::vector<int>& axes) const {
  i64 product = 1;
  for (const int axis : axes) product *= block[axis];
  return product;
}

std::optional<TileNd> tile_nd_of(const core::Move& move, i64 bytes, i64 access, i64 items, i64 in_flight) {
  const std::vector<int> in_chain = chain_of(move, false), out_chain = chain_of(move, true);
  std::optional<TileNd> best;
  const std::set<Cut> in_cuts = cuts_of(move, in_chain, bytes), out_cuts = cuts_of(move, out_chain, bytes);
  for (const Cut& in : in_cuts) {
    for (const Cut& out : out_cuts) {
      std::optional<TileNd> tile =
          tile_nd_between(move, in_chain, in, out_chain, out, {bytes, access, items, in_flight});
      if (tile && (!best || tile->cost < best->cost)) best = std::move(tile);
    }
  }
  return best;
}

i64 tile_nd_width(i64 run, i64 items) {
  return ceil_div(run, ceil_div(run, items));
}

i64 tile_nd_in_flight(const TileNd& tile, i64 element, i64 bytes) {
  if (bytes == 0) bytes = tile.vector > 1 ? 16 : 32;
  return std::max<i64>(1, bytes / std::max<i64>(4, tile.vector * element));
}

TileNdPadding tile_nd_padding(const TileNd& tile, i64 element, i64 room) {
  constexpr double good_rounds = 1.1;  // no reason to look any further
  TileNdPadding best{tile.elements(), 0};
  count_rounds(tile, element, best);
  i64 from = 1;
  for (const int axis : tile.in_run) {
    from *= tile.block[axis];
    if (from % tile.vector != 0 || from <= tile.vector || from == tile.elements()) continue;
    for (i64 pad = tile.vector; pad < 16 * tile.vector && best.rounds > good_rounds; pad += tile.vector) {
      TileNdPadding padding{from, pad};
      if (padding.place(tile.elements() - 1) >= room) break;
      count_rounds(tile, element, padding);
      if (padding.rounds < best.rounds) best = padding;
    }
  }
  return best;
}

i64 tile_nd_place(const TileNd& tile, const TileNdPadding& padding, int axis) {
  i64 step = 1;
  for (const std::vector<int>* const axes : {&tile.in_run, &tile.in_runs}) {
    for (const int d : *axes) {
      if (d == axis) return padding.place(step);
      step *= tile.block[d];
    }
  }
  return 0;
}

}  // namespace axisloom::ops
