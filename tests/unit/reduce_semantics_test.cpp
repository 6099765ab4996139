// What reductions mean: dtypes, NaN, infinities, ties, empty arrays and overflow, as NumPy documents them.
#include "reduce_support.hpp"

#include <axisloom/axisloom.hpp>

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <complex>

namespace axisloom::ops_test {
namespace {

constexpr float nan_f = std::numeric_limits<float>::quiet_NaN();
constexpr float inf_f = std::numeric_limits<float>::infinity();

std::vector<float> ramp(std::size_t count) {
  std::vector<float> numbers(count);
  for (std::size_t i = 0; i < count; ++i) numbers[i] = static_cast<float>(i % 17) - 8;
  return numbers;
}

Dtype result_of(const char* op, Dtype in) {
  const View view = View::contiguous(in, {3});
  return result_view(reduction(op), std::span(&view, 1)).dtype;
}

TEST(ReduceSemantics, DtypesAreNumPys) {
  for (const Dtype small : {Dtype::boolean, Dtype::i8, Dtype::i16, Dtype::i32, Dtype::i64}) {
    EXPECT_EQ(result_of("sum", small), Dtype::i64) << name(small);
    EXPECT_EQ(result_of("prod", small), Dtype::i64) << name(small);
    EXPECT_EQ(result_of("mean", small), Dtype::f64) << name(small);
    EXPECT_EQ(result_of("norm", small), Dtype::f64) << name(small);
  }
  for (const Dtype small : {Dtype::u8, Dtype::u16, Dtype::u32, Dtype::u64})
    EXPECT_EQ(result_of("sum", small), Dtype::u64) << name(small);
  for (const Dtype inexact : {Dtype::f16, Dtype::bf16, Dtype::f32, Dtype::f64, Dtype::c64, Dtype::c128}) {
    EXPECT_EQ(result_of("sum", inexact), inexact) << name(inexact);
    EXPECT_EQ(result_of("mean", inexact), inexact) << name(inexact);
  }
  EXPECT_EQ(result_of("norm", Dtype::c64), Dtype::f32);
  EXPECT_EQ(result_of("norm", Dtype::c128), Dtype::f64);
  for (const Dtype any : all_dtypes()) {
    EXPECT_EQ(result_of("max", any), any);
    EXPECT_EQ(result_of("argmin", any), Dtype::i64);
    EXPECT_EQ(result_of("any", any), Dtype::boolean);
    EXPECT_EQ(result_of("count_nonzero", any), Dtype::i64);
  }
}

/// Every dtype of which a reduction can be computed.
std::vector<Dtype> offered(const char* op, Dtype in) {
  const View view = View::contiguous(in, {3});
  std::vector<Dtype> dtypes;
  for (const Dtype dtype : all_dtypes()) {
    try {
      EXPECT_EQ(result_view(reduction(op, ReduceOptions{.dtype = dtype}), {view}).dtype, dtype);
      dtypes.push_back(dtype);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Errc::dtype) << error.what();
      EXPECT_NE(std::string(error.what()).find("use one of"), std::string::npos) << error.what();
    }
  }
  return dtypes;
}

TEST(ReduceSemantics, DtypesToComputeInAreThoseThatHoldTheElements) {
  using enum Dtype;
  const std::vector<Dtype> numbers = {u8, i8, u16, i16, f16, bf16, u32, i32, f32, u64, i64, f64};
  for (const char* op : {"sum", "prod"}) {
    EXPECT_EQ(offered(op, u8), numbers);
    EXPECT_EQ(offered(op, i64), numbers);
    EXPECT_EQ(offered(op, boolean), numbers);
    EXPECT_EQ(offered(op, f16), (std::vector<Dtype>{f16, f32, f64}));
    EXPECT_EQ(offered(op, bf16), (std::vector<Dtype>{bf16, f32, f64}));
    EXPECT_EQ(offered(op, f32), (std::vector<Dtype>{f32, f64}));
    EXPECT_EQ(offered(op, f64), std::vector<Dtype>{f64});
    EXPECT_EQ(offered(op, c64), (std::vector<Dtype>{c64, c128}));
  }
  EXPECT_EQ(offered("mean", i32), (std::vector<Dtype>{f16, bf16, f32, f64}));
  EXPECT_EQ(offered("mean", f32), (std::vector<Dtype>{f32, f64}));
}

// 2^24 + 1 is no f32, and 300 such sums of 1e38 are beyond it.
TEST(ReduceSemantics, ComputesInTheDtypeThatIsAskedFor) {
  const Operation wide = reduction("sum", ReduceOptions{.dtype = Dtype::f64});
  std::vector<float> numbers(70001, 16777216.0F);
  numbers[40000] = 1;
  EXPECT_EQ(everyones<double>(wide, numbers), 70000 * 16777216.0 + 1);
  EXPECT_EQ(everyones<double>(wide, std::vector<float>(300, 1e38F)), 300 * double(1e38F));
  EXPECT_EQ(everyones<float>(reduction("sum"), std::vector<float>(300, 1e38F)), inf_f);
  const Operation low = reduction("sum", ReduceOptions{.dtype = Dtype::u8});
  EXPECT_EQ(everyones<std::uint8_t>(low, std::vector<std::int32_t>{-1, 257, 5}), std::uint8_t(261));
  const Operation product = reduction("prod", ReduceOptions{.dtype = Dtype::f64});
  EXPECT_EQ(everyones<double>(product, std::vector<std::int32_t>(10, 1 << 20)), 0x1p200);
  EXPECT_EQ(everyones<float>(reduction("mean", ReduceOptions{.dtype = Dtype::f32}), std::vector<std::uint8_t>{1, 2, 2}),
            5.0F / 3);
}

TEST(ReduceSemantics, AnInitialValueIsOneMoreElement) {
  const auto with = [](const char* op, Scalar initial) { return reduction(op, ReduceOptions{.initial = initial}); };
  for (const std::size_t count : {std::size_t{0}, std::size_t{3}, std::size_t{70001}}) {
    const std::vector<float> ones(count, 1.0F);
    EXPECT_EQ(everyones<float>(with("sum", -0.5), ones), float(count) - 0.5F);
    EXPECT_EQ(everyones<float>(with("prod", 3), ones), 3);
    EXPECT_EQ(everyones<float>(with("max", 0), ones), count > 0 ? 1 : 0);
    EXPECT_EQ(everyones<float>(with("max", 7), ones), 7);
    EXPECT_EQ(everyones<float>(with("min", inf_f), ones), count > 0 ? 1 : inf_f);
    EXPECT_TRUE(std::isnan(everyones<float>(with("min", nan_f), ones)));
  }
  EXPECT_TRUE(std::isnan(everyones<float>(with("max", 7), std::vector<float>{1, nan_f})));
  constexpr auto lowest = std::numeric_limits<std::int64_t>::min();
  EXPECT_EQ(everyones<std::int64_t>(with("max", lowest), std::vector<std::int64_t>{}), lowest);
  constexpr auto highest = std::numeric_limits<std::uint64_t>::max();
  EXPECT_EQ(everyones<std::uint64_t>(with("min", highest), std::vector<std::uint64_t>{highest}), highest);
  EXPECT_EQ(everyones<std::uint64_t>(with("sum", 2), std::vector<std::uint64_t>{highest}), 1U);
  for (const char* op : {"argmin", "argmax", "any", "all", "count_nonzero", "norm", "mean"})
    EXPECT_EQ(code_thrown([&] { result_view(with(op, 1), {View::contiguous(Dtype::f32, {3})}); }), Errc::usage) << op;
  EXPECT_EQ(code_thrown([] { result_view(reduction("max"), {View::contiguous(Dtype::f32, {0})}); }), Errc::shape);
}

TEST(ReduceSemantics, AnInitialValueIsANumberOfTheResultsDtype) {
  const auto takes = [](Dtype in, const ReduceOptions& options) {
    result_view(reduction("sum", options), {View::contiguous(in, {3})});
  };
  EXPECT_NO_THROW(takes(Dtype::u8, {.initial = 300}));  // the sum is u64
  EXPECT_EQ(code_thrown([&] { takes(Dtype::u8, {.initial = 300, .dtype = Dtype::u8}); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { takes(Dtype::i32, {.initial = 0.5}); }), Errc::usage);
  EXPECT_NO_THROW(takes(Dtype::i32, {.initial = 0.5, .dtype = Dtype::f32}));
  EXPECT_EQ(code_thrown([&] { takes(Dtype::f32, {.initial = std::complex<double>(1, 2)}); }), Errc::usage);
  EXPECT_NO_THROW(takes(Dtype::c64, {.initial = std::complex<double>(1, 2)}));
}

TEST(ReduceSemantics, MasksSayWhichElementsCount) {
  const std::vector<float> numbers = {1, nan_f, 3, 5, 7, inf_f};
  const std::vector<std::uint8_t> mask = {1, 0, 255, 1, 0, 0};
  const View in = View::contiguous(Dtype::f32, {2, 3}), where = View::contiguous(Dtype::boolean, {2, 3});
  const auto masked = [&](const char* op, ReduceOptions options) {
    options.axes = {1};
    options.where = true;
    const Operation operation = reduction(op, options);
    const View result = result_view(operation, {in, where});
    Bytes out(static_cast<std::size_t>(buffer_bytes(result)));
    const std::array<std::span<const std::byte>, 2> spans = {std::as_bytes(std::span(numbers)),
                                                             std::as_bytes(std::span(mask))};
    run_on_host(operation, std::array{in, where}, spans, out, real_device());
    return out;
  };
  EXPECT_EQ(numbers_in<float>(masked("sum", {})), (std::vector<float>{4, 5}));
  EXPECT_EQ(numbers_in<float>(masked("mean", {})), (std::vector<float>{2, 5}));
  EXPECT_EQ(numbers_in<float>(masked("prod", {.initial = 2})), (std::vector<float>{6, 10}));
  EXPECT_EQ(numbers_in<float>(masked("max", {.initial = -inf_f})), (std::vector<float>{3, 5}));
  EXPECT_EQ(numbers_in<float>(masked("min", {.initial = 4})), (std::vector<float>{1, 4}));
  EXPECT_EQ(numbers_in<std::uint8_t>(masked("all", {})), (std::vector<std::uint8_t>{1, 1}));
}

TEST(ReduceSemantics, AMeanOfNothingIsNotANumber) {
  const std::vector<float> numbers = {1, 2};
  const std::array<bool, 2> none = {};
  const Array mean = run(reduction("mean", ReduceOptions{.where = true}), {numbers, none});
  EXPECT_TRUE(std::isnan(mean.elements<float>()[0]));
  const Array any = run(reduction("any", ReduceOptions{.where = true}), {numbers, none});
  EXPECT_FALSE(any.elements<bool>()[0]);
}

TEST(ReduceSemantics, MasksThatSayNothingAreRefused) {
  const View in = View::contiguous(Dtype::f32, {2, 3});
  const auto code = [&](const char* op, const View& mask, ReduceOptions options = {}) {
    options.where = true;
    return code_thrown([&] { result_view(reduction(op, options), {in, mask}); });
  };
  EXPECT_EQ(code("sum", View::contiguous(Dtype::u8, {2, 3})), Errc::dtype);
  EXPECT_EQ(code("sum", View::contiguous(Dtype::boolean, {3, 2})), Errc::shape);
  EXPECT_EQ(code("sum", View::contiguous(Dtype::boolean, {1, 2, 3})), Errc::shape);
  EXPECT_EQ(code("max", View::contiguous(Dtype::boolean, {3})), Errc::usage);
  EXPECT_EQ(code("argmax", View::contiguous(Dtype::boolean, {3})), Errc::usage);
  EXPECT_EQ(code_thrown([&] { result_view(reduction("sum", ReduceOptions{.where = true}), {in}); }), Errc::usage);
}

TEST(ReduceSemantics, ShapesFollowAxesAndKeepdims) {
  const View view = View::contiguous(Dtype::f32, {2, 3, 4});
  const auto shape = [&](Options options) {
    return result_view(reduction("sum", std::move(options)), std::span(&view, 1)).shape;
  };
  EXPECT_EQ(shape({}), Dims{});
  EXPECT_EQ(shape({{"keepdims", ""}}), (Dims{1, 1, 1}));
  EXPECT_EQ(shape({{"axes", "-1"}}), (Dims{2, 3}));
  EXPECT_EQ(shape({{"axes", "0,-1"}}), Dims{3});
  EXPECT_EQ(shape({{"axes", "0,-1"}, {"keepdims", ""}}), (Dims{1, 3, 1}));
}

TEST(ReduceSemantics, NanWinsWhereverItIs) {
  for (const std::size_t place : {std::size_t{0}, std::size_t{63}, std::size_t{777}, std::size_t{999}}) {
    std::vector<float> numbers = ramp(1000);
    numbers[place] = nan_f;
    for (const char* op : {"sum", "prod", "min"})
      EXPECT_TRUE(std::isnan(everyones<float>(reduction(op), numbers))) << op << " with NaN at " << place;
    EXPECT_EQ(everyones<std::uint8_t>(reduction("any"), std::vector<float>{0, nan_f}), 1);
  }
}

TEST(ReduceSemantics, TheFirstNanIsTheLargestAndTheSmallest) {
  std::vector<float> numbers = ramp(5000);
  numbers[1234] = inf_f;
  numbers[4321] = numbers[3000] = nan_f;
  EXPECT_EQ(everyones<std::int64_t>(reduction("argmax"), numbers), 3000);
  EXPECT_EQ(everyones<std::int64_t>(reduction("argmin"), numbers), 3000);
}

TEST(ReduceSemantics, TheFirstOfEqualsIsTaken) {
  std::vector<float> numbers(70000, 1.0f);
  EXPECT_EQ(everyones<std::int64_t>(reduction("argmax"), numbers), 0);
  numbers[65] = numbers[66] = numbers[69999] = 2;
  EXPECT_EQ(everyones<std::int64_t>(reduction("argmax"), numbers), 65);
  numbers[69998] = numbers[69990] = -1;
  EXPECT_EQ(everyones<std::int64_t>(reduction("argmin"), numbers), 69990);
  EXPECT_EQ(everyones<std::int64_t>(reduction("argmax"), std::vector<float>(300, -inf_f)), 0);
  EXPECT_EQ(everyones<std::int64_t>(reduction("argmin"), std::vector<float>{0.0f, -0.0f}), 0);
}

/// The only element of a result, on which the host, whose kernels have vectors of their own, has to agree.
template <class Result>
Result everywhere(const char* op, const View& in, const Bytes& input) {
  const Bytes before(sizeof(Result));
  const auto on = [&](const Device& device) {
    return numbers_in<Result>(after_run(plan(reduction(op), std::span(&in, 1), device), input, before)).at(0);
  };
  const Result first = on(real_device());
  EXPECT_EQ(first, on(Device::open("host"))) << op;
  return first;
}
template <class Result, class T>
Result everywhere(const char* op, const std::vector<T>& numbers) {
  return everywhere<Result>(op, View::contiguous(dtype_for<T>(), {i64(numbers.size())}), bytes_of_numbers(numbers));
}

// Long runs are searched chunk by chunk.
template <class T>
void expect_places_of_pairs() {
  constexpr std::size_t count = 140001;
  for (const std::size_t place : {511, 512, 1023, 1024, 4095, 4096, 65535, 65536, 139999}) {
    std::vector<T> numbers(count, T(7));
    numbers[place] = numbers[place + 1] = numbers[count - 1] = T(9);
    EXPECT_EQ(everywhere<std::int64_t>("argmax", numbers), i64(place)) << name(dtype_for<T>());
    numbers[place] = numbers[place + 1] = numbers[count - 1] = T(3);
    EXPECT_EQ(everywhere<std::int64_t>("argmin", numbers), i64(place)) << name(dtype_for<T>());
  }
}

TEST(ReduceSemantics, TheFirstOfEqualsIsTakenAtTheEndsOfChunks) {
  expect_places_of_pairs<float>();
  expect_places_of_pairs<double>();
  expect_places_of_pairs<std::int8_t>();
  expect_places_of_pairs<std::uint8_t>();
  expect_places_of_pairs<std::int32_t>();
  expect_places_of_pairs<std::uint64_t>();
  std::vector<float> numbers(70000, inf_f);
  EXPECT_EQ(everywhere<std::int64_t>("argmin", numbers), 0);
  numbers[40000] = numbers[50001] = nan_f;
  EXPECT_EQ(everywhere<std::int64_t>("argmin", numbers), 40000);
  EXPECT_EQ(everywhere<std::int64_t>("argmax", numbers), 40000);
}

// What follows the one that decides need not be read.
TEST(ReduceSemantics, TheOneThatDecidesIsFoundWhereverItIs) {
  constexpr std::size_t count = 300001;
  const View bools = View::contiguous(Dtype::boolean, {i64(count)});
  const auto truth = [&](const char* op, const Bytes& in) { return everywhere<std::uint8_t>(op, bools, in); };
  const auto number = [&](const char* op, const Bytes& in) { return everywhere<std::int64_t>(op, bools, in); };
  for (const std::size_t place : {0ul, 1023ul, 1024ul, 5119ul, 131072ul, count - 1}) {
    Bytes one_true(count, std::byte{0}), one_false(count, std::byte{2});
    one_true[place] = std::byte{128};
    one_false[place] = std::byte{0};
    EXPECT_EQ(truth("any", one_true), 1) << place;
    EXPECT_EQ(truth("all", one_true), 0) << place;
    EXPECT_EQ(truth("max", one_true), 1) << place;
    EXPECT_EQ(number("argmax", one_true), i64(place));
    EXPECT_EQ(number("count_nonzero", one_true), 1) << place;
    EXPECT_EQ(truth("any", one_false), 1) << place;
    EXPECT_EQ(truth("all", one_false), 0) << place;
    EXPECT_EQ(truth("min", one_false), 0) << place;
    EXPECT_EQ(number("argmin", one_false), i64(place));
    EXPECT_EQ(number("count_nonzero", one_false), i64(count) - 1) << place;
  }
  EXPECT_EQ(truth("any", Bytes(count, std::byte{0})), 0);
  EXPECT_EQ(truth("all", Bytes(count, std::byte{3})), 1);
}

template <class T>
void expect_zeros_of_either_sign() {
  for (const T number : {std::numeric_limits<T>::denorm_min(), -std::numeric_limits<T>::quiet_NaN(), T(-1)}) {
    std::vector<T> numbers(70000, T(0));
    for (std::size_t i = 0; i < numbers.size(); i += 3) numbers[i] = -T(0);
    EXPECT_EQ(everywhere<std::uint8_t>("any", numbers), 0);
    EXPECT_EQ(everywhere<std::int64_t>("count_nonzero", numbers), 0);
    numbers[69000] = number;
    EXPECT_EQ(everywhere<std::uint8_t>("any", numbers), 1);
    EXPECT_EQ(everywhere<std::int64_t>("count_nonzero", numbers), 1);
    std::vector<T> others(70000, number);
    EXPECT_EQ(everywhere<std::uint8_t>("all", others), 1);
    others[7] = -T(0);
    EXPECT_EQ(everywhere<std::uint8_t>("all", others), 0);
    EXPECT_EQ(everywhere<std::int64_t>("count_nonzero", others), 69999);
  }
}

TEST(ReduceSemantics, ZerosOfEitherSignAreZero) {
  expect_zeros_of_either_sign<float>();
  expect_zeros_of_either_sign<double>();
}

TEST(ReduceSemantics, InfinitiesStay) {
  EXPECT_EQ(everyones<float>(reduction("sum"), std::vector<float>{inf_f, 1, 2}), inf_f);
  EXPECT_TRUE(std::isnan(everyones<float>(reduction("sum"), std::vector<float>{inf_f, 1, -inf_f})));
  EXPECT_EQ(everyones<float>(reduction("norm"), std::vector<float>{1, -inf_f, 2}), inf_f);
}

// numpy.mean divides a sum by a complex number, so what is not finite in one part is NaN in the other.
TEST(ReduceSemantics, MeansOfComplexNumbersAreNumPysQuotients) {
  using Number = std::complex<float>;
  const std::vector<std::pair<std::array<Number, 2>, Number>> wanted = {
      {{Number{1, 2}, Number{3, 6}}, {2, 4}},
      {{Number{inf_f, 1}, Number{2, 3}}, {inf_f, nan_f}},
      {{Number{1, -inf_f}, Number{2, 3}}, {nan_f, -inf_f}},
      {{Number{1, nan_f}, Number{2, 4}}, {nan_f, nan_f}},
      {{Number{inf_f, inf_f}, Number{1, 1}}, {nan_f, nan_f}},
  };
  std::vector<Number> numbers, means;
  for (const auto& [pair, mean] : wanted)
    numbers.insert(numbers.end(), pair.begin(), pair.end()), means.push_back(mean);
  const View view = View::contiguous(Dtype::c64, {static_cast<std::int64_t>(wanted.size()), 2});
  const Operation mean = reduction("mean", {{"axes", "1"}});
  const std::vector<View> views = with_result(mean, view);
  const Bytes input = bytes_of_numbers(numbers);
  const auto expect = [&](const Bytes& bytes, const std::string& by) {
    const auto got = numbers_in<float>(bytes);
    for (std::size_t i = 0; i < got.size(); ++i) {
      const float want = i % 2 == 0 ? means[i / 2].real() : means[i / 2].imag();
      EXPECT_TRUE(got[i] == want || (std::isnan(got[i]) && std::isnan(want)))
          << by << ", part " << i % 2 << " of mean " << i / 2 << ": " << got[i] << ", not " << want;
    }
  };
  expect(reduced(mean, view, input), "the device");
  expect(after_oracle(mean, views, input, Bytes(wanted.size() * sizeof(Number))), "the oracle");
}

// Whole vectors of 16-bit floats are converted in a way of their own on CPUs.
TEST(ReduceSemantics, EveryHalfIsTheLargestOfItsLike) {
  constexpr std::size_t all = 65536, each = 16;
  std::vector<std::uint16_t> numbers(all * each);
  for (std::size_t i = 0; i < numbers.size(); ++i) numbers[i] = static_cast<std::uint16_t>(i / each);
  const View view = View::contiguous(Dtype::f16, {all, each});
  const std::string candidate = real_device().info().kind == Kind::cpu ? "rows_cpu" : "";
  const auto largest =
      numbers_in<std::uint16_t>(reduced(reduction("max", {{"axes", "1"}}), view, bytes_of_numbers(numbers), candidate));
  for (std::size_t i = 0; i < all; ++i) {
    const bool nan = (i & 0x7fff) > 0x7c00;
    ASSERT_TRUE(nan ? (largest[i] & 0x7fff) > 0x7c00 : largest[i] == i) << i << " became " << largest[i];
  }
}

TEST(ReduceSemantics, IntegersWrapRoundAtSixtyFourBits) {
  EXPECT_EQ(everyones<std::int64_t>(reduction("sum"),
                                    std::vector<std::int32_t>(3000, std::numeric_limits<std::int32_t>::max())),
            3000ll * std::numeric_limits<std::int32_t>::max());
  EXPECT_EQ(
      everyones<std::int64_t>(reduction("sum"), std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(), 1}),
      std::numeric_limits<std::int64_t>::min());
  EXPECT_EQ(everyones<std::uint64_t>(reduction("prod"), std::vector<std::uint32_t>(3, 0xffffffffu)),
            0xffffffffull * 0xffffffffull * 0xffffffffull);
  EXPECT_EQ(everyones<double>(reduction("mean"), std::vector<std::int64_t>{std::numeric_limits<std::int64_t>::max(),
                                                                           std::numeric_limits<std::int64_t>::max()}),
            0x1p63);
}

Bytes of_nothing(const char* op, Dtype dtype) {
  const View view = View::contiguous(dtype, {0, 5});
  return reduced(reduction(op), view, {});
}

TEST(ReduceSemantics, NothingAddsUpToZero) {
  EXPECT_EQ(numbers_in<float>(of_nothing("sum", Dtype::f32)), std::vector<float>{0});
  EXPECT_EQ(numbers_in<float>(of_nothing("prod", Dtype::f32)), std::vector<float>{1});
  EXPECT_EQ(numbers_in<std::int64_t>(of_nothing("prod", Dtype::i8)), std::vector<std::int64_t>{1});
  EXPECT_TRUE(std::isnan(numbers_in<float>(of_nothing("mean", Dtype::f32)).at(0)));
  EXPECT_TRUE(std::isnan(numbers_in<double>(of_nothing("mean", Dtype::i32)).at(0)));
  EXPECT_EQ(numbers_in<float>(of_nothing("norm", Dtype::f32)), std::vector<float>{0});
  EXPECT_EQ(of_nothing("any", Dtype::f32), Bytes{std::byte{0}});
  EXPECT_EQ(of_nothing("all", Dtype::u8), Bytes{std::byte{1}});
  EXPECT_EQ(numbers_in<std::int64_t>(of_nothing("count_nonzero", Dtype::c64)), std::vector<std::int64_t>{0});
}

TEST(ReduceSemantics, NothingHasNoLargest) {
  const View nothing = View::contiguous(Dtype::f32, {0, 5});
  for (const char* op : {"min", "max", "argmin", "argmax"}) {
    EXPECT_EQ(code_thrown([&] { plan(reduction(op), std::span(&nothing, 1), real_device()); }), Errc::shape) << op;
    EXPECT_NE(text_thrown([&] { plan(reduction(op), std::span(&nothing, 1), real_device()); }).find("no elements"),
              std::string::npos)
        << op;
  }
  // No output, so nothing is asked for.
  const View empty = View::contiguous(Dtype::f32, {0, 5});
  EXPECT_EQ(plan(reduction("max", {{"axes", "1"}}), std::span(&empty, 1), real_device()).report().candidate, "none");
}

TEST(ReduceSemantics, BadRequestsAreNamed) {
  const View view = View::contiguous(Dtype::f32, {4, 5});
  const auto text = [&](Operation op) { return text_thrown([&] { plan(op, std::span(&view, 1), real_device()); }); };
  EXPECT_NE(text(reduction("sum", {{"axes", "2"}})).find("out of range"), std::string::npos);
  EXPECT_NE(text(reduction("sum", {{"axes", "0,-2"}})).find("named twice"), std::string::npos);
  EXPECT_NE(text(reduction("sum", {{"order", "random"}})).find("portable or fast"), std::string::npos);
  EXPECT_NE(text(reduction("norm", {{"ord", "3"}})).find("ord 1, 2 or inf"), std::string::npos);
  EXPECT_NE(text(reduce("median", "h w ->")).find("unknown reduction"), std::string::npos);
  EXPECT_NE(text(reduce("sum", "h w -> c")).find("does not appear on the left"), std::string::npos);
}

TEST(ReduceSemantics, WhatNeedsF64IsRefusedWithoutIt) {
  DeviceInfo info = gpu_info(Api::opencl);
  info.f64 = false;
  const Device device(std::make_shared<PretendedDevice>(info));
  const View ints = View::contiguous(Dtype::i32, {10}), floats = View::contiguous(Dtype::f32, {1 << 20});
  EXPECT_EQ(code_thrown([&] { plan(reduction("mean"), std::span(&ints, 1), device); }), Errc::unsupported);
  EXPECT_NE(text_thrown([&] { plan(reduction("mean"), std::span(&ints, 1), device); }).find("no f64"),
            std::string::npos);
  EXPECT_EQ(plan(reduction("mean"), std::span(&floats, 1), device).report().candidate, "rows");
}

TEST(ReduceSemantics, PatternsReduceWhatIsMissingOnTheRight) {
  const View view = View::contiguous(Dtype::i32, {2, 4, 6});
  std::vector<std::int32_t> numbers(48);
  std::iota(numbers.begin(), numbers.end(), 0);
  const Operation pool = reduce("max", "c (h 2) (w x) -> w c h", {}, {{"x", 3}});
  EXPECT_EQ(result_view(pool, std::span(&view, 1)).shape, (Dims{2, 2, 2}));
  EXPECT_EQ(numbers_in<std::int32_t>(reduced(pool, view, bytes_of_numbers(numbers))),
            (std::vector<std::int32_t>{8, 20, 32, 44, 11, 23, 35, 47}));
}

TEST(ReduceSemantics, PlacesCountTheReducedAxesInOrder) {
  const View view = View::contiguous(Dtype::f32, {3, 4, 5});
  std::vector<float> numbers(60, 0);
  numbers[2 * 20 + 1 * 5 + 3] = 1;  // at 2,1,3
  View turned = view;               // the same array, its first and last axes exchanged
  turned.shape = {5, 4, 3};
  turned.strides = {1, 5, 20};
  EXPECT_EQ(numbers_in<std::int64_t>(reduced(reduction("argmax"), view, bytes_of_numbers(numbers))).at(0), 48);
  for (const std::string& candidate : candidates_for(reduction("argmax"), turned))
    EXPECT_EQ(
        numbers_in<std::int64_t>(reduced(reduction("argmax"), turned, bytes_of_numbers(numbers), candidate)).at(0),
        3 * 12 + 1 * 3 + 2)
        << candidate;
}

}  // namespace
}  // namespace axisloom::ops_test
