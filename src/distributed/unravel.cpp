// Rows, heads and tails of the runs of a comb.
#include "distributed/unravel.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace axisloom::distributed {
namespace {

/// Rows of the outer axes, which may be composed themselves, and columns of the innermost one.
struct Rows {
  Comb rows, columns;
};

/// The first run and each that is a multiple of `runs` behind it.
Comb every_so_many(const Comb& comb, i64 runs) {
  Comb part = comb;
  part.count = (comb.count - 1) / runs + 1;
  if (part.count > 1) {
    part.step *= runs;
    part.local_step *= runs;
  }
  return part;
}

/// The head, the whole rows and the tail of one run.
std::vector<Rows> rows_of_run(const Comb& comb, i64 width) {
  std::vector<Rows> found;
  const auto add = [&](i64 row, i64 rows, i64 column, i64 columns) {
    const i64 place = comb.local + (row * width + column - comb.first) * comb.unit;
    found.push_back({run(row, rows, place, width * comb.unit), run(column, columns, 0, comb.unit)});
  };
  const i64 end = comb.first + comb.length;
  const i64 row = comb.first / width, column = comb.first % width, last = end / width, rest = end % width;
  if (row == last) {
    add(row, 1, column, comb.length);
    return found;
  }
  if (column > 0) add(row, 1, column, width - column);
  const i64 whole = row + (column > 0 ? 1 : 0);
  if (whole < last) add(whole, last - whole, 0, width);
  if (rest > 0) add(last, 1, 0, rest);
  return found;
}

/// Rows divide the distance of the runs: what the first run has, all have further down.
std::vector<Rows> rows_of_far_runs(const Comb& comb, i64 width) {
  std::vector<Rows> found = rows_of_run(first_runs(comb, 1), width);
  if (comb.count == 1) return found;
  for (Rows& part : found) {
    part.rows.count = comb.count;
    part.rows.step = comb.step / width;
    part.rows.local_step = comb.local_step;
  }
  return found;
}

/// The distance of the runs divides the rows, and no run goes on in the next row: every row has runs at the same
/// columns.
void add_rows_of_near_runs(const Comb& comb, i64 width, std::vector<Rows>& found) {
  const i64 per_row = width / comb.step;
  const auto add = [&](const Comb& runs, i64 rows) {
    Comb columns = run(runs.first % width, comb.length, 0, comb.unit);
    columns.count = std::min(per_row, runs.count);
    columns.step = comb.step;
    columns.local_step = comb.local_step;
    found.push_back({run(runs.first / width, rows, runs.local, per_row * comb.local_step), columns});
  };
  Comb rest = comb;
  const i64 head = std::min(rest.count, per_row - comb.first % width / comb.step);
  if (head < per_row) {
    add(first_runs(rest, head), 1);
    rest = without_runs(rest, head);
  }
  const i64 rows = rest.count / per_row;
  if (rows > 0) add(first_runs(rest, rows * per_row), rows);
  rest = without_runs(rest, rows * per_row);
  if (rest.count > 0) add(rest, 1);
}

std::vector<Rows> rows_of_near_runs(const Comb& comb, i64 width) {
  std::vector<Rows> found;
  // Where runs could go on in the next row, each is cut there, all at the same place.
  const i64 room = comb.step - comb.first % comb.step;
  Comb head = comb;
  head.length = std::min(comb.length, room);
  add_rows_of_near_runs(head, width, found);
  if (comb.length > room) {
    Comb tail = comb;
    tail.first += room;
    tail.local += room * comb.unit;
    tail.length -= room;
    add_rows_of_near_runs(tail, width, found);
  }
  return found;
}

std::vector<Rows> rows_of(const Comb& comb, i64 width) {
  if (comb.count == 1) return rows_of_run(comb, width);
  if (comb.step < width && width % comb.step == 0) return rows_of_near_runs(comb, width);
  // Every so many runs one begins at the same column.
  const i64 period = width / std::gcd(comb.step, width);
  std::vector<Rows> found;
  for (i64 k = 0; k < std::min(period, comb.count); ++k) {
    const std::vector<Rows> same_columns = rows_of_far_runs(every_so_many(without_runs(comb, k), period), width);
    found.insert(found.end(), same_columns.begin(), same_columns.end());
    check_parts(found.size());
  }
  return found;
}

}  // namespace

std::vector<Block> unravel(const Comb& comb, std::span<const i64> extents) {
  if (extents.size() == 1) return {{comb}};
  std::vector<Block> blocks;
  if (extents.empty()) {
    blocks.emplace_back();
    return blocks;
  }
  for (const Rows& part : rows_of(comb, extents.back()))
    for (Block& block : unravel(part.rows, extents.first(extents.size() - 1))) {
      block.push_back(part.columns);
      blocks.push_back(std::move(block));
    }
  return blocks;
}

}  // namespace axisloom::distributed
