// Rows, heads and tails of the runs of a comb.
#include "distributed/unravel.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

namespace axisloom::distributed {
namespace {

/// Finds blocks from the innermost axis on: rows of the outer axes, which may be composed themselves, and columns of
/// the innermost one.
class Unraveller {
 public:
  Unraveller(std::span<const i64> extents, std::span<Comb* const> block, const std::function<void()>& done)
      : extents_(extents), block_(block), done_(done) {}

  /// Blocks of the first so many axes; those of the others are there.
  void add(const Comb& comb, size_t axes) const {
    if (axes == 1) *block_[0] = comb;
    if (axes <= 1) return done_();
    const i64 width = extents_[axes - 1];
    size_t found = 0;
    each_rows(comb, width, [&](const Comb& rows, const Comb& columns) {
      check_parts(++found);
      *block_[axes - 1] = columns;
      add(rows, axes - 1);
    });
  }

 private:
  static void each_rows(const Comb& comb, i64 width, auto&& visit) {
    if (comb.count == 1) return rows_of_run(comb, width, visit);
    if (comb.step < width && width % comb.step == 0) return rows_of_near_runs(comb, width, visit);
    rows_of_far_runs(comb, width, visit);
  }

  /// The head, the whole rows and the tail of one run.
  static void rows_of_run(const Comb& comb, i64 width, auto&& visit) {
    const auto add = [&](i64 row, i64 rows, i64 column, i64 columns) {
      const i64 place = comb.local + (row * width + column - comb.first) * comb.unit;
      visit(Comb{.first = row, .length = rows, .local = place, .unit = width * comb.unit},
            Comb{.first = column, .length = columns, .unit = comb.unit});
    };
    const i64 end = comb.first + comb.length;
    const i64 row = comb.first / width, column = comb.first - row * width;
    if (column + comb.length < width) return add(row, 1, column, comb.length);
    const i64 last = end / width, rest = end - last * width;
    if (column > 0) add(row, 1, column, width - column);
    const i64 whole = row + (column > 0 ? 1 : 0);
    if (whole < last) add(whole, last - whole, 0, width);
    if (rest > 0) add(last, 1, 0, rest);
  }

  /// Every so many runs one begins at the same column: what the first of these has, all have further down.
  static void rows_of_far_runs(const Comb& comb, i64 width, auto&& visit) {
    const i64 period = width / std::gcd(comb.step, width), most = comb.count / period, rest = comb.count % period;
    for (i64 k = 0; k < std::min(period, comb.count); ++k) {
      const Comb first{.first = comb.first + k * comb.step,
                       .length = comb.length,
                       .local = comb.local + k * comb.local_step,
                       .unit = comb.unit};
      rows_of_run(first, width, [&](Comb rows, const Comb& columns) {
        rows.count = most + (k < rest ? 1 : 0);
        if (rows.count > 1) {
          rows.step = period * comb.step / width;
          rows.local_step = period * comb.local_step;
        }
        visit(rows, columns);
      });
    }
  }

  static void rows_of_near_runs(const Comb& comb, i64 width, auto&& visit) {
    // Where runs could go on in the next row, each is cut there, all at the same place.
    const i64 room = comb.step - comb.first % comb.step;
    Comb head = comb;
    head.length = std::min(comb.length, room);
    rows_with_all_runs(head, width, visit);
    if (comb.length <= room) return;
    Comb tail = comb;
    tail.first += room;
    tail.local += room * comb.unit;
    tail.length -= room;
    rows_with_all_runs(tail, width, visit);
  }

  /// The distance of the runs divides the rows, and no run goes on in the next row: every row has runs at the same
  /// columns.
  static void rows_with_all_runs(const Comb& comb, i64 width, auto&& visit) {
    const i64 per_row = width / comb.step;
    const auto add = [&](const Comb& runs, i64 rows) {
      Comb columns = run(runs.first % width, comb.length, 0, comb.unit);
      columns.count = std::min(per_row, runs.count);
      columns.step = comb.step;
      columns.local_step = comb.local_step;
      visit(run(runs.first / width, rows, runs.local, per_row * comb.local_step), columns);
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

  std::span<const i64> extents_;
  std::span<Comb* const> block_;
  const std::function<void()>& done_;
};

}  // namespace

void unravel(const Comb& comb, std::span<const i64> extents, std::span<Comb* const> block,
             const std::function<void()>& done) {
  Unraveller(extents, block, done).add(comb, extents.size());
}

}  // namespace axisloom::distributed
