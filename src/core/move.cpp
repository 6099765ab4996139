// The normal form of moves, and what can be proved about their offsets.
#include "core/move.hpp"

#include <algorithm>
#include <bit>
#include <limits>
#include <utility>

#include "core/checked.hpp"

namespace axisloom::core {
namespace {

constexpr const char* offset_name = "an element offset of a move";

enum class Role { plain, guard_outer, guard_inner };

struct Loop {
  MoveAxis axis;
  Role role = Role::plain;
};

MoveAxis& guarded(Move& move, int index) {
  return move.axes[static_cast<std::size_t>(index)];
}
const MoveAxis& guarded(const Move& move, int index) {
  return move.axes[static_cast<std::size_t>(index)];
}

void check(const Move& move) {
  for (const MoveAxis& axis : move.axes)
    if (axis.extent < 0) throw Error(Errc::usage, "a move has the negative extent " + std::to_string(axis.extent));
  if (!move.guard) return;
  const auto exists = [&move](int index) { return index >= 0 && static_cast<std::size_t>(index) < move.axes.size(); };
  if (!exists(move.guard->outer) || !exists(move.guard->inner) || move.guard->outer == move.guard->inner)
    throw Error(Errc::usage, "the guard of a move does not name two of its axes");
}

/// The indices (outer, inner) of a guard that exist: `full` whole rows, then `rest` elements of one more row.
struct Existing {
  std::int64_t full = 0;
  std::int64_t rest = 0;
  std::int64_t row = 0;
  std::int64_t count() const { return full * row + rest; }
};

Existing existing(const Move& move) {
  const std::int64_t outer = guarded(move, move.guard->outer).extent;
  const std::int64_t inner = guarded(move, move.guard->inner).extent;
  const std::int64_t all = checked_mul(outer, inner, "the number of elements of a move");
  const std::int64_t count = std::clamp<std::int64_t>(move.guard->count, 0, all);
  if (inner == 0) return {};
  return {count / inner, count % inner, inner};
}

/// Without `fill`, what the guard leaves out is not touched at all, so whole rows of it can go.
void shorten_guarded(Move& move) {
  const Existing exist = existing(move);
  MoveAxis& outer = guarded(move, move.guard->outer);
  MoveAxis& inner = guarded(move, move.guard->inner);
  if (!move.guard->fill) {
    outer.extent = exist.full + (exist.rest > 0 ? 1 : 0);
    if (outer.extent == 1) inner.extent = exist.count();
  }
  if (outer.extent == 0 || inner.extent == 0 || exist.count() >= outer.extent * inner.extent) move.guard.reset();
}

void turn_round(Move& move, Loop& loop) {
  MoveAxis& axis = loop.axis;
  if (loop.role != Role::plain || axis.out_stride >= 0) return;
  const std::int64_t last = axis.extent - 1;
  for (auto [offset, stride] : {std::pair{&move.in_offset, &axis.in_stride}, {&move.out_offset, &axis.out_stride}}) {
    *offset = checked_add(*offset, checked_mul(last, *stride, offset_name), offset_name);
    *stride = checked_mul(*stride, -1, offset_name);
  }
}

bool continues(std::int64_t outer_stride, std::int64_t inner_stride, std::int64_t inner_extent) {
  std::int64_t run;
  return !__builtin_mul_overflow(inner_stride, inner_extent, &run) && run == outer_stride;
}

bool mergeable(const Loop& outer, const Loop& inner) {
  return outer.role == Role::plain && inner.role == Role::plain &&
         continues(outer.axis.in_stride, inner.axis.in_stride, inner.axis.extent) &&
         continues(outer.axis.out_stride, inner.axis.out_stride, inner.axis.extent);
}

// All pairs, not only neighbours: an output whose axes interleave can have another stride between the two.
bool merge_one_pair(std::vector<Loop>& loops) {
  for (std::size_t i = 0; i < loops.size(); ++i) {
    for (std::size_t k = 0; k < loops.size(); ++k) {
      if (i == k || !mergeable(loops[i], loops[k])) continue;
      loops[k].axis.extent =
          checked_mul(loops[i].axis.extent, loops[k].axis.extent, "the number of elements of a move");
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
  }
  return false;
}

std::uint64_t magnitude(std::int64_t value) {
  return value < 0 ? 0 - static_cast<std::uint64_t>(value) : static_cast<std::uint64_t>(value);
}

bool slower(const Loop& a, const Loop& b) {
  const auto key = [](const Loop& loop) {
    return std::pair(magnitude(loop.axis.out_stride), magnitude(loop.axis.in_stride));
  };
  return key(a) > key(b);
}

std::vector<Loop> loops_of(const Move& move) {
  std::vector<Loop> loops;
  for (std::size_t i = 0; i < move.axes.size(); ++i) {
    Role role = Role::plain;
    if (move.guard && move.guard->outer == static_cast<int>(i)) role = Role::guard_outer;
    if (move.guard && move.guard->inner == static_cast<int>(i)) role = Role::guard_inner;
    if (role != Role::plain || move.axes[i].extent != 1) loops.push_back({move.axes[i], role});
  }
  return loops;
}

void put_back(Move& move, const std::vector<Loop>& loops) {
  move.axes.clear();
  for (const Loop& loop : loops) {
    const int index = static_cast<int>(move.axes.size());
    if (loop.role == Role::guard_outer) move.guard->outer = index;
    if (loop.role == Role::guard_inner) move.guard->inner = index;
    move.axes.push_back(loop.axis);
  }
}

void extend(Bounds& bounds, std::int64_t steps, std::int64_t stride) {
  const std::int64_t reach = checked_mul(steps, stride, offset_name);
  std::int64_t& side = reach < 0 ? bounds.low : bounds.high;
  side = checked_add(side, reach, offset_name);
}

using Stride = std::int64_t MoveAxis::*;

/// Offsets of the indices that a guard leaves, relative to (0, 0): the corners of its whole rows and of its last row.
Bounds guarded_bounds(const Move& move, Stride stride) {
  const Existing exist = existing(move);
  const std::int64_t outer = guarded(move, move.guard->outer).*stride;
  const std::int64_t inner = guarded(move, move.guard->inner).*stride;
  Bounds bounds{0, 0};
  if (exist.full > 0) {
    extend(bounds, exist.full - 1, outer);
    extend(bounds, exist.row - 1, inner);
  }
  if (exist.rest > 0) {
    const std::int64_t start = checked_mul(exist.full, outer, offset_name);
    Bounds last{start, start};
    extend(last, exist.rest - 1, inner);
    bounds = {std::min(bounds.low, last.low), std::max(bounds.high, last.high)};
  }
  return bounds;
}

/// Bounds on one side; with `only_existing`, without what the guard leaves out.
Bounds bounds_of(const Move& move, Stride stride, std::int64_t offset, bool only_existing) {
  check(move);
  const bool guard = only_existing && move.guard.has_value();
  if (move.count() == 0 || (guard && existing(move).count() == 0)) return {offset, offset};
  Bounds bounds{offset, checked_add(offset, 1, offset_name)};
  if (guard) {
    const Bounds pair = guarded_bounds(move, stride);
    bounds.low = checked_add(bounds.low, pair.low, offset_name);
    bounds.high = checked_add(bounds.high, pair.high, offset_name);
  }
  for (std::size_t i = 0; i < move.axes.size(); ++i) {
    const int index = static_cast<int>(i);
    if (guard && (index == move.guard->outer || index == move.guard->inner)) continue;
    extend(bounds, move.axes[i].extent - 1, move.axes[i].*stride);
  }
  return bounds;
}

/// Number of different pairs (outer, inner) that are read through a guard, where a stride of 0 repeats an element.
std::int64_t pairs_read(const Move& move) {
  const Existing exist = existing(move);
  const bool rows_differ = guarded(move, move.guard->outer).in_stride != 0;
  const bool columns_differ = guarded(move, move.guard->inner).in_stride != 0;
  if (exist.count() == 0 || (rows_differ && columns_differ)) return exist.count();
  if (rows_differ) return exist.full + (exist.rest > 0 ? 1 : 0);
  if (columns_differ) return exist.full > 0 ? exist.row : exist.rest;
  return 1;
}

std::int64_t elements_read(const Move& move) {
  std::int64_t read = move.guard ? pairs_read(move) : 1;
  for (std::size_t i = 0; i < move.axes.size(); ++i) {
    const bool in_guard =
        move.guard && (static_cast<int>(i) == move.guard->outer || static_cast<int>(i) == move.guard->inner);
    if (in_guard || move.axes[i].in_stride == 0) continue;
    read = checked_mul(read, move.axes[i].extent, "the number of elements of a move");
  }
  // Windows that slide over each other read an element again, from the cache.
  const Bounds bounds = in_bounds(move);
  return std::min(read, bounds.high - bounds.low);
}

/// The least number of all is left to kernels: it stands for no place.
bool fits(std::int64_t value) {
  return value > std::numeric_limits<std::int32_t>::min() && value <= std::numeric_limits<std::int32_t>::max();
}

/// Offsets, and their partial sums from 0 in any order (a kernel adds the start of a buffer last).
bool offsets_fit(const Move& move, Stride stride, std::int64_t offset) {
  const Bounds absolute = bounds_of(move, stride, offset, false);
  const Bounds relative = bounds_of(move, stride, 0, false);
  return fits(absolute.low) && fits(absolute.high - 1) && fits(relative.low) && fits(relative.high - 1);
}

template <class Range, class Text>
std::string joined(const Range& range, const char* separator, const Text& text) {
  std::string result;
  for (const auto& item : range) result += (result.empty() ? "" : separator) + text(item);
  return result;
}

std::string signed_offset(std::int64_t offset) {
  if (offset == 0) return "";
  return (offset > 0 ? "+" : "") + std::to_string(offset);
}

}  // namespace

std::int64_t Move::count() const {
  if (std::any_of(axes.begin(), axes.end(), [](const MoveAxis& axis) { return axis.extent == 0; })) return 0;
  std::int64_t product = 1;
  for (const MoveAxis& axis : axes) product = checked_mul(product, axis.extent, "the number of elements of a move");
  return product;
}

std::int64_t Move::bytes_moved() const {
  check(*this);
  const std::int64_t all = count();
  if (all == 0) return 0;
  std::int64_t written = all;
  if (guard && !guard->fill) {
    const Existing exist = existing(*this);
    written = all / (guarded(*this, guard->outer).extent * guarded(*this, guard->inner).extent) * exist.count();
  }
  const std::int64_t elements = checked_add(elements_read(*this), written, "the number of bytes moved");
  return checked_mul(elements, element, "the number of bytes moved");
}

Move normalise(const Move& move) {
  check(move);
  Move result = move;
  if (result.guard && result.count() != 0) shorten_guarded(result);
  if (result.count() == 0) {
    result.axes = {MoveAxis{.extent = 0}};
    result.guard.reset();
    return result;
  }
  std::vector<Loop> loops = loops_of(result);
  for (Loop& loop : loops) turn_round(result, loop);
  while (merge_one_pair(loops)) {
  }
  std::stable_sort(loops.begin(), loops.end(), slower);
  put_back(result, loops);
  return result;
}

Bounds in_bounds(const Move& move) {
  return bounds_of(move, &MoveAxis::in_stride, move.in_offset, true);
}

Bounds out_bounds(const Move& move) {
  return bounds_of(move, &MoveAxis::out_stride, move.out_offset, move.guard && !move.guard->fill);
}

std::int64_t proven_alignment(const Move& move, bool output, int fastest, std::int64_t limit) {
  // Of the sum of several multiples, the fewest trailing zero bits are certain.
  const auto zeros = [](std::int64_t value) {
    return value == 0 ? 62 : std::countr_zero(static_cast<std::uint64_t>(value));
  };
  const int element = zeros(move.element);
  int certain = std::min(zeros(output ? move.out_align : move.in_align),
                         zeros(output ? move.out_offset : move.in_offset) + element);
  for (std::size_t i = 0; i < move.axes.size(); ++i) {
    const MoveAxis& axis = move.axes[i];
    if (static_cast<int>(i) == fastest || axis.extent <= 1) continue;
    certain = std::min(certain, zeros(output ? axis.out_stride : axis.in_stride) + element);
  }
  const int allowed = std::bit_width(static_cast<std::uint64_t>(std::max<std::int64_t>(limit, 1))) - 1;
  return std::int64_t{1} << std::min(certain, allowed);
}

bool fits_32_bits(const Move& move) {
  constexpr std::int64_t slack = 1 << 20;  // the last group's items count on past the end by less than this
  const std::int64_t all = move.count();
  if (all == 0) return true;
  const auto strides_fit = [](const MoveAxis& axis) { return fits(axis.in_stride) && fits(axis.out_stride); };
  return fits(all) && fits(all + slack) && (!move.guard || fits(move.guard->count)) &&
         std::all_of(move.axes.begin(), move.axes.end(), strides_fit) &&
         offsets_fit(move, &MoveAxis::in_stride, move.in_offset) &&
         offsets_fit(move, &MoveAxis::out_stride, move.out_offset);
}

std::string to_string(const Move& move) {
  const auto number = [](Stride member) {
    return [member](const MoveAxis& axis) { return std::to_string(axis.*member); };
  };
  std::string text = move.axes.empty() ? "1" : joined(move.axes, "x", number(&MoveAxis::extent));
  text += " of " + std::to_string(move.element) + (move.element == 1 ? " byte" : " bytes");
  text += ", in {" + joined(move.axes, ",", number(&MoveAxis::in_stride)) + "}" + signed_offset(move.in_offset);
  text += ", out {" + joined(move.axes, ",", number(&MoveAxis::out_stride)) + "}" + signed_offset(move.out_offset);
  if (move.guard)
    text += ", axes " + std::to_string(move.guard->outer) + " and " + std::to_string(move.guard->inner) + " to " +
            std::to_string(move.guard->count) + (move.guard->fill ? ", the rest zero" : ", the rest left out");
  return text;
}

}  // namespace axisloom::core
