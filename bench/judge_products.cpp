// Products of matrices: 64 rows and columns are worked out, and everything else shows in sums.
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
#include <type_traits>

namespace axisloom::bench {
namespace {

constexpr i64 sum_width = 64;    // elements of a sum with signs
constexpr double certainty = 8;  // standard deviations
constexpr i64 rows_at_once = 4;  // of a thin product, so that each of its packed rows is used so often

/// Rows that are worked out: the first, the last, and others spread evenly.
std::vector<i64> sample(i64 count) {
  const i64 taken = std::min(count, sampled_rows);
  std::vector<i64> chosen;
  for (i64 i = 0; i < taken; ++i) chosen.push_back(taken == 1 ? 0 : i * (count - 1) / (taken - 1));
  return chosen;
}

/// rows x width, from a tall factor given as element(row, k) and a packed one of k x width.
template <class Number, class Element>
std::vector<Number> thin_product_on_host(Team& team, i64 rows, i64 k, i64 width, const std::vector<Number>& packed,
                                         const Element& element) {
  std::vector<Number> result(size_t(rows * width));
  team.run([&](unsigned member) {
    const auto [begin, end] = team.share(ceil_div(rows, rows_at_once), member);
    for (i64 first = begin * rows_at_once; first < std::min(end * rows_at_once, rows); first += rows_at_once)
      for (i64 kk = 0; kk < k; ++kk)
        for (i64 row = first; row < std::min(first + rows_at_once, rows); ++row) {
          const Number factor = element(row, kk);
          const Number* const from = packed.data() + kk * width;
          Number* const to = result.data() + row * width;
          for (i64 j = 0; j < width; ++j) to[j] += factor * from[j];
        }
  });
  return result;
}

/// Elements of an input as numbers to compute with, from their hashes.
template <class Number>
class Elements {
 public:
  Elements(const Data& data, Dtype dtype, const Matrix& matrix, i64 batch)
      : data_(data), whole_(dtype, fraction_bits("matmul", dtype)), matrix_(matrix), batch_(batch) {}
  HashedMatrix where() const { return {data_, whole_, matrix_.at(batch_, 0, 0), matrix_.row, matrix_.column}; }
  Number operator()(i64 row, i64 column) const {
    const auto position = u64(matrix_.at(batch_, row, column));
    const i64 number = whole_(data_.bits(position, 0));
    if constexpr (std::is_floating_point_v<Number>)
      return double(number) * whole_.unit;
    else
      return static_cast<Number>(number);
  }

 private:
  const Data& data_;
  WholeNumbers whole_;
  Matrix matrix_;
  i64 batch_;
};

/// Who works out thin products.
struct Helper {
  Workload& workload;
  Where where;

  template <class Number>
  std::vector<Number> thin_product(i64 rows, i64 k, i64 width, const std::vector<Number>& packed,
                                   const Elements<Number>& element) const {
    if (where == Where::host || !workload.device().info().f64)
      return thin_product_on_host(workload.team(), rows, k, width, packed, element);
    return thin_product_on_device(workload.device(), workload.queue(), element.where(), rows, k, width, packed);
  }
};

/// Signs that no contestant knows of. For integers they make a sum whose every element counts, modulo any power of 2.
double sign_of(i64 column) {
  return (Data{}.bits(u64(column), 0) & 1) != 0 ? -1 : 1;
}

/// What one matrix of the result must be, as far as it is known.
template <class Number>
struct Expected {
  std::vector<i64> rows, columns;
  std::vector<Number> of_rows;     // n x rows
  std::vector<Number> of_columns;  // m x columns
  std::vector<Number> sums;        // m x groups of sum_width columns
};

template <class Number>
std::vector<Number> columns_of(const Product& p, const Elements<Number>& a, const Elements<Number>& b,
                               const std::vector<i64>& columns, const Helper& helper) {
  const auto width = i64(columns.size());
  std::vector<Number> packed;
  for (i64 kk = 0; kk < p.k; ++kk)
    for (i64 column : columns) packed.push_back(b(kk, column));
  return helper.thin_product(p.m, p.k, width, packed, a);
}

template <class Number>
std::vector<Number> sums_of(const Product& p, const Elements<Number>& a, const Elements<Number>& b,
                            const Helper& helper) {
  const i64 groups = ceil_div(p.n, sum_width);
  Team& team = helper.workload.team();
  std::vector<Number> packed(size_t(p.k * groups));
  team.run([&](unsigned member) {
    const auto [begin, end] = team.share(p.k, member);
    for (i64 kk = begin; kk < end; ++kk)
      for (i64 j = 0; j < p.n; ++j)
        packed[size_t(kk * groups + j / sum_width)] += b(kk, j) * static_cast<Number>(i64(sign_of(j)));
  });
  return helper.thin_product(p.m, p.k, groups, packed, a);
}

/// A product whose inputs are hashes. Number: double, or u64 for integers, which count modulo 2^64.
template <class Number>
class ProductJudge final : public Judge {
 public:
  ProductJudge(Workload& workload, const Product& product, Where where)
      : workload_(workload), helper_{workload, where}, product_(product), roundoff_(core::unit_roundoff(product.in)) {
    if (std::is_floating_point_v<Number>) roundoff_ = std::min(roundoff_, core::unit_roundoff(Dtype::f32));
  }

  Strength strength() const override { return Strength::sampled; }
  Mistakes judge(const std::byte* result) override {
    if (expected_.empty())
      for (i64 batch = 0; batch < product_.batch; ++batch) expected_.push_back(work_out(batch));
    std::vector<std::byte> fetched;
    out_ = workload_.output_on_host(result, fetched);
    Mistakes elements, sums{.of = "sum"};
    squares_ = compared_ = 0;
    for (i64 batch = 0; batch < product_.batch; ++batch) {
      const Expected<Number>& expected = expected_[size_t(batch)];
      compare_columns(product_, batch, expected.columns, expected.of_columns, elements);
      compare_columns(product_.transposed(), batch, expected.rows, expected.of_rows, elements);
      compare_sums(batch, expected.sums, sums);
    }
    if (elements.count > 0) return elements;
    if (sums.count > 0) {
      sums.why = "with signs, of 64 neighbours each";
      return sums;
    }
    return imprecision();
  }

 private:
  Expected<Number> work_out(i64 batch) const {
    const Product transposed = product_.transposed();
    const Elements<Number> a(workload_.data(0), product_.in, product_.a, batch);
    const Elements<Number> b(workload_.data(1), product_.in, product_.b, batch);
    const Elements<Number> transposed_a(workload_.data(1), product_.in, transposed.a, batch);
    const Elements<Number> transposed_b(workload_.data(0), product_.in, transposed.b, batch);
    Expected<Number> expected{sample(product_.m), sample(product_.n), {}, {}, {}};
    expected.of_columns = columns_of(product_, a, b, expected.columns, helper_);
    expected.of_rows = columns_of(transposed, transposed_a, transposed_b, expected.rows, helper_);
    expected.sums = sums_of(product_, a, b, helper_);
    return expected;
  }

  Number got(const Matrix& c, i64 batch, i64 row, i64 column) const {
    const size_t size = size_of(product_.out);
    const std::byte* const element = out_ + size_t(c.at(batch, row, column)) * size;
    if constexpr (std::is_floating_point_v<Number>) {
      return double(core::number_at(product_.out, element));
    } else {
      u64 bits = 0;
      std::memcpy(&bits, element, size);
      return bits;
    }
  }

  /// Whether a difference of integers vanishes in as many bits as the result has.
  bool vanishes(u64 difference) const { return difference << (64 - 8 * size_of(product_.out)) == 0; }

  bool right_element(Number want, Number value) {
    if constexpr (std::is_floating_point_v<Number>) {
      const auto k = double(product_.k);
      const double difference = std::fabs(value - want), stored = core::unit_roundoff(product_.out) * std::fabs(want);
      squares_ += std::pow(std::max(0.0, difference - stored), 2);
      compared_ += 1;
      // The reference itself is rounded k times, which counts where u is that of f64.
      return difference <= (2 * roundoff_ + core::unit_roundoff(Dtype::f64)) * k * k + stored;
    } else {
      return vanishes(want - value);
    }
  }

  void compare_columns(const Product& p, i64 batch, const std::vector<i64>& columns, const std::vector<Number>& want,
                       Mistakes& mistakes) {
    size_t i = 0;
    for (i64 row = 0; row < p.m; ++row)
      for (i64 column : columns)
        if (!right_element(want[i++], got(p.c, batch, row, column))) mistakes.note(p.c.at(batch, row, column));
  }

  void compare_sums(i64 batch, const std::vector<Number>& want, Mistakes& mistakes) {
    const i64 groups = ceil_div(product_.n, sum_width);
    const Mistakes found = found_by(workload_.team(), product_.m, [&](i64 begin, i64 end, Mistakes& mine) {
      for (i64 row = begin; row < end; ++row)
        for (i64 group = 0; group < groups; ++group)
          if (!right_sum(batch, row, group, want[size_t(row * groups + group)]))
            mine.note(product_.c.at(batch, row, group * sum_width));
    });
    if (mistakes.count == 0) mistakes.first = found.first;
    mistakes.count += found.count;
  }

  bool right_sum(i64 batch, i64 row, i64 group, Number want) const {
    Number sum = 0;
    double squares = 0;
    for (i64 j = group * sum_width; j < std::min((group + 1) * sum_width, product_.n); ++j) {
      const Number element = got(product_.c, batch, row, j);
      sum += element * static_cast<Number>(i64(sign_of(j)));
      squares += double(element) * double(element);
    }
    if constexpr (std::is_floating_point_v<Number>) {
      const auto k = double(product_.k);
      const double bound = certainty * (std::sqrt(sum_width * k) * roundoff_ * k +
                                        core::unit_roundoff(product_.out) * std::sqrt(squares));
      return std::isfinite(sum) && std::fabs(sum - want) <= bound;
    } else {
      return vanishes(want - sum);
    }
  }

  Mistakes imprecision() const {
    const double allowed = roundoff_ * double(product_.k);
    const double error = compared_ > 0 ? std::sqrt(squares_ / compared_) : 0;
    if (error <= allowed) return {};
    return {.count = i64(compared_),
            .why = fmt::format("the root mean square of their errors is {:.2g}, which is more than k u, {:.2g}", error,
                               allowed)};
  }

  Workload& workload_;
  Helper helper_;
  Product product_;
  double roundoff_;  // of the additions
  std::vector<Expected<Number>> expected_;
  const std::byte* out_ = nullptr;
  double squares_ = 0, compared_ = 0;  // of the errors of sampled elements, and how many these are
};

}  // namespace

bool can_judge(const Product& product) noexcept {
  return core::components_of(product.in) == 1 && product.in != Dtype::boolean &&
         (core::float_format(product.in) != nullptr) == (core::float_format(product.out) != nullptr);
}

std::unique_ptr<Judge> make_product_judge(Workload& workload, const Product& product, Where where) {
  if (core::float_format(product.in) != nullptr)
    return std::make_unique<ProductJudge<double>>(workload, product, where);
  return std::make_unique<ProductJudge<u64>>(workload, product, where);
}

}  // namespace axisloom::bench
