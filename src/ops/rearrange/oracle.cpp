// The oracle of every move. It is meant to be obviously right: it knows no merging, no tiles and no widths.
#include "ops/rearrange/oracle.hpp"

#include "core/integers.hpp"

#include <cstring>

namespace axisloom::ops {
namespace {

// Steps the last axis first; false after the last index.
bool next(const Move& move, std::vector<i64>& index) {
  for (size_t d = index.size(); d-- > 0;) {
    if (++index[d] < move.axes[d].extent) return true;
    index[d] = 0;
  }
  return false;
}

}  // namespace

void move_on_host(const Move& move, const std::byte* in, std::byte* out) {
  if (move.count() == 0) return;
  const auto& tail = move.tail;
  std::vector<i64> index(move.axes.size());
  do {
    i64 from = move.in_offset, to = move.out_offset;
    for (size_t d = 0; d < index.size(); ++d) {
      from += index[d] * move.axes[d].in;
      to += index[d] * move.axes[d].out;
    }
    std::byte* const target = out + to * move.element;
    if (!tail || index[tail->outer] * move.axes[tail->inner].extent + index[tail->inner] < tail->count) {
      std::memcpy(target, in + from * move.element, move.element);
    } else if (tail->fill) {
      std::memset(target, 0, move.element);
    }
  } while (next(move, index));
}

}  // namespace axisloom::ops
