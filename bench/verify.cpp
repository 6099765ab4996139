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
struct RowGuard {
  bool active = false;
  std::int64_t base = 0, step = 0, count = 0;
  bool exists(std::int64_t n) const { return !active || base + n * step < count; }
};

RowGuard row_tail(const core::Move& move, const std::vector<std::int64_t>& index) {
  if (!move.tail) return {};
  const auto last = static_cast<int>(move.axes.size()) - 1;
  const auto& [outer, inner, count, fill] = *move.tail;
  const std::int64_t inner_extent = move.axes[static_cast<std::size_t>(inner)].extent;
  RowGuard row{true, 0, 0, count};
  if (outer == last)
    row.step = inner_extent;
  else
    row.base += index[static_cast<std::size_t>(outer)] * inner_extent;
  if (inner == last)
    row.step = 1;
  else
    row.base += index[static_cast<std::size_t>(inner)];
  return row;
}

/// Calls right(from, to, exists) for every point of a move that is written, and counts where it answers false.
template <class Right>
Mistakes count_wrong(Team& team, core::Move move, const Right& right) {
  if (move.axes.empty()) move.axes.push_back({});
  if (move.count() == 0) return {};
  const core::Loop last = move.axes.back();
  const std::int64_t rows = move.count() / last.extent;
  std::vector<Mistakes> found(team.size());
  team.run([&](unsigned member) {
    Mistakes mine;
    const auto [begin, end] = team.share(rows, member);
    std::vector<std::int64_t> index(move.axes.size(), 0);
    for (std::int64_t row = begin; row < end; ++row) {
      std::int64_t rest = row, from = move.in_offset, to = move.out_offset;
      for (std::size_t d = move.axes.size() - 1; d-- > 0;) {
        const core::Loop& axis = move.axes[d];
        index[d] = rest % axis.extent;
        rest /= axis.extent;
        from += index[d] * axis.in;
        to += index[d] * axis.out;
      }
      const RowGuard tail = row_tail(move, index);
      for (std::int64_t n = 0; n < last.extent; ++n) {
        const bool exists = tail.exists(n);
        if (!exists && !move.tail->fill) continue;
        const std::int64_t at = to + n * last.out;
        if (right(from + n * last.in, at, exists)) continue;
        if (mine.count++ == 0) mine.first = at;
      }
    }
    found[member] = mine;
  });
  Mistakes all;
  for (const Mistakes& part : found) {
    if (all.count == 0) all.first = part.first;
    all.count += part.count;
  }
  return all;
}

template <std::size_t bytes>
Mistakes indexed_as(Team& team, const core::Move& move, const Data& data, const std::byte* out) {
  constexpr std::size_t part = std::min<std::size_t>(bytes, 8);
  return count_wrong(team, move, [&](std::int64_t from, std::int64_t to, bool exists) {
    for (std::size_t at = 0; at < bytes; at += part) {
      const auto half = static_cast<unsigned>(at / 8);
      const std::uint64_t want = exists ? data.bits(static_cast<std::uint64_t>(from), half) : 0;
      if (std::memcmp(out + static_cast<std::size_t>(to) * bytes + at, &want, part) != 0) return false;
    }
    return true;
  });
}

template <std::size_t bytes>
Mistakes compared_as(Team& team, const core::Move& move, const std::byte* want, const std::byte* out) {
  return count_wrong(team, move, [&](std::int64_t, std::int64_t to, bool) {
    const std::size_t at = static_cast<std::size_t>(to) * bytes;
    return std::memcmp(want + at, out + at, bytes) == 0;
  });
}

/// Calls the instance of a template for an element size that is known at run time only.
template <class Call>
Mistakes by_size(std::int64_t element, const Call& call) {
  switch (element) {
    case 1:
      return call(std::integral_constant<std::size_t, 1>());
    case 2:
      return call(std::integral_constant<std::size_t, 2>());
    case 4:
      return call(std::integral_constant<std::size_t, 4>());
    case 8:
      return call(std::integral_constant<std::size_t, 8>());
    default:
      return call(std::integral_constant<std::size_t, 16>());
  }
}

}  // namespace

std::string to_string(const Mistakes& mistakes) {
  std::string text = fmt::format("{} wrong {}{}", mistakes.count, mistakes.of, mistakes.count == 1 ? "" : "s");
  if (mistakes.first >= 0) text += fmt::format(", the first at element {} of the output", mistakes.first);
  if (!mistakes.why.empty()) text += ": " + mistakes.why;
  return text;
}

core::Move in_output_order(core::Move move) {
  std::vector<int> order(move.axes.size());
  std::iota(order.begin(), order.end(), 0);
  const auto reach = [&](int axis) { return std::abs(move.axes[static_cast<std::size_t>(axis)].out); };
  std::stable_sort(order.begin(), order.end(), [&](int a, int b) { return reach(a) > reach(b); });
  core::Move sorted = move;
  for (std::size_t to = 0; to < order.size(); ++to) {
    sorted.axes[to] = move.axes[static_cast<std::size_t>(order[to])];
    if (move.tail && move.tail->outer == order[to]) sorted.tail->outer = static_cast<int>(to);
    if (move.tail && move.tail->inner == order[to]) sorted.tail->inner = static_cast<int>(to);
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
