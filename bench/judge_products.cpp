// Products of matrices: up to 64 rows and columns are worked out, and everything else shows in sums.
//
//            n                  Of the other elements a judge cannot work out every one, but sums of 64 neighbours with
//        +---+---+---+          signs s are cheap, since C s = A (B s): a wrong element makes its own sum wrong
//      m |###########|  rows    (Freivalds, "Probabilistic machines can use less running time", IFIP 1977).
//        |#          |
//        |# [-++-]   |  sums    Integers are compared exactly, modulo the size of the result. For floats, with all
//        |#          |          elements of A and B between -1 and 1, so that (|A||B|)ij <= k:
//        +---+---+---+            element   2 k u k                promised of every order of additions
//       columns                   sum       8 sqrt(64) sqrt(k) u k roundings are independent: Hoeffding's inequality,
//       with
//                                                                  a chance of 3e-14 to be wrong about a right sum
//                                                                  (Higham and Mary, SIAM J. Sci. Comput. 41, 2019)
//                                 all together: root mean square at most k u. Partial sums of random signs are about
//        sqrt(k) large and k of them are rounded; a product in TF32 or bf16 where f32 was asked for exceeds it.
//      To each the rounding of the stored result is added.
#include "bench/judge.hpp"
#include "bench/judge_on_device.hpp"
#include "bench/workload.hpp"

#include "core/number.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace axisloom::bench {
namespace {

constexpr double certainty = 8;  // standard deviations
constexpr i64 rows_at_once = 4;  // of a thin product, so that each of its packed rows is used so often

/// Up to so many rows: the first, the last, and others spread evenly; from matrix to matrix of a batch one further on.
std::vector<i64> sample(i64 count, i64 most, i64 matrix) {
  const i64 taken = std::min(count, most);
  std::vector<i64> chosen;
  for (i64 i = 0; i < taken; ++i) chosen.push_back((matrix + (taken == 1 ? 0 : i * (count - 1) / (taken - 1))) % count);
  return chosen;
}

/// A sign for each column, which no contestant knows of. For integers they make a sum whose every element counts,
/// modulo any power of 2.
template <class Number>
std::vector<Number> signs_of(i64 columns) {
  std::vector<Number> signs(columns);
  for (i64 j = 0; j < columns; ++j) signs[j] = Number((Data{}.bits(j, 0) & 1) != 0 ? -1 : 1);
  return signs;
}

/// A product whose inputs are hashes. Number: double, or u64 for integers, which count modulo 2^64.
template <class Number>
struct ProductJudge {
  static constexpr bool floats = std::is_floating_point_v<Number>;
  using Numbers = std::vector<Number>;
  /// What one matrix of the result must be, as far as it is known.
  struct Expected {
    Numbers of_rows;     // n x sampled rows
    Numbers of_columns;  // m x sampled columns
    Numbers sums;        // m x groups of sum_width columns
  };

  Workload& workload;
  Product product;
  Where where;
  double roundoff = std::min(core::unit_roundoff(product.in), core::unit_roundoff(Dtype::f32));  // of the additions
  Numbers signs = signs_of<Number>(product.n);
  std::vector<Expected> expected = {};
  const std::byte* out = nullptr;
  double squares = 0, compared = 0;  // of the errors of sampled elements, and how many these are

  Mistakes operator()(const std::byte* result) {
    if (expected.empty())
      for (i64 batch = 0; batch < product.batch; ++batch) expected.push_back(work_out(batch));
    out = result;
    Mistakes elements, sums{.of = "sum", .why = "with signs, of 64 neighbours each"};
    squares = compared = 0;
    for (i64 batch = 0; batch < product.batch; ++batch) {
      const auto& [of_rows, of_columns, of_sums] = expected[batch];
      compare_columns(product, batch, of_columns, elements);
      compare_columns(product.transposed(), batch, of_rows, elements);
      compare_sums(batch, of_sums, sums);
    }
    if (elements.count > 0) return elements;
    return sums.count > 0 ? sums : imprecision();
  }

  Expected work_out(i64 batch) const {
    const auto factor = [&](size_t input, const Matrix& matrix) {
      return HashedMatrix{workload.data(input), WholeNumbers(product.in, fraction_bits("matmul", product.in)),
                          matrix.at(batch, 0, 0), matrix.row, matrix.column};
    };
    const Product transposed = product.transposed();
    const HashedMatrix a = factor(0, product.a), b = factor(1, product.b);
    return {columns_of(transposed, batch, factor(1, transposed.a), factor(0, transposed.b)),
            columns_of(product, batch, a, b), sums_of(a, b)};
  }

  Numbers columns_of(const Product& p, i64 batch, const HashedMatrix& a, const HashedMatrix& b) const {
    const std::vector<i64> columns = sample(p.n, sampled_rows(p), batch);
    Numbers packed;
    for (i64 k = 0; k < p.k; ++k)
      for (i64 column : columns) packed.push_back(b.at<Number>(k, column));
    return thin_product(a, p.m, columns.size(), packed);
  }

  Numbers sums_of(const HashedMatrix& a, const HashedMatrix& b) const {
    const i64 groups = ceil_div(product.n, sum_width);
    Team& team = workload.team();
    Numbers packed(product.k * groups);
    team.run([&](unsigned member) {
      const auto [begin, end] = team.share(product.k, member);
      for (i64 k = begin; k < end; ++k)
        for (i64 j = 0; j < product.n; ++j) packed[k * groups + j / sum_width] += b.at<Number>(k, j) * signs[j];
    });
    return thin_product(a, product.m, groups, packed);
  }

  /// rows x width, from a tall factor and a packed one of k x width.
  Numbers thin_product(const HashedMatrix& tall, i64 rows, i64 width, const Numbers& packed) const {
    Numbers result(rows * width);
    if (where == Where::device) {
      thin_product_on_device(workload, tall, rows, product.k, width, floats ? "f64" : "u64",
                             std::as_bytes(std::span(packed)), std::as_writable_bytes(std::span(result)));
      return result;
    }
    Team& team = workload.team();
    team.run([&](unsigned member) {
      const auto [begin, end] = team.share(ceil_div(rows, rows_at_once), member);
      for (i64 first = begin * rows_at_once; first < std::min(end * rows_at_once, rows); first += rows_at_once)
        for (i64 k = 0; k < product.k; ++k)
          for (i64 row = first; row < std::min(first + rows_at_once, rows); ++row) {
            const Number factor = tall.at<Number>(row, k);
            const Number* const from = packed.data() + k * width;
            Number* const to = result.data() + row * width;
            for (i64 j = 0; j < width; ++j) to[j] += factor * from[j];
          }
    });
    return result;
  }

  Number got(const Matrix& c, i64 batch, i64 row, i64 column) const {
    const size_t size = size_of(product.out);
    const std::byte* const element = out + c.at(batch, row, column) * size;
    if constexpr (floats) return core::number_at(product.out, element);
    Number number = 0;
    std::memcpy(&number, element, size);
    return number;
  }

  /// Whether integers agree in as many bits as the result has.
  bool agree(u64 want, u64 value) const { return (want - value) << (64 - 8 * size_of(product.out)) == 0; }

  bool right_element(Number want, Number value) {
    if constexpr (!floats) return agree(want, value);
    const double k = product.k;
    const double difference = std::fabs(value - want), stored = core::unit_roundoff(product.out) * std::fabs(want);
    squares += std::pow(std::max(0.0, difference - stored), 2);
    compared += 1;
    // The reference itself is rounded k times, which counts where u is that of f64.
    return difference <= (2 * roundoff + core::unit_roundoff(Dtype::f64)) * k * k + stored;
  }

  void compare_columns(const Product& p, i64 batch, const Numbers& want, Mistakes& mistakes) {
    const std::vector<i64> columns = sample(p.n, sampled_rows(p), batch);
    size_t i = 0;
    for (i64 row = 0; row < p.m; ++row)
      for (i64 column : columns)
        if (!right_element(want[i++], got(p.c, batch, row, column))) mistakes.note(p.c.at(batch, row, column));
  }

  void compare_sums(i64 batch, const Numbers& want, Mistakes& mistakes) {
    const i64 groups = ceil_div(product.n, sum_width);
    mistakes.add(found_by(workload.team(), product.m, [&](i64 begin, i64 end, Mistakes& mine) {
      for (i64 row = begin; row < end; ++row)
        for (i64 group = 0; group < groups; ++group)
          if (!right_sum(batch, row, group, want[row * groups + group]))
            mine.note(product.c.at(batch, row, group * sum_width));
    }));
  }

  bool right_sum(i64 batch, i64 row, i64 group, Number want) const {
    Number sum = 0;
    double sum_of_squares = 0;
    for (i64 j = group * sum_width; j < std::min((group + 1) * sum_width, product.n); ++j) {
      const Number element = got(product.c, batch, row, j);
      sum += element * signs[j];
      sum_of_squares += double(element) * element;
    }
    if constexpr (!floats) return agree(want, sum);
    const double k = product.k;
    const double bound = certainty * (std::sqrt(sum_width * k) * roundoff * k +
                                      core::unit_roundoff(product.out) * std::sqrt(sum_of_squares));
    return std::isfinite(sum) && std::fabs(sum - want) <= bound;
  }

  Mistakes imprecision() const {
    const double allowed = roundoff * product.k;
    const double error = compared > 0 ? std::sqrt(squares / compared) : 0;
    if (error <= allowed) return {};
    return {.count = i64(compared),
            .why = fmt::format("the root mean square of their errors is {:.2g}, which is more than k u, {:.2g}", error,
                               allowed)};
  }
};

}  // namespace

std::optional<Judge> make_product_judge(Workload& workload, const Product& product, Where where) {
  const bool floats = core::float_format(product.in) != nullptr;
  if (core::components_of(product.in) != 1 || product.in == Dtype::boolean ||
      floats != (core::float_format(product.out) != nullptr))
    return std::nullopt;
  if (!workload.device().info().f64) where = Where::host;
  if (floats) return Judge{Strength::sampled, ProductJudge<double>{workload, product, where}};
  return Judge{Strength::sampled, ProductJudge<u64>{workload, product, where}};
}

}  // namespace axisloom::bench
