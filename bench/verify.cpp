// The host's checks: all cores walk the move's points in the order of the output.
#include "bench/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace axisloom::bench {
namespace {

/// The tail seen from one row of points, those that differ in the last axis only.
struct RowTail {
  bool active = false;
  i64 base = 0, step = 0, count = 0;
  bool exists(i64 n) const { return !active || base + n * step < count; }
};

RowTail row_tail(const core::Move& move, const std::vector<i64>& index) {
  if (!move.tail) return {};
  const auto last = int(move.axes.size()) - 1;
  const auto& [outer, inner, count, fill] = *move.tail;
  const i64 inner_extent = move.axes[size_t(inner)].extent;
  RowTail row{true, 0, 0, count};
  if (outer == last)
    row.step = inner_extent;
  else
    row.base += index[size_t(outer)] * inner_extent;
  if (inner == last)
    row.step = 1;
  else
    row.base += index[size_t(inner)];
  return row;
}

/// Calls right(from, to, exists) for every point of a move that is written, and counts where it answers false.
template <class Right>
Mistakes count_wrong(Team& team, core::Move move, const Right& right) {
  if (move.axes.empty()) move.axes.push_back({});
  if (move.count() == 0) return {};
  const core::Loop last = move.axes.back();
  const i64 rows = move.count() / last.extent;
  return found_by(team, rows, [&](i64 begin, i64 end, Mistakes& mine) {
    std::vector<i64> index(move.axes.size(), 0);
    for (i64 row = begin; row < end; ++row) {
      i64 rest = row, from = move.in_offset, to = move.out_offset;
      for (size_t d = move.axes.size() - 1; d-- > 0;) {
        const core::Loop& axis = move.axes[d];
        index[d] = rest % axis.extent;
        rest /= axis.extent;
        from += index[d] * axis.in;
        to += index[d] * axis.out;
      }
      const RowTail tail = row_tail(move, index);
      for (i64 n = 0; n < last.extent; ++n) {
        const bool exists = tail.exists(n);
        if (!exists && !move.tail->fill) continue;
        const i64 at = to + n * last.out;
        if (!right(from + n * last.in, at, exists)) mine.note(at);
      }
    }
  });
}

template <size_t bytes>
Mistakes indexed_as(Team& team, const core::Move& move, const Data& data, const std::byte* out) {
  constexpr size_t part = std::min<size_t>(bytes, 8);
  return count_wrong(team, move, [&](i64 from, i64 to, bool exists) {
    for (size_t at = 0; at < bytes; at += part) {
      const auto half = unsigned(at / 8);
      const u64 want = exists ? data.bits(u64(from), half) : 0;
      if (std::memcmp(out + size_t(to) * bytes + at, &want, part) != 0) return false;
    }
    return true;
  });
}

template <size_t bytes>
Mistakes compared_as(Team& team, const core::Move& move, const std::byte* want, const std::byte* out) {
  return count_wrong(team, move, [&](i64, i64 to, bool) {
    const size_t at = size_t(to) * bytes;
    return std::memcmp(want + at, out + at, bytes) == 0;
  });
}

/// Calls the instance of a template for an element size that is known at run time only.
template <class Call>
Mistakes by_size(i64 element, const Call& call) {
  switch (element) {
    case 1:
      return call(std::integral_constant<size_t, 1>());
    case 2:
      return call(std::integral_constant<size_t, 2>());
    case 4:
      return call(std::integral_constant<size_t, 4>());
    case 8:
      return call(std::integral_constant<size_t, 8>());
    default:
      return call(std::integral_constant<size_t, 16>());
  }
}

}  // namespace

Mistakes found_by(Team& team, i64 count, const std::function<void(i64, i64, Mistakes&)>& look) {
  std::vector<Mistakes> found(team.size());
  team.run([&](unsigned member) {
    const auto [begin, end] = team.share(count, member);
    Mistakes mine;
    look(begin, end, mine);
    found[member] = mine;
  });
  Mistakes all;
  for (const Mistakes& part : found) {
    if (all.count == 0) all.first = part.first;
    all.count += part.count;
  }
  return all;
}

std::string to_string(const Mistakes& mistakes) {
  std::string text = fmt::format("{} wrong {}{}", mistakes.count, mistakes.of, mistakes.count == 1 ? "" : "s");
  if (mistakes.first >= 0) text += fmt::format(", the first at element {} of the output", mistakes.first);
  if (!mistakes.why.empty()) text += ": " + mistakes.why;
  return text;
}

core::Move in_output_order(core::Move move) {
  std::vector<int> order(move.axes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto reach = [&](int axis) { return std::abs(move.axes[size_t(axis)].out); };
  std::ranges::stable_sort(order, [&](int a, int b) { return reach(a) > reach(b); });
  core::Move sorted = move;
  for (size_t to = 0; to < order.size(); ++to) {
    sorted.axes[to] = move.axes[size_t(order[to])];
    if (move.tail && move.tail->outer == order[to]) sorted.tail->outer = int(to);
    if (move.tail && move.tail->inner == order[to]) sorted.tail->inner = int(to);
  }
  return sorted;
}

Mistakes indexed_on_host(Team& team, const core::Move& move, const Data& data, const std::byte* out) {
  return by_size(move.element, [&](auto bytes) { return indexed_as<bytes()>(team, move, data, out); });
}

Mistakes compared_on_host(Team& team, const core::Move& move, const std::byte* want, const std::byte* out) {
  return by_size(move.element, [&](auto bytes) { return compared_as<bytes()>(team, move, want, out); });
}

}  // namespace axisloom::bench
