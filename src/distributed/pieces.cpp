// Where messages are cut, and the boxes of a piece.
#include "distributed/pieces.hpp"

#include "core/checked.hpp"

#include <algorithm>

namespace axisloom::distributed {
namespace {

/// A part of a row more than its share that a piece may have, so that it begins at the start of a row.
constexpr i64 row_share = 4;

/// Elements of the message for each step of a loop.
i64 elements_within(const TransferBox& box, size_t loop) {
  i64 elements = 1;
  for (size_t i = loop + 1; i < box.loops.size(); ++i)
    if (box.loops[i].from_axis >= 0) elements *= box.loops[i].extent;
  return elements;
}

/// The longest row of a box with no more elements than that.
i64 row_of(const TransferBox& box, i64 most) {
  i64 row = 1;
  for (size_t i = box.loops.size(); i-- > 0 && elements_within(box, i) <= most;) row = elements_within(box, i);
  return row;
}

/// Where the piece of a round begins.
i64 begin_of(const Transfer& whole, i64 round, i64 rounds) {
  const auto share = i64(core::Wide(whole.elements) * round / rounds);
  const i64 most = ceil_div(whole.elements, rounds) / row_share;
  i64 before = 0;
  for (const TransferBox& box : whole.boxes) {
    const i64 elements = box.elements();
    if (share < before + elements) {
      const i64 row = row_of(box, most);
      return before + (share - before) / row * row;
    }
    before += elements;
  }
  return share;
}

/// The box with a loop cut down to some of its steps; a single one is no loop any more.
TransferBox narrowed(TransferBox box, size_t loop, i64 first, i64 steps) {
  TransferLoop& cut = box.loops[loop];
  box.from[cut.from_axis] += first * cut.from;
  box.to[cut.to_axis] += first * cut.to;
  cut.extent = steps;
  if (steps == 1) box.loops.erase(box.loops.begin() + std::ptrdiff_t(loop));
  return box;
}

/// The elements from `begin` to `end`, as they are counted from loop `loop` inwards: the loops before are whole.
void add_range(const TransferBox& box, size_t loop, i64 begin, i64 end, std::vector<TransferBox>& found) {
  while (loop < box.loops.size() && box.loops[loop].from_axis < 0) ++loop;
  if (begin == end) return;
  if (loop == box.loops.size()) {
    found.push_back(box);
    return;
  }
  const i64 row = elements_within(box, loop), first = begin / row, last = end / row;
  // A loop of one step is gone, and the next one stands in its place.
  const auto within = [&](i64 step, i64 from, i64 to) {
    add_range(narrowed(box, loop, step, 1), loop, from, to, found);
  };
  if (first == last) return within(first, begin - first * row, end - first * row);
  const i64 whole = ceil_div(begin, row);
  if (whole > first) within(first, begin - first * row, row);
  if (last > whole) found.push_back(narrowed(box, loop, whole, last - whole));
  if (end > last * row) within(last, 0, end - last * row);
}

}  // namespace

i64 most_elements(i64 elements, i64 rounds) {
  const i64 share = ceil_div(elements, rounds);
  return rounds == 1 ? share : share + share / row_share;
}

Transfer piece_of(const Transfer& whole, i64 round, i64 rounds) {
  const i64 begin = begin_of(whole, round, rounds), end = begin_of(whole, round + 1, rounds);
  Transfer piece{.from = whole.from, .to = whole.to, .elements = end - begin, .boxes = {}};
  i64 before = 0;
  for (const TransferBox& box : whole.boxes) {
    const i64 elements = box.elements();
    const i64 first = std::max(begin - before, i64{0}), last = std::min(end - before, elements);
    if (first < last) add_range(box, 0, first, last, piece.boxes);
    before += elements;
  }
  return piece;
}

}  // namespace axisloom::distributed
