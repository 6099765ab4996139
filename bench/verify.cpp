// The host's checks: all cores walk the move's points in the order of the output.
#include "bench/verify.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdlib>
#include <cstring>
#include <numeric>

namespace axisloom::bench {
namespace {

bool exists(const core::Move& move, const std::vector<i64>& index) {
  if (!move.tail) return true;
  const auto& [outer, inner, count, fill] = *move.tail;
  return index[outer] * move.axes[inner].extent + index[inner] < count;
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
      for (i64 n = 0; n < last.extent; ++n, from += last.in, to += last.out) {
        index.back() = n;
        const bool there = exists(move, index);
        if ((there || move.tail->fill) && !right(from, to, there)) mine.note(to);
      }
    }
  });
}

/// Calls a function with a value of an element's size, which is known at run time only.
template <class Call>
Mistakes by_size(i64 element, const Call& call) {
  if (element == 1) return call(u8());
  if (element == 2) return call(std::uint16_t());
  if (element == 4) return call(u32());
  if (element == 8) return call(u64());
  return call(std::array<u64, 2>());
}

}  // namespace

Mistakes found_by(Team& team, i64 count, const std::function<void(i64, i64, Mistakes&)>& look) {
  std::vector<Mistakes> found(team.size());
  team.run([&](unsigned member) {
    const auto [begin, end] = team.share(count, member);
    look(begin, end, found[member]);
  });
  Mistakes all;
  for (const Mistakes& part : found) all.add(part);
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
  const auto reach = [&](int axis) { return std::abs(move.axes[axis].out); };
  std::ranges::stable_sort(order, std::greater(), reach);
  core::Move sorted = move;
  for (size_t to = 0; to < order.size(); ++to) {
    sorted.axes[to] = move.axes[order[to]];
    if (move.tail && move.tail->outer == order[to]) sorted.tail->outer = to;
    if (move.tail && move.tail->inner == order[to]) sorted.tail->inner = to;
  }
  return sorted;
}

Mistakes indexed_on_host(Team& team, const core::Move& move, const Data& data, const std::byte* out) {
  return by_size(move.element, [&](auto element) {
    return count_wrong(team, move, [&](i64 from, i64 to, bool there) {
      constexpr size_t bytes = sizeof element;
      std::array<u64, 2> want{};
      for (unsigned half = 0; there && half * 8 < bytes; ++half) want[half] = data.bits(from, half);
      return std::memcmp(out + to * bytes, want.data(), bytes) == 0;
    });
  });
}

Mistakes compared_on_host(Team& team, const core::Move& move, const std::byte* want, const std::byte* out) {
  return by_size(move.element, [&](auto element) {
    return count_wrong(team, move, [&](i64, i64 to, bool) {
      const size_t at = to * sizeof element;
      return std::memcmp(want + at, out + at, sizeof element) == 0;
    });
  });
}

}  // namespace axisloom::bench
