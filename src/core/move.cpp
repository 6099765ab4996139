// The normal form of moves, and what can be proved about their offsets.
#include "core/move.hpp"

#include "core/checked.hpp"
#include "core/text.hpp"

#include <algorithm>
#include <array>

namespace axisloom::core {
namespace {

constexpr const char* move_offset = "an element offset of a move";
constexpr const char* move_count = "the number of elements of a move";

void check(const Move& move) {
  for (const Loop& axis : move.axes)
    if (axis.extent < 0) throw Error(Errc::shape, concat("a move has the negative extent ", axis.extent));
  if (!move.tail) return;
  const auto exists = [&move](int index) { return index >= 0 && index < int(move.axes.size()); };
  if (!exists(move.tail->outer) || !exists(move.tail->inner) || move.tail->outer == move.tail->inner)
    throw Error(Errc::shape, "the tail of a move does not name two of its axes");
}

/// The loops that the tail says nothing about.
Loops free_loops(const Move& move) {
  return move.tail ? without(move.axes, move.tail->outer, move.tail->inner) : move.axes;
}

/// The indices (outer, inner) of a tail that exist: `full` whole rows, then `rest` elements of one more row.
struct Existing {
  i64 full = 0;
  i64 rest = 0;
  i64 row = 0;
  i64 count() const { return full * row + rest; }
};

Existing existing(const Move& move) {
  const i64 outer = move.axes[move.tail->outer].extent, inner = move.axes[move.tail->inner].extent;
  const i64 count = std::clamp<i64>(move.tail->count, 0, checked_mul(outer, inner, move_count));
  if (inner == 0) return {};
  return {count / inner, count % inner, inner};
}

/// Without `fill`, what the tail leaves out is not touched at all, so whole rows of it can go.
void shorten_tail_axis(Move& move) {
  const Existing exist = existing(move);
  Loop &outer = move.axes[move.tail->outer], &inner = move.axes[move.tail->inner];
  if (!move.tail->fill) {
    outer.extent = exist.full + (exist.rest > 0 ? 1 : 0);
    if (outer.extent == 1) inner.extent = exist.count();
  }
  if (outer.extent == 0 || inner.extent == 0 || exist.count() >= outer.extent * inner.extent) move.tail.reset();
}

/// Offsets of the indices that a tail leaves, from `start`: the corners of its whole rows and of its last row.
Bounds tail_axis_bounds(const Move& move, Operand operand, i64 start) {
  const Existing exist = existing(move);
  Loop outer = move.axes[move.tail->outer], inner = move.axes[move.tail->inner];
  const i64 last_row = checked_add(start, checked_mul(exist.full, outer.*operand, move_offset), move_offset);
  outer.extent = exist.full;
  const Bounds rows = reach(std::array{outer, inner}, operand, start);
  inner.extent = exist.rest;
  const Bounds last = reach(std::array{inner}, operand, last_row);
  if (exist.full == 0) return last;
  return exist.rest == 0 ? rows : Bounds{std::min(rows.low, last.low), std::max(rows.high, last.high)};
}

/// Bounds on one side; with `only_existing`, without what the tail leaves out.
Bounds bounds_of(const Move& move, Operand operand, i64 offset, bool only_existing) {
  check(move);
  const bool tail = only_existing && move.tail;
  if (move.count() == 0 || (tail && existing(move).count() == 0)) return {offset, offset};
  Bounds bounds = reach(tail ? free_loops(move) : move.axes, operand, offset);
  if (tail) {
    const Bounds pair = tail_axis_bounds(move, operand, 0);
    bounds = {checked_add(bounds.low, pair.low, move_offset), checked_add(bounds.high, pair.high, move_offset)};
  }
  return {bounds.low, checked_add(bounds.high, 1, move_offset)};
}

/// Number of different pairs (outer, inner) that are read through a tail, where a stride of 0 repeats an element.
i64 pairs_read(const Move& move) {
  const Existing exist = existing(move);
  const bool rows_differ = move.axes[move.tail->outer].in != 0;
  const bool columns_differ = move.axes[move.tail->inner].in != 0;
  if (exist.count() == 0 || (rows_differ && columns_differ)) return exist.count();
  if (rows_differ) return exist.full + (exist.rest > 0 ? 1 : 0);
  if (columns_differ) return exist.full > 0 ? exist.row : exist.rest;
  return 1;
}

i64 elements_read(const Move& move) {
  const i64 read = checked_mul(move.tail ? pairs_read(move) : 1, distinct(free_loops(move), &Loop::in), move_count);
  // Windows that slide over each other read an element again, from the cache.
  const Bounds bounds = in_bounds(move);
  return std::min(read, bounds.high - bounds.low);
}

/// Puts the tail's loops where they belong by their steps.
void insert_tail_axis(Move& move, const Loop& outer, const Loop& inner) {
  ChannelTail& tail = *move.tail;
  Loops& axes = move.axes;
  axes.push_back(outer);
  axes.push_back(inner);
  order_by_output(axes);
  tail.outer = int(std::ranges::find(axes, outer) - axes.begin());
  tail.inner = int(std::find(axes.rbegin(), axes.rend(), inner).base() - axes.begin()) - 1;
}

/// Complex elements of a side that is aligned to their parts alone become an axis of two parts.
void split_askew_elements(Move& move) {
  if (move.element <= std::min(move.in_align, move.out_align)) return;
  constexpr i64 parts = 2;
  const auto scale = [](i64& number) { number = checked_mul(number, parts, move_offset); };
  move.element /= parts;
  scale(move.in_offset);
  scale(move.out_offset);
  for (Loop& axis : move.axes) {
    scale(axis.in);
    scale(axis.out);
  }
  move.axes.push_back({.extent = parts, .in = 1, .out = 1});
}

}  // namespace

i64 Move::bytes_moved() const {
  check(*this);
  const i64 all = count();
  if (all == 0) return 0;
  i64 written = all;
  if (tail && !tail->fill)
    written = all / (axes[tail->outer].extent * axes[tail->inner].extent) * existing(*this).count();
  const i64 elements = checked_add(elements_read(*this), written, "the number of bytes moved");
  return checked_mul(elements, element, "the number of bytes moved");
}

Move normalise(const Move& move) {
  check(move);
  Move result = move;
  split_askew_elements(result);
  if (result.tail && result.count() != 0) shorten_tail_axis(result);
  if (result.count() == 0) {
    result.axes = {{.extent = 0}};
    result.tail.reset();
    return result;
  }
  const Loops all = result.axes;
  result.axes = free_loops(result);
  drop_single_steps(result.axes);
  for (Loop& axis : result.axes)
    if (axis.out < 0) reverse_loop(axis, result.in_offset, result.out_offset);
  merge(result.axes);
  order_by_output(result.axes);
  if (result.tail) insert_tail_axis(result, all[result.tail->outer], all[result.tail->inner]);
  return result;
}

Bounds in_bounds(const Move& move) {
  return bounds_of(move, &Loop::in, move.in_offset, true);
}

Bounds out_bounds(const Move& move) {
  return bounds_of(move, &Loop::out, move.out_offset, move.tail && !move.tail->fill);
}

i64 proven_alignment(const Move& move, bool output, int fastest, i64 limit) {
  const Start start = output ? Start{move.out_offset, move.out_align} : Start{move.in_offset, move.in_align};
  return proven_alignment(without(move.axes, fastest), side(output), start, move.element, limit);
}

bool fits_32_bits(const Move& move) {
  return move.count() == 0 ||
         (fits_32_bits(move.count()) && (!move.tail || fits_32_bits(move.tail->count)) &&
          fits_32_bits(move.axes, &Loop::in, move.in_offset) && fits_32_bits(move.axes, &Loop::out, move.out_offset));
}

std::string to_string(const Move& move) {
  std::string text = move.axes.empty() ? "1" : joined(move.axes, "x", &Loop::extent);
  text += concat(" of ", move.element, move.element == 1 ? " byte" : " bytes");
  text += ", in {" + joined(move.axes, ",", &Loop::in) + "}" + offset_text(move.in_offset);
  text += ", out {" + joined(move.axes, ",", &Loop::out) + "}" + offset_text(move.out_offset);
  if (move.tail)
    text += concat(", axes ", move.tail->outer, " and ", move.tail->inner, " to ", move.tail->count,
                   move.tail->fill ? ", the rest zero" : ", the rest left out");
  return text;
}

}  // namespace axisloom::core
