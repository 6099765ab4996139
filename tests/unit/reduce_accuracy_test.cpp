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

TEST(ReduceAccuracy, ThePortableOrderIsThatOfItsDescription) {
  constexpr std::size_t count = 200'000, piece = 65'536, sums = 256;
  const std::vector<float> numbers = signed_numbers(count, 11);
  struct Sum {
    float sum = 0, correction = 0;
    void add(float x) {
      const float next = sum + x, added = next - sum;
      correction += (sum - (next - added)) + (x - added);
      sum = next;
    }
    void take(const Sum& other) {
      correction += other.correction;
      add(other.sum);
    }
  };
  Sum total;
  for (std::size_t begin = 0; begin < count; begin += piece) {
    std::vector<Sum> sum(sums);
    for (std::size_t i = begin; i < std::min(begin + piece, count); ++i) sum[(i - begin) % sums].add(numbers[i]);
    for (std::size_t s = sums / 2; s > 0; s /= 2)
      for (std::size_t t = 0; t < s; ++t) sum[t].take(sum[t + s]);
    total.take(sum[0]);
  }
  const float want = static_cast<float>(static_cast<double>(total.sum) + static_cast<double>(total.correction));
  const Operation op = reduction("sum", {{"order", "portable"}});
  EXPECT_EQ(numbers_in<float>(reduced(op, line(Dtype::f32, count), bytes_of_numbers(numbers), "portable")).at(0), want);
}

}  // namespace
}  // namespace axisloom::ops_test
