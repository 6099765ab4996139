// One call for one thing: what the functions on arrays in host memory take, give and refuse.
#include "failing_allocations.hpp"
#include "ops_support.hpp"
#include "sanitizers.hpp"

#include <axisloom/axisloom.hpp>

#include <gtest/gtest.h>

#include <array>
#include <complex>
#include <limits>
#include <numeric>
#include <thread>

namespace axisloom::ops_test {
namespace {

std::vector<float> counted(std::size_t count) {
  std::vector<float> numbers(count);
  std::iota(numbers.begin(), numbers.end(), 0.0F);
  return numbers;
}

template <class T>
std::vector<T> list(const Array& array) {
  const std::span<const T> elements = array.elements<T>();
  return {elements.begin(), elements.end()};
}

/// As std::mdspan has it; a stride may be negative here.
template <class T>
struct Matrix {
  T* first;
  std::array<std::size_t, 2> extents;
  std::array<std::ptrdiff_t, 2> strides;
  static constexpr std::size_t rank() { return 2; }
  std::size_t extent(std::size_t axis) const { return extents[axis]; }
  std::ptrdiff_t stride(std::size_t axis) const { return strides[axis]; }
  T* data_handle() const { return first; }
};

TEST(Calls, TakeRangesWithAShape) {
  const std::vector<float> in = counted(6);
  const Array out = rearrange({in, {2, 3}}, "h w -> w h");
  EXPECT_EQ(out.shape(), (Dims{3, 2}));
  EXPECT_EQ(out.dtype(), Dtype::f32);
  EXPECT_EQ(list<float>(out), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  EXPECT_EQ(list<float>(transpose({std::span(in), {2, 3}})), list<float>(out));
  EXPECT_EQ(list<float>(sum(in)), std::vector<float>{15});
  const std::array<std::int16_t, 4> small = {1, 2, 3, 4};
  EXPECT_EQ(list<std::int64_t>(sum(small)), std::vector<std::int64_t>{10});
}

TEST(Calls, TakeWhatIsShapedLikeMdspan) {
  std::vector<float> in = counted(12);
  static_assert(MdspanLike<Matrix<float>> && MdspanLike<Matrix<const float>>);
  const Matrix<const float> every_second{&in[1], {2, 3}, {6, 2}}, backwards{&in[11], {3, 4}, {-4, -1}};
  EXPECT_EQ(list<float>(copy(every_second)), (std::vector<float>{1, 3, 5, 7, 9, 11}));
  EXPECT_EQ(list<float>(copy(backwards)), (std::vector<float>{11, 10, 9, 8, 7, 6, 5, 4, 3, 2, 1, 0}));
  std::vector<float> out(6);
  run_into(Matrix<float>{&out[5], {3, 2}, {-2, -1}}, transpose(), {every_second});
  EXPECT_EQ(out, (std::vector<float>{11, 5, 9, 3, 7, 1}));
}

TEST(Calls, TakeTheirOwnResults) {
  const Array planes = repeat(counted(3), "w -> c w", {{"c", 2}});
  EXPECT_EQ(list<float>(planes), (std::vector<float>{0, 1, 2, 0, 1, 2}));
  EXPECT_EQ(list<float>(permute(planes, {1, 0})), (std::vector<float>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(list<float>(matmul(planes, transpose(planes))), (std::vector<float>{5, 5, 5, 5}));
  EXPECT_EQ(list<float>(einsum("i k, j k -> i j", {planes, planes}, {.alpha = 0.5})), std::vector<float>(4, 2.5F));
  EXPECT_EQ(list<float>(dot(counted(3), counted(3), {.alpha = 1e-9})), std::vector<float>{5e-9F});
  EXPECT_EQ(list<float>(run(matmul(ProductOptions{.beta = 2}), {planes, transpose(planes), counted(2)})),
            (std::vector<float>{5, 7, 5, 7}));
  EXPECT_EQ(relayout(Array(Dtype::f16, {1, 5, 2, 2}), "NCHW", "NC/4HW4").shape(), (Dims{1, 2, 2, 2, 4}));
}

TEST(Calls, ReduceByTypedOptions) {
  const std::vector<float> numbers = counted(6);
  const InputArray in(numbers, {2, 3});
  EXPECT_EQ(list<float>(sum(in, {.axes = {-1}})), (std::vector<float>{3, 12}));
  EXPECT_EQ(mean(in, {.axes = {0, 1}, .keepdims = true}).shape(), (Dims{1, 1}));
  EXPECT_EQ(list<float>(sum(in, {.axes = Axes::none()})), numbers);
  EXPECT_EQ(list<float>(prod(in, {.axes = {0}})), (std::vector<float>{0, 4, 10}));
  EXPECT_EQ(list<float>(min(in, {.axes = {0}})), (std::vector<float>{0, 1, 2}));
  EXPECT_EQ(list<float>(max(in, {.axes = {1}, .order = Order::portable})), (std::vector<float>{2, 5}));
  EXPECT_EQ(list<std::int64_t>(argmax(in)), std::vector<std::int64_t>{5});
  EXPECT_EQ(list<std::int64_t>(argmin(in)), std::vector<std::int64_t>{0});
  EXPECT_EQ(list<std::int64_t>(count_nonzero(in)), std::vector<std::int64_t>{5});
  EXPECT_EQ(list<bool>(any(in, {.axes = {1}})), (std::vector<bool>{true, true}));
  EXPECT_EQ(list<bool>(all(in, {.axes = {1}})), (std::vector<bool>{false, true}));
  EXPECT_EQ(list<float>(norm(in, {.ord = NormOrder::inf})), std::vector<float>{5});
  EXPECT_EQ(list<float>(norm(in, {.ord = NormOrder::one})), std::vector<float>{15});
  EXPECT_EQ(list<float>(reduce(in, "max", "h (w x) -> h w", {{"x", 3}})), (std::vector<float>{2, 5}));
}

TEST(Calls, SumOverPairsOfAxes) {
  const Array a = rearrange(counted(24), "(i j k) -> i j k", {{"i", 2}, {"j", 3}});
  const Array b = rearrange(counted(24), "(j k l) -> j k l", {{"j", 3}, {"k", 4}});
  const std::vector<float> both = list<float>(einsum("i j k, j k l -> i l", {a, b}));
  EXPECT_EQ(list<float>(tensordot(a, b)), both);
  EXPECT_EQ(list<float>(tensordot(a, b, {1, 2}, {0, 1})), both);
  EXPECT_EQ(list<float>(tensordot(a, b, {-1, -2}, {1, 0})), both);
  EXPECT_EQ(list<float>(tensordot(b, a, {0}, {1})), list<float>(einsum("j m l, i j k -> m l i k", {b, a})));
  EXPECT_EQ(tensordot(a, b, 0).shape(), (Dims{2, 3, 4, 3, 4, 2}));
  EXPECT_EQ(list<float>(tensordot(counted(3), counted(3), 1)), std::vector<float>{5});
  EXPECT_EQ(code_thrown([&] { tensordot(a, b, 4); }), Errc::axis);
  EXPECT_EQ(code_thrown([&] { tensordot(a, b, {3}, {0}); }), Errc::axis);
  EXPECT_EQ(code_thrown([&] { tensordot(a, b, {1, 1}, {0, 1}); }), Errc::axis);
  EXPECT_EQ(code_thrown([&] { tensordot(a, b, {1}, {0, 1}); }), Errc::axis);
  EXPECT_EQ(code_thrown([&] { tensordot(a, b, {0}, {0}); }), Errc::shape);
}

TEST(Calls, TensordotPairsNoAxisOfLengthOneWithALongerOne) {
  const std::vector<float> six = counted(6), two = counted(2), three = counted(3);
  const InputArray matrix(six, {2, 3}), row(three, {1, 3}), column(two, {2, 1});
  EXPECT_EQ(list<float>(einsum("i j, k i -> j", {row, column})), (std::vector<float>{0, 1, 2}));  // einsum does
  EXPECT_EQ(code_thrown([&] { tensordot(row, matrix, {0}, {0}); }), Errc::shape);
  EXPECT_EQ(code_thrown([&] { tensordot(matrix, row, {0}, {0}); }), Errc::shape);
  EXPECT_EQ(code_thrown([&] { tensordot(matrix, column, {1}, {1}); }), Errc::shape);
  EXPECT_EQ(code_thrown([&] {
              result_view(tensordot(2, 2, std::array{0}, std::array{0}), {matrix.view(), row.view()});
            }),
            Errc::shape);
  EXPECT_NE(text_thrown([&] { tensordot(row, matrix, {0}, {0}); }).find("[1,3]"), std::string::npos);
  EXPECT_EQ(tensordot(row, row, {0}, {0}).shape(), (Dims{3, 3}));
  EXPECT_EQ(list<float>(tensordot(row, matrix, {1}, {1})), (std::vector<float>{5, 14}));
  EXPECT_EQ(code_thrown([&] { einsum("i j, i k -> j k", {row, matrix}, {.broadcast = false}); }), Errc::shape);
  EXPECT_EQ(einsum("i j, i k -> j k", {row, matrix}).shape(), (Dims{3, 3}));
}

TEST(Calls, ReductionsTakeAnInitialValueADtypeAndAMask) {
  const std::vector<float> in = counted(6);
  const std::vector<std::uint8_t> bytes = {200, 100, 50};
  const std::array<bool, 3> mask = {true, false, true};
  EXPECT_EQ(list<float>(sum({in, {2, 3}}, {.axes = {1}, .initial = 0.5})), (std::vector<float>{3.5, 12.5}));
  EXPECT_EQ(list<float>(max({in, {2, 3}}, {.axes = {1}, .initial = 3})), (std::vector<float>{3, 5}));
  EXPECT_EQ(list<double>(sum({in, {2, 3}}, {.dtype = Dtype::f64})), std::vector<double>{15});
  EXPECT_EQ(list<std::uint8_t>(sum(bytes, {.dtype = Dtype::u8})), std::vector<std::uint8_t>{350 - 256});
  EXPECT_EQ(list<float>(mean(bytes, {.dtype = Dtype::f32})), std::vector<float>{350.0F / 3});
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(list<std::int64_t>(axisloom::min(std::vector<std::int64_t>(), {.initial = lowest})),
            std::vector<std::int64_t>(1, lowest));
  const Operation where = reduction("mean", ReduceOptions{.axes = {1}, .where = true});
  EXPECT_EQ(list<float>(run(where, {InputArray(in, {2, 3}), mask})), (std::vector<float>{1, 4}));
}

// Memory of any range is aligned to its elements, and no more is asked for.
TEST(Calls, MeasureHowMemoryIsAligned) {
  std::vector<float> in(4096 + 64), out(4096 + 64);
  std::iota(in.begin(), in.end(), 0.0F);
  for (std::size_t shift = 0; shift < 40; shift += 3) {
    const std::span<const float> from = std::span(in).subspan(shift, 4096);
    const std::span<float> to = std::span(out).subspan(40 - shift, 4096);
    run_into({to, {64, 64}}, transpose(), {{from, {64, 64}}});
    ASSERT_EQ(to[1], from[64]) << shift;
    ASSERT_EQ(to[4095], from[4095]) << shift;
  }
}

TEST(Calls, RunOnADeviceThatIsNamed) {
  const std::vector<float> in = counted(6);
  const Device device = real_device();
  EXPECT_EQ(list<float>(transpose({in, {2, 3}}, device)), (std::vector<float>{0, 3, 1, 4, 2, 5}));
  std::vector<float> out(6);
  run_into({out, {3, 2}}, transpose(), {{in, {2, 3}}}, device);
  EXPECT_EQ(out, (std::vector<float>{0, 3, 1, 4, 2, 5}));
}

TEST(Calls, TakeArraysWithoutElements) {
  EXPECT_EQ(transpose({std::vector<float>(), {0, 5}}).shape(), (Dims{5, 0}));
  EXPECT_EQ(list<float>(sum(std::vector<float>())), std::vector<float>{0});
  EXPECT_EQ(Array().shape(), Dims{0});
}

TEST(Calls, SayWhatIsWrong) {
  const std::vector<float> in = counted(6);
  const auto text = [](auto&& call) { return text_thrown(call); };
  EXPECT_NE(text([&] {
              transpose({in, {2, 4}});
            }).find("6 elements were given for f32[2,4], which has 8"),
            std::string::npos);
  EXPECT_NE(text([&] { copy(in).elements<double>(); }).find("asked for as f64"), std::string::npos);
  EXPECT_NE(text([&] { sum(in, {.axes = {1}}); }).find("out of range"), std::string::npos);
  EXPECT_NE(text([&] {
              copy({Dtype::f32, in.data(), {2, 3}, {1}});
            }).find("2 extents and 1 strides"),
            std::string::npos);
  constexpr std::int64_t far = std::int64_t{1} << 61;
  EXPECT_EQ(code_thrown([&] { copy({Dtype::f32, in.data(), {2, 3}, {-far, -far}}); }), Errc::shape);
  EXPECT_NE(text([&] { run_into(OutputArray(std::span<float>()), copy(), {in}); }).find("the output view"),
            std::string::npos);
  EXPECT_NE(text([&] { Array(Dtype::f32, {-1}); }).find("negative"), std::string::npos);
  if (!test::address_sanitizer) {  // which ends the program on such an allocation
    EXPECT_EQ(code_thrown([&] { Array(Dtype::u8, {max_bytes}); }), Errc::out_of_memory);
  }
  std::vector<float> both = in;
  EXPECT_EQ(code_thrown([&] { run_into({both, {3, 2}}, transpose(), {{both, {2, 3}}}); }), Errc::overlap);
}

TEST(Calls, TurnStridesInBytesIntoStridesInElements) {
  EXPECT_EQ(element_strides(Dtype::f32, {-12, 4, 0}), (Dims{-3, 1, 0}));
  EXPECT_NE(text_thrown([] { element_strides(Dtype::f32, {6}); }).find("no multiple"), std::string::npos);
}

TEST(Calls, KnowTheDtypeOfATypeAndThatTextHasNone) {
  static_assert(dtype_v<long long> == Dtype::i64 && dtype_v<unsigned long> == Dtype::u64);
  static_assert(dtype_v<const signed char> == Dtype::i8 && dtype_v<std::complex<double>> == Dtype::c128);
  static_assert(!Element<char> && !Element<char32_t> && !Element<std::byte> && !Element<int*>);
  static_assert(!std::convertible_to<std::string, InputArray> && !std::convertible_to<const char*, InputArray>);
  static_assert(!std::convertible_to<const std::vector<float>&, OutputArray>);
}

TEST(Calls, AllocateTheResultAndItsOperationAlone) {
  const std::vector<float> in = counted(4096);
  std::vector<float> out(4096);
  const Operation op = transpose();
  run_into({out, {64, 64}}, op, {{in, {64, 64}}});
  const auto before = test::allocation_faults.made;
  run_into({out, {64, 64}}, op, {{in, {64, 64}}});
  EXPECT_EQ(test::allocation_faults.made, before);
}

TEST(Calls, ServeManyThreads) {
  std::atomic<int> wrong{0};
  std::vector<std::thread> threads;
  for (int thread = 0; thread < 4; ++thread)
    threads.emplace_back([&wrong] {
      const std::vector<float> in = counted(100);
      for (int repeat = 0; repeat < 50; ++repeat)
        if (transpose({in, {10, 10}}).elements<float>()[1] != 10 || sum(in).elements<float>()[0] != 4950) ++wrong;
    });
  for (std::thread& thread : threads) thread.join();
  EXPECT_EQ(wrong, 0);
}

}  // namespace
}  // namespace axisloom::ops_test
