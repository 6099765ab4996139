// Reductions of host arrays beyond the largest buffer: cut along axes that are kept, or into accumulators that are
// brought together.
#include "limited_device.hpp"
#include "reduce_support.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cmath>
#include <tuple>

namespace axisloom::ops_test {
namespace {

constexpr std::size_t granted = 1000;  // bytes

/// Where axes lie and which way they run: an order of the axes, slowest first, and a bit for each that runs backwards.
View laid(Dtype dtype, const Dims& shape, const std::vector<int>& order, unsigned backwards) {
  View view = View::contiguous(dtype, shape);
  std::int64_t stride = 1;
  view.offset = 2;
  for (auto axis = order.rbegin(); axis != order.rend(); ++axis) {
    view.strides[*axis] = stride;
    stride = stride * shape[*axis] + 1;
    if ((backwards >> *axis & 1) == 0) continue;
    view.offset += (shape[*axis] - 1) * view.strides[*axis];
    view.strides[*axis] *= -1;
  }
  return view;
}

TEST(ReduceSlices, EveryAccumulationOverARunThatIsTooLong) {
  const std::vector<std::pair<const char*, Dtype>> recipes = {
      {"sum", Dtype::f32}, {"mean", Dtype::f16},   {"mean", Dtype::u8},     {"prod", Dtype::i32}, {"min", Dtype::f32},
      {"max", Dtype::f32}, {"argmax", Dtype::f32}, {"argmin", Dtype::c128}, {"any", Dtype::f32},  {"norm", Dtype::f32}};
  for (const auto& [name, dtype] : recipes) {
    const Operation op = reduction(name, {{"axes", "0,2"}});
    const View in = View::contiguous(dtype, {23, 3, 77});
    EXPECT_GT(expect_oracle_in_slices(op, with_result(op, in), size_of(dtype) * granted / 2, plainly()), 8) << name;
  }
}

// Each slice counts what its part of the mask lets through, and the initial value is taken once, at the end.
TEST(ReduceSlices, MasksAreCutWithTheirArrays) {
  const std::vector<std::tuple<const char*, Dtype, bool>> recipes = {
      {"sum", Dtype::f32, true}, {"mean", Dtype::f16, false}, {"mean", Dtype::u8, false},
      {"max", Dtype::f32, true}, {"min", Dtype::c64, true},   {"all", Dtype::f32, false}};
  for (const auto& [name, dtype, initial] : recipes)
    for (const Dims& shape : {Dims{23, 3, 77}, Dims{77}, Dims{23, 1, 1}}) {
      ReduceOptions options{.axes = {0, 2}, .where = true};
      if (initial) options.initial = 2;
      const Operation op = reduction(name, options);
      std::vector<View> views = {View::contiguous(dtype, {23, 3, 77}), View::contiguous(Dtype::boolean, shape)};
      views.push_back(result_view(op, views));
      EXPECT_GT(expect_oracle_in_slices(op, views, size_of(dtype) * granted / 2, plainly()), 8) << to_string(op);
    }
}

TEST(ReduceSlices, DtypesAndInitialValuesAreForTheWhole) {
  const View in = View::contiguous(Dtype::u8, {23, 3, 77});
  for (const ReduceOptions& options :
       {ReduceOptions{.axes = {0, 2}, .initial = 0.5, .dtype = Dtype::f32},
        ReduceOptions{.axes = {0, 2}, .initial = 7, .dtype = Dtype::u8}, ReduceOptions{.axes = {2}, .initial = 9}}) {
    const Operation op = reduction("sum", options);
    EXPECT_GT(expect_oracle_in_slices(op, with_result(op, in), granted / 2, plainly()), 8) << to_string(op);
  }
}

TEST(ReduceSlices, MasksInThePortableOrderAreRefused) {
  const Operation op = reduction("sum", ReduceOptions{.order = Order::portable, .where = true});
  std::vector<View> views = {View::contiguous(Dtype::f32, {3000}), View::contiguous(Dtype::boolean, {3000})};
  views.push_back(result_view(op, views));
  EXPECT_EQ(code_thrown([&] { ops::entry("sum").slices(op, views, real_device(), {}, granted); }), Errc::out_of_memory);
}

TEST(ReduceSlices, EverySetOfAxesAndEveryLayout) {
  const std::vector<std::vector<int>> orders = {{0, 1, 2}, {2, 0, 1}, {1, 2, 0}};
  for (const char* axes : {"0", "1", "2", "0,1", "0,2", "1,2", "0,1,2"}) {
    for (unsigned layout = 0; layout < 6; ++layout) {
      const Operation op = reduction("argmax", {{"axes", axes}});
      const View in = laid(Dtype::f32, {11, 7, 13}, orders[layout % 3], layout);
      EXPECT_GT(expect_oracle_in_slices(op, with_result(op, in), granted, plainly(), layout % 2 == 0), 4)
          << axes << " of " << to_string(in);
    }
  }
}

// The places of a slice are those of a box within the whole, whichever of its axes were cut.
TEST(ReduceSlices, PlacesCountAlongAllOfTheArray) {
  const Operation op = reduction("argmax");
  View in = laid(Dtype::f32, {40, 30, 20}, {2, 1, 0}, 2);
  Bytes numbers(static_cast<std::size_t>(buffer_bytes(in)));
  const auto device = std::make_shared<LimitedDevice>(real_device().impl(), 4 * granted, true);
  const std::vector<std::array<int, 3>> places = {{39, 0, 7}, {17, 29, 7}, {17, 0, 19}, {0, 0, 0}};
  for (const auto& [x, y, z] : places) {
    Bytes marked = numbers, out(8);
    for (const int lower : {0, 1}) {  // an equal that comes later must not be taken
      const std::int64_t at = in.offset + (x - lower * (x > 0)) * in.strides[0] + y * in.strides[1] + z * in.strides[2];
      core::store_number(Dtype::f32, marked.data() + at * 4, 5);
    }
    const std::span<const std::byte> input(marked);
    run_on_host(op, std::span(&in, 1), std::span(&input, 1), out, Device(device), plainly());
    EXPECT_EQ(numbers_in<std::int64_t>(out).at(0), ((x - (x > 0)) * 30 + y) * 20 + z);
  }
}

TEST(ReduceSlices, NanInfinityAndTheFirstOfEqualsAreFoundAcrossSlices) {
  const float nan = std::numeric_limits<float>::quiet_NaN(), infinite = std::numeric_limits<float>::infinity();
  const Device device(std::make_shared<LimitedDevice>(real_device().impl(), granted, true));
  const auto one = [&](const char* name, const std::vector<float>& numbers, auto zero) {
    const View in = View::contiguous(Dtype::f32, {static_cast<std::int64_t>(numbers.size())});
    const Bytes bytes = bytes_of_numbers(numbers);
    const std::span<const std::byte> input(bytes);
    Bytes out(sizeof zero);
    run_on_host(reduction(name), std::span(&in, 1), std::span(&input, 1), out, device, plainly());
    return numbers_in<decltype(zero)>(out).at(0);
  };
  std::vector<float> numbers(3000, -infinite);
  EXPECT_EQ(one("argmax", numbers, std::int64_t{}), 0) << "all are equal";
  EXPECT_EQ(one("sum", numbers, float{}), -infinite);
  numbers[2000] = infinite;
  EXPECT_TRUE(std::isnan(one("sum", numbers, float{})));
  EXPECT_EQ(one("max", numbers, float{}), infinite);
  numbers[2900] = numbers[1700] = nan;
  EXPECT_EQ(one("argmax", numbers, std::int64_t{}), 1700);
  EXPECT_TRUE(std::isnan(one("min", numbers, float{})));
}

// 2^24 and ones: a slice that was rounded to f32, or left its correction behind, would lose them.
TEST(ReduceSlices, CorrectionsTravelWithTheSums) {
  std::vector<float> numbers(20000, 1);
  numbers[0] = 0x1p24f;
  numbers.back() = -0x1p24f;
  const View in = View::contiguous(Dtype::f32, {20000});
  const Bytes bytes = bytes_of_numbers(numbers);
  const std::span<const std::byte> input(bytes);
  Bytes out(4);
  const Device device(std::make_shared<LimitedDevice>(real_device().impl(), 4 * granted, true));
  run_on_host(reduction("sum"), std::span(&in, 1), std::span(&input, 1), out, device, plainly());
  EXPECT_EQ(numbers_in<float>(out).at(0), 19998);
}

TEST(ReduceSlices, TheUsualVariantsServeToo) {
  const Operation rows = reduction("sum", {{"axes", "1"}}), columns = reduction("sum", {{"axes", "0"}}),
                  all = reduction("mean");
  constexpr std::size_t room = 20000;  // for the tickets, too
  for (const Operation& op : {rows, columns, all})
    EXPECT_GT(expect_oracle_in_slices(op, with_result(op, View::contiguous(Dtype::f32, {150, 211})), room), 4);
}

// Where outputs need not be cut, they have the bits that they have in one.
TEST(ReduceSlices, KeptAxesAloneAreCutWhereThatIsEnough) {
  const Operation op = reduction("sum", {{"axes", "1"}});
  const std::vector<View> views = with_result(op, View::contiguous(Dtype::f32, {60, 100}));
  const ops::Slices slices = ops::entry("sum").slices(op, views, real_device(), plainly(), granted);
  EXPECT_EQ(slices.scratch_bytes, 0);
  EXPECT_GE(slices.list.size(), 24u);
  const ops::Slices cut = ops::entry("sum").slices(op, views, real_device(), plainly(), 300);
  EXPECT_GT(cut.scratch_bytes, 0);
  EXPECT_LE(cut.scratch_bytes, 300);
}

// A few long rows have more accumulators than elements. Rows that are repeated are moved once.
TEST(ReduceSlices, RowsFarApartAreMovedNextToEachOther) {
  View in = View::contiguous(Dtype::f32, {3, 4, 2000});
  in.strides = {2000, 0, -1};
  in.offset = 1999;
  for (const bool unified : {true, false}) {
    const Operation op = reduction("sum", {{"axes", "0"}});
    const std::vector<ops::Slice> slices =
        ops::entry("sum")
            .slices(op, with_result(op, in), real_device(), plainly(), static_cast<std::int64_t>(granted))
            .list;
    EXPECT_EQ(slices.front().plan->report.candidate, "") << "a move";
    EXPECT_EQ(slices.back().plan->report.candidate, "plain");
    expect_oracle_in_slices(op, with_result(op, in), granted, plainly(), unified);
  }
}

// In slices or not: the portable order has one result.
TEST(ReduceSlices, ThePortableOrderStays) {
  const View in = View::contiguous(Dtype::f32, {60, 300});
  const Bytes input = few_numbers(in, 3);
  const std::span<const std::byte> bytes(input);
  const Device limited(std::make_shared<LimitedDevice>(real_device().impl(), 2 * granted, true));
  for (const char* axes : {"0", "1"}) {
    const Operation op = reduction("sum", {{"axes", axes}, {"order", "portable"}});
    Bytes in_slices(static_cast<std::size_t>(buffer_bytes(with_result(op, in)[1]))), in_one = in_slices;
    run_on_host(op, std::span(&in, 1), std::span(&bytes, 1), in_slices, limited);
    run_on_host(op, std::span(&in, 1), std::span(&bytes, 1), in_one, real_device());
    EXPECT_EQ(in_slices, in_one) << axes;
  }
  const Operation all = reduction("sum", {{"order", "portable"}});
  EXPECT_NE(text_thrown([&] {
              ops::entry("sum").slices(all, with_result(all, in), real_device(), {}, 1000);
            }).find("portable"),
            std::string::npos);
}

TEST(ReduceSlices, LargeResultsOfNothing) {
  const Operation op = reduction("sum", {{"axes", "1"}});
  expect_oracle_in_slices(op, with_result(op, View::contiguous(Dtype::f32, {700, 0})), granted, plainly());
}

TEST(ReduceSlices, WideIndicesGiveTheSame) {
  PlanOptions wide = plainly();
  wide.index = IndexWidth::bits64;
  wide.checked = true;
  const Operation op = reduction("argmax", {{"axes", "0,2"}});
  expect_oracle_in_slices(op, with_result(op, View::contiguous(Dtype::f32, {9, 5, 40})), 600, wide);
}

}  // namespace
}  // namespace axisloom::ops_test
