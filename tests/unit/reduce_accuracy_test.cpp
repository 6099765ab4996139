// Sums of floats stay within their bound, and come out with the same bits however often and from wherever they are run.
#include "reduce_support.hpp"

#include <gtest/gtest.h>

#include <cmath>

namespace axisloom::ops_test {
namespace {

View line(Dtype dtype, std::int64_t count) {
  return View::contiguous(dtype, {count});
}

std::vector<float> signed_numbers(std::size_t count, unsigned seed) {
  std::mt19937 engine(seed);
  std::uniform_real_distribution<float> uniform(-1, 1);
  std::vector<float> numbers(count);
  for (float& x : numbers) x = uniform(engine);
  return numbers;
}

TEST(ReduceAccuracy, AHundredMillionTenths) {
  constexpr std::int64_t count = 100'000'000;
  const std::vector<float> numbers(static_cast<std::size_t>(count), 0.1f);
  const double want = static_cast<double>(count) * static_cast<double>(0.1f);
  const double bound = (std::ceil(std::log2(count)) + 40) * 0x1p-24 * want;
  const float got =
      numbers_in<float>(reduced(reduction("sum"), line(Dtype::f32, count), bytes_of_numbers(numbers))).at(0);
  EXPECT_LE(std::abs(got - want), bound);
  EXPECT_EQ(got, static_cast<float>(want)) << "the corrections make it right to the last bit";
}

TEST(ReduceAccuracy, ATenthReadAHundredMillionTimes) {
  constexpr std::int64_t count = 100'000'000;
  View repeated = line(Dtype::f32, count);
  repeated.strides = {0};
  const float got = numbers_in<float>(reduced(reduction("sum"), repeated, bytes_of_numbers<float>({0.1f}))).at(0);
  EXPECT_EQ(got, static_cast<float>(static_cast<double>(count) * static_cast<double>(0.1f)));
}

// Any option that relaxes arithmetic would cancel the corrections, and this sum would be off by a hundred thousand.
TEST(ReduceAccuracy, SixteenMillionTenthsByEveryCandidate) {
  const std::vector<float> numbers(1 << 24, 0.1f);
  const float want = static_cast<float>((1 << 24) * static_cast<double>(0.1f));
  EXPECT_EQ(everyones<float>(reduction("sum"), numbers), want);
}

TEST(ReduceAccuracy, HugeAndTinyNumbersInTurn) {
  std::vector<float> numbers(100'003);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = i % 4 == 0 ? 1e20f : i % 4 == 2 ? -1e20f : 1e-3f;
  EXPECT_LE(worst_share_of_bound(reduction("sum"), line(Dtype::f32, 100'003), numbers), 1);
}

TEST(ReduceAccuracy, RandomSigns) {
  for (const std::int64_t count : {2, 1000, 65'537, 300'000})
    for (const char* op : {"sum", "norm"})
      EXPECT_LE(worst_share_of_bound(reduction(op), line(Dtype::f32, count),
                                     signed_numbers(static_cast<std::size_t>(count), 7)),
                1);
}

TEST(ReduceAccuracy, DoublesInColumns) {
  std::vector<double> numbers(300 * 70);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = std::sin(static_cast<double>(i)) * 1e3;
  for (const char* axes : {"0", "1"})
    EXPECT_LE(
        worst_share_of_bound(reduction("sum", {{"axes", axes}}), View::contiguous(Dtype::f64, {300, 70}), numbers), 1);
}

/// The sum of `count` elements that begin `bytes` after a well aligned address.
Bytes summed_from(Dtype dtype, std::int64_t count, std::int64_t bytes, const Bytes& numbers, const Operation& op,
                  const std::string& candidate) {
  View view = line(dtype, count);
  view.offset = bytes / static_cast<std::int64_t>(size_of(dtype));
  Bytes shifted(static_cast<std::size_t>(bytes));
  shifted.insert(shifted.end(), numbers.begin(), numbers.end());
  return reduced(op, view, shifted, candidate);
}

TEST(ReduceAccuracy, TheSameBitsAtEveryOffset) {
  constexpr std::int64_t count = 70'001;
  const Bytes floats = bytes_of_numbers(signed_numbers(count, 3));
  for (const Dtype dtype : {Dtype::f16, Dtype::f32}) {
    Bytes numbers(floats.begin(), floats.begin() + count * static_cast<std::int64_t>(size_of(dtype)));
    if (dtype == Dtype::f16)
      for (std::size_t i = 1; i < numbers.size(); i += 2) numbers[i] &= std::byte{0xbb};  // no NaN, nothing above 2
    for (const char* order : {"fast", "portable"}) {
      const Operation op = reduction("sum", {{"order", order}});
      for (const std::string& candidate : candidates_for(op, line(dtype, count))) {
        const Bytes want = summed_from(dtype, count, 0, numbers, op, candidate);
        for (std::int64_t bytes = 0; bytes < 16; bytes += static_cast<std::int64_t>(size_of(dtype)))
          EXPECT_EQ(summed_from(dtype, count, bytes, numbers, op, candidate), want)
              << name(dtype) << " by " << candidate << " at " << bytes;
      }
    }
  }
}

/// Neighbours added up until one is left; what has no neighbour waits.
float sum_in_pairs(std::vector<float> numbers) {
  while (numbers.size() > 1) {
    for (std::size_t i = 0; i < numbers.size(); i += 2)
      numbers[i / 2] = i + 1 < numbers.size() ? numbers[i] + numbers[i + 1] : numbers[i];
    numbers.resize((numbers.size() + 1) / 2);
  }
  return numbers.at(0);
}

TEST(ReduceAccuracy, ThePortableOrderIsThatOfItsDescription) {
  const Operation op = reduction("sum", {{"order", "portable"}});
  for (const std::size_t count : {1, 2, 3, 15, 16, 17, 100, 255, 256, 257, 4097, 65'535, 65'537, 200'000}) {
    const std::vector<float> numbers = signed_numbers(count, 11);
    const View in = line(Dtype::f32, static_cast<std::int64_t>(count));
    for (const std::string& candidate : candidates_for(op, in))
      EXPECT_EQ(numbers_in<float>(reduced(op, in, bytes_of_numbers(numbers), candidate)).at(0), sum_in_pairs(numbers))
          << count << " by " << candidate;
  }
}

// Whatever the strides, and however many outputs are taken together.
TEST(ReduceAccuracy, ThePortableOrderAcrossAndAlong) {
  constexpr std::size_t rows = 700, columns = 37;
  const std::vector<float> numbers = signed_numbers(rows * columns, 5);
  const View in = View::contiguous(Dtype::f32, {rows, columns});
  for (const char* axis : {"0", "1"}) {
    const bool across = *axis == '0';
    const Operation op = reduction("sum", {{"axes", axis}, {"order", "portable"}});
    std::vector<float> want;
    for (std::size_t o = 0; o < (across ? columns : rows); ++o) {
      std::vector<float> line(across ? rows : columns);
      for (std::size_t i = 0; i < line.size(); ++i) line[i] = numbers[across ? i * columns + o : o * columns + i];
      want.push_back(sum_in_pairs(line));
    }
    for (const std::string& candidate : candidates_for(op, in))
      EXPECT_EQ(numbers_in<float>(reduced(op, in, bytes_of_numbers(numbers), candidate)), want)
          << axis << " by " << candidate;
  }
}

// Two reduced axes that do not merge are numbered as one.
TEST(ReduceAccuracy, ThePortableOrderOfSeveralAxes) {
  constexpr std::size_t a = 23, b = 3, c = 50;
  const std::vector<float> numbers = signed_numbers(a * b * c, 6);
  const View in = View::contiguous(Dtype::f32, {a, b, c});
  const Operation op = reduction("sum", {{"axes", "0,2"}, {"order", "portable"}});
  std::vector<float> want;
  for (std::size_t o = 0; o < b; ++o) {
    std::vector<float> line;
    for (std::size_t i = 0; i < a; ++i)
      for (std::size_t k = 0; k < c; ++k) line.push_back(numbers[(i * b + o) * c + k]);
    want.push_back(sum_in_pairs(line));
  }
  for (const std::string& candidate : candidates_for(op, in))
    EXPECT_EQ(numbers_in<float>(reduced(op, in, bytes_of_numbers(numbers), candidate)), want) << candidate;
}

}  // namespace
}  // namespace axisloom::ops_test
