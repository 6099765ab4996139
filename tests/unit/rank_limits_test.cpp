// As many axes as kernels walk, none of which can be merged, by every candidate that accepts; and one more, which is
// refused by name.
#include "limited_device.hpp"
#include "ops/matmul/product.hpp"

#include <gtest/gtest.h>

namespace axisloom::ops_test {
namespace {

/// "a0 a1 ... ", from the first to the last, which may be the lower one.
std::string axes_text(int first, int last, int step = 1) {
  std::string text;
  const int way = first <= last ? step : -step;
  for (int i = first; way > 0 ? i <= last : i >= last; i += way)
    text += (text.empty() ? "a" : " a") + std::to_string(i);
  return text;
}

Lengths all_two(int axes) {
  Lengths lengths;
  for (int i = 0; i < axes; ++i) lengths.emplace_back("a" + std::to_string(i), 2);
  return lengths;
}

/// Axes of 2 whose neighbours' strides never follow each other, in as little memory as possible.
View scattered(Dtype dtype, int axes) {
  View view = View::contiguous(dtype, Dims::filled(axes, 2));
  for (int i = 0; i + 1 < axes; i += 2) std::swap(view.strides[i], view.strides[i + 1]);
  return view;
}

std::vector<View> completed(const Operation& op, std::vector<View> inputs) {
  inputs.push_back(result_view(op, inputs));
  return inputs;
}

/// Runs by a candidate that takes everything.
void expect_oracle_at_limit(const Operation& op, const std::vector<View>& views, const Device& device) {
  std::vector<Bytes> in;
  for (std::size_t i = 0; i + 1 < views.size(); ++i) in.push_back(few_numbers(views[i], static_cast<unsigned>(i)));
  const Bytes before(static_cast<std::size_t>(buffer_bytes(views.back())), std::byte{0x6d});
  const std::vector<std::span<const std::byte>> spans(in.begin(), in.end());
  Bytes out = before;
  run_on_host(op, views, spans, out, device, plainly());
  EXPECT_EQ(beyond_bound(op, views, in, before, out), "") << to_string(op);
}

/// Planned by every candidate that accepts, for devices that only pretend: what is too long for its array is written.
void expect_planned(const Operation& op, std::span<const View> in) {
  for (const DeviceInfo& info : {cpu_info(), gpu_info()}) {
    const Device device(std::make_shared<PretendedDevice>(info));
    const Plan chosen = plan(op, in, device);
    for (const CandidateReport& candidate : chosen.report().candidates) {
      if (!candidate.accepted) continue;
      PlanOptions options;
      options.candidate = candidate.name;
      EXPECT_EQ(plan(op, in, device, options).report().candidate, candidate.name);
    }
  }
}

void expect_planned(const Operation& op, const View& in) {
  expect_planned(op, std::span(&in, 1));
}

/// The error names the operation, its shapes, the device and what to do.
void expect_refused(const Operation& op, const View& in, const char* remedy) {
  const Device device = real_device();
  try {
    plan(op, std::span(&in, 1), device);
    ADD_FAILURE() << to_string(op) << " was planned";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Errc::unsupported) << error.what();
    for (const std::string& part : {op.name, to_string(in), device.info().label(), std::string(remedy)})
      EXPECT_NE(std::string(error.what()).find(part), std::string::npos) << part << " is missing in " << error.what();
  }
}

/// "(a0 a1 a2 a3) -> (a3 a1)": every second axis is kept, so that none can be merged.
std::string every_second(int axes) {
  return "(" + axes_text(0, axes - 1) + ") -> (" + axes_text((axes - 1) / 2 * 2, 0, 2) + ")";
}

class RankLimits : public ::testing::Test {
  NoDiskCache memory_only_;
};

TEST_F(RankLimits, MovesWalkSixteenAxes) {
  const auto turned = [](int axes) {
    return rearrange("(" + axes_text(0, axes - 1) + ") -> (" + axes_text(axes - 1, 0) + ")", all_two(axes));
  };
  expect_planned(turned(16), View::contiguous(Dtype::u8, {1 << 16}));
  for (const int axes : {17, 19}) {  // the others are a loop over launches
    const std::vector<View> views = completed(turned(axes), {View::contiguous(Dtype::u16, {std::int64_t{1} << axes})});
    expect_oracle_at_limit(turned(axes), views, real_device());
    expect_oracle_at_limit(turned(axes), views, Device::open("host"));
    const Plan planned = plan(turned(axes), views, Device::open("host"));
    EXPECT_EQ(planned.impl()->launches.size(), std::size_t{1} << (axes - 16));
    EXPECT_EQ(planned.report().bytes_moved, std::int64_t{4} << axes);
  }
  EXPECT_EQ(plan(turned(26), {View::contiguous(Dtype::u8, {1 << 26})}, Device::open("host")).impl()->launches.size(),
            1024U);
  expect_refused(turned(27), View::contiguous(Dtype::u8, {1 << 27}), "two steps");
  expect_refused(turned(30), View::contiguous(Dtype::u8, {1 << 30}), "two steps");
}

// Axes of length 1 and those that follow each other are no axes of a walk.
TEST_F(RankLimits, MovesTakeThirtyTwoAxesOfAPattern) {
  for (const int axes : {17, 24, 32}) {
    Lengths lengths;
    for (int i = 0; i < axes; ++i) lengths.emplace_back("a" + std::to_string(i), i % 2 + 1);
    const std::string all = axes_text(0, axes - 1);
    for (const std::string& right :
         {axes_text(axes - 1, 0), axes_text(axes / 2, axes - 1) + " " + axes_text(0, axes / 2 - 1)}) {
      const Operation op = rearrange("(" + all + ") -> (" + right + ")", lengths);
      expect_oracle_at_limit(op, completed(op, {View::contiguous(Dtype::f32, {std::int64_t{1} << (axes / 2)})}),
                             Device::open("host"));
    }
  }
}

TEST_F(RankLimits, ReductionsKeepAllAxesOfTheirArrays) {
  const Operation op = reduce("max", axes_text(0, 15) + " -> " + axes_text(15, 0));
  const std::vector<View> views = completed(op, {View::contiguous(Dtype::f32, Dims::filled(16, 2))});
  expect_oracle_at_limit(op, views, real_device());
  expect_oracle_at_limit(op, views, as_gpu(real_device()));
  expect_planned(op, views[0]);
}

TEST_F(RankLimits, ReductionsWalkTwentyOneAxes) {
  const Operation op = reduce("sum", every_second(18), {}, all_two(18));
  expect_oracle_at_limit(op, completed(op, {View::contiguous(Dtype::u8, {1 << 18})}), real_device());
  for (const int axes : {18, 20, 21})
    expect_planned(reduce("sum", every_second(axes), {}, all_two(axes)),
                   View::contiguous(Dtype::u8, {std::int64_t{1} << axes}));
  expect_planned(reduce("sum", axes_text(0, 15) + " ->"), scattered(Dtype::f32, 16));
  for (const int axes : {22, 23}) {  // more kept ones are a loop over launches
    const Operation more = reduce("sum", every_second(axes), {}, all_two(axes));
    const std::vector<View> views = completed(more, {View::contiguous(Dtype::u8, {std::int64_t{1} << axes})});
    expect_oracle_at_limit(more, views, Device::open("host"));
    EXPECT_GT(plan(more, views, Device::open("host")).impl()->launches.size(), 1U);
  }
  expect_refused(reduce("sum", every_second(42), {}, all_two(42)), View::contiguous(Dtype::u8, {std::int64_t{1} << 42}),
                 "two steps");
}

/// "x0 x1 ...", and lengths of 2 for each.
std::string named(const std::string& name, int axes, bool backwards = false) {
  std::string text;
  for (int i = 0; i < axes; ++i) text += (i == 0 ? "" : " ") + name + std::to_string(backwards ? axes - 1 - i : i);
  return text;
}
Lengths all_two(const std::vector<std::string>& names, int axes) {
  Lengths lengths;
  for (const std::string& name : names)
    for (int i = 0; i < axes; ++i) lengths.emplace_back(name + std::to_string(i), 2);
  return lengths;
}

// Patterns split axes into more than kernels walk; the shortest are a loop over launches.
TEST_F(RankLimits, EinsumsTakeMoreAxesThanArraysHave) {
  constexpr int axes = 9;
  std::string pairs;
  for (int i = 0; i < axes; ++i) pairs += " a" + std::to_string(i) + " b" + std::to_string(i);
  const Operation outer = einsum("(" + named("a", axes) + "), (" + named("b", axes) + ") -> (" + pairs.substr(1) + ")",
                                 {}, all_two({"a", "b"}, axes));
  const View factor = View::contiguous(Dtype::i32, {1 << axes});
  for (const Device& device : {Device::open("host"), real_device()})
    expect_oracle_at_limit(outer, completed(outer, {factor, factor}), device);
  EXPECT_EQ(plan(outer, {factor, factor}, Device::open("host")).impl()->launches.size(), 4U);

  constexpr int batch = 16;
  const Operation products =
      einsum("(" + named("b", batch) + ") k, (" + named("b", batch, true) + ") k -> (" + named("b", batch) + ")", {},
             all_two({"b"}, batch));
  const View rows = View::contiguous(Dtype::f32, {1 << batch, 3});
  for (const Device& device : {Device::open("host"), real_device()})
    expect_oracle_at_limit(products, completed(products, {rows, rows}), device);
}

// 15 axes whose strides do not follow each other, and one that is cut into reduced, kept, reduced.
TEST_F(RankLimits, PlacesOfSlicesWalkAsManyReducedAxes) {
  View in = scattered(Dtype::u8, 15);
  for (std::int64_t& stride : in.strides) stride *= 8;
  in.shape.push_back(8);
  in.strides.push_back(1);
  const Operation op = reduce("argmax", axes_text(0, 14) + " (r k s) -> k", {}, {{"r", 2}, {"k", 2}, {"s", 2}});
  EXPECT_GT(expect_oracle_in_slices(op, completed(op, {in}), 1 << 16), 2);
}

TEST_F(RankLimits, ProductsWalkAllAxesOfTheirArrays) {
  const View contiguous = View::contiguous(Dtype::i32, Dims::filled(16, 2));
  const std::vector<View> views = completed(matmul(), {scattered(Dtype::i32, 16), contiguous});
  expect_oracle_at_limit(matmul(), views, real_device());
  expect_oracle_at_limit(matmul(), views, as_gpu(real_device()));
  expect_planned(matmul(), std::span(views).first(2));
  const Operation each = einsum(axes_text(0, 15) + ", " + axes_text(15, 0) + " -> " + axes_text(0, 15));
  const Plan planned = plan(each, completed(each, {contiguous, contiguous}), real_device());
  EXPECT_EQ(planned.report().candidate, "map");

  const Operation outer =
      einsum(axes_text(0, 7) + ", " + axes_text(8, 15) + " -> " + axes_text(0, 14, 2) + " " + axes_text(1, 15, 2));
  const View eight = View::contiguous(Dtype::i32, Dims::filled(8, 2));
  expect_oracle_at_limit(outer, completed(outer, {eight, eight}), real_device());
  expect_oracle_at_limit(outer, completed(outer, {eight, eight}), Device::open("host"));
  EXPECT_EQ(code_thrown([&] {
              result_view(einsum(axes_text(0, 8) + ", " + axes_text(9, 16) + " -> " + axes_text(0, 16)),
                          {View::contiguous(Dtype::i32, Dims::filled(9, 2)), eight});
            }),
            Errc::shape);

  ops::Product product;
  for (std::int64_t i = 0, stride = 1 << 16; i <= ops::most_batch_axes; ++i, stride /= 2)
    product.batch.push_back({.extent = 2, .out = i % 2 == 0 ? stride / 2 : stride * 2});
  EXPECT_EQ(code_thrown([&] { ops::plan_product(product, {}, real_device(), {}); }), Errc::unsupported);
}

}  // namespace
}  // namespace axisloom::ops_test
