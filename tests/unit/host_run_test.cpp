// Running on host arrays: what is checked, what is remembered, and arrays larger than the device's largest buffer.
#include "limited_device.hpp"

#include <gtest/gtest.h>

#include <array>
#include <cstdint>
#include <cstring>

namespace axisloom::ops_test {
namespace {

/// The output array after a run.
Bytes ran(const Operation& op, const std::vector<View>& views, const Bytes& in, Bytes out,
          const Device& device = real_device(), const PlanOptions& options = {}) {
  const std::span<const std::byte> input(in);
  run_on_host(op, views, std::span(&input, 1), out, device, options);
  return out;
}

struct Case {
  Operation op;
  std::vector<View> views;
};

std::vector<Case> cases() {
  View strided_in = View::contiguous(Dtype::f32, {30, 41}), strided_out = View::contiguous(Dtype::f32, {41, 30});
  strided_in.strides = {-50, 1};
  strided_in.offset = 29 * 50 + 3;
  strided_out.strides = {33, -1};
  strided_out.offset = 31;
  const View image = View::contiguous(Dtype::u8, {4, 11, 9, 11});
  const View pixels = View::contiguous(Dtype::u8, {20, 31, 3});
  const View odd = View::contiguous(Dtype::c128, {7, 5, 3});
  return {{transpose(), {strided_in, strided_out}},
          {relayout("NCHW", "NC/8HW8"), with_result(relayout("NCHW", "NC/8HW8"), image)},
          {rearrange("h w c -> c h w"), with_result(rearrange("h w c -> c h w"), pixels)},
          {rearrange("a b c -> b a c"), with_result(rearrange("a b c -> b a c"), odd)}};
}

TEST(HostRun, GivesTheOraclesResult) {
  for (const auto& [op, views] : cases()) {
    SCOPED_TRACE(to_string(op));
    const Bytes in = random_bytes(buffer_bytes(views[0]), 1), out(static_cast<std::size_t>(buffer_bytes(views[1])));
    EXPECT_EQ(ran(op, views, in, out), after_oracle(op, views, in, out));
    if (op.name != "transpose") {
      EXPECT_EQ(ran(op, {views[0]}, in, out), after_oracle(op, views, in, out)) << "without the output's view";
    }
  }
}

TEST(HostRun, SlicesArraysBeyondTheLargestBuffer) {
  for (const bool unified : {true, false}) {
    const auto limited = std::make_shared<LimitedDevice>(real_device().impl(), 1500, unified);
    for (const auto& [op, views] : cases()) {
      SCOPED_TRACE(to_string(op) + (unified ? " in place" : " through buffers"));
      const Bytes in = random_bytes(buffer_bytes(views[0]), 2);
      const Bytes out(static_cast<std::size_t>(buffer_bytes(views[1])), std::byte{0xee});
      limited->buffers = 0;
      EXPECT_EQ(ran(op, views, in, out, Device(limited)), after_oracle(op, views, in, out));
      EXPECT_GT(limited->buffers, 2) << "one part was enough";
    }
  }
}

TEST(HostRun, SlicesArraysThatTogetherExceedTheDevicesMemory) {
  const auto limited = std::make_shared<LimitedDevice>(real_device().impl(), 50000, false);
  const std::vector<View> views = with_result(transpose(), View::contiguous(Dtype::f32, {100, 100}));
  const Bytes in = random_bytes(buffer_bytes(views[0]), 5), out(in.size());
  for (const std::size_t memory : {100000, 90000, 20000}) {
    limited->set_memory(memory);
    limited->buffers = 0;
    EXPECT_EQ(ran(transpose(), views, in, out, Device(limited)), after_oracle(transpose(), views, in, out));
    EXPECT_EQ(limited->buffers > 2, memory < 100000) << memory;
  }
}

TEST(HostRun, ReportsOneOperationForAllItsSlices) {
  const Device limited(std::make_shared<LimitedDevice>(real_device().impl(), 1500, true));
  const auto [op, views] = cases()[0];
  const Bytes in = random_bytes(buffer_bytes(views[0]), 2);
  Bytes out(static_cast<std::size_t>(buffer_bytes(views[1])));
  const std::span<const std::byte> input(in);
  const PlanReport report = run_on_host(op, views, std::span(&input, 1), out, limited);
  EXPECT_EQ(report.op, "transpose");
  EXPECT_EQ(report.device, real_device().info().label());
  EXPECT_NE(report.candidate, "none");
}

TEST(HostRun, SaysWhatCannotBeSliced) {
  const Device limited(std::make_shared<LimitedDevice>(real_device().impl(), 100, true));
  const View in = View::contiguous(Dtype::f32, {1, 67, 1, 1});
  const Operation op = relayout("NCHW", "NC/32HW32");
  EXPECT_EQ(code_thrown([&] { ran(op, {in}, Bytes(67 * 4), Bytes(96 * 4), limited); }), Errc::out_of_memory);
}

TEST(HostRun, TheSecondCallIsPlannedAlready) {
  const View view = View::contiguous(Dtype::u16, {37, 91});
  const Bytes in = random_bytes(buffer_bytes(view), 3), out(in.size());
  const Bytes first = ran(transpose(), {view}, in, out);
  const jit::CacheStats before = jit::cache_stats();
  const Bytes second = ran(transpose(), {view}, in, out);
  const jit::CacheStats after = jit::cache_stats();
  EXPECT_EQ(second, first);
  EXPECT_EQ(after.compiles, before.compiles);
  EXPECT_EQ(after.disk_hits, before.disk_hits);
}

// The plan is found by operation, views, options and device: any other must not answer.
TEST(HostRun, OtherCallsAreNotTakenForTheFirst) {
  View view = View::contiguous(Dtype::u16, {40, 40});
  view.align = 2;  // wherever the arrays lie, so that their addresses tell no calls apart
  const Bytes in = random_bytes(buffer_bytes(view), 3), out(in.size());
  const Bytes transposed = ran(transpose(), {view, view}, in, out);
  EXPECT_EQ(ran(copy(), {view}, in, out), in);
  View by_columns = view, fewer = view, shifted;
  by_columns.strides = {1, 40};
  fewer.shape = {39, 40};
  shifted = fewer;
  shifted.offset = 40;
  for (const View& other : {by_columns, fewer, shifted}) {
    std::vector<View> views = with_result(transpose(), other);
    views[1].align = view.align;
    const Bytes small(static_cast<std::size_t>(buffer_bytes(views[1])));
    EXPECT_EQ(ran(transpose(), views, in, small), after_oracle(transpose(), views, in, small)) << to_string(other);
  }
  PlanOptions forced;
  forced.candidate = "plain";
  EXPECT_EQ(ran(transpose(), {view}, in, out, real_device(), forced), transposed);
  forced.candidate = "no such";
  EXPECT_EQ(code_thrown([&] { ran(transpose(), {view}, in, out, real_device(), forced); }), Errc::usage);
}

TEST(HostRun, RefusesArraysThatDoNotHoldTheirViews) {
  const View view = View::contiguous(Dtype::f32, {8, 6});
  const Bytes right(8 * 6 * 4), small(8 * 6 * 4 - 1);
  EXPECT_EQ(code_thrown([&] { ran(transpose(), {view}, small, right); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { ran(transpose(), {view}, right, small); }), Errc::usage);
  View before = view;
  before.strides = {-6, 1};
  EXPECT_EQ(code_thrown([&] { ran(transpose(), {before}, right, right); }), Errc::shape);
  EXPECT_EQ(code_thrown([&] { ran(transpose(), {view, view, view}, right, right); }), Errc::usage);
  EXPECT_EQ(code_thrown([&] { ran({"turn", {}, {}}, {view}, right, right); }), Errc::usage);
}

TEST(HostRun, EmptyArraysNeedNoMemory) {
  for (const Dims& shape : {Dims{0, 5}, Dims{5, 0}})
    EXPECT_EQ(ran(transpose(), {View::contiguous(Dtype::f32, shape)}, {}, {}), Bytes{});
}

// Host arrays start anywhere, so what the views promise is cut down to what their addresses hold.
TEST(HostRun, ArraysMayStartAtAnyElement) {
  const View view = View::contiguous(Dtype::u16, {70, 66});
  const Bytes in = random_bytes(buffer_bytes(view) + 64, 4);
  const auto size = static_cast<std::size_t>(buffer_bytes(view));
  for (std::size_t shift = 0; shift < 64; shift += 6) {
    Bytes out(size + 64, std::byte{0xee}), expected = out;
    const std::span<const std::byte> input = std::span(in).subspan(shift, size);
    const std::byte* const start = input.data();
    ops::entry("transpose")
        .oracle(transpose(), with_result(transpose(), view), std::span(&start, 1), expected.data() + 64 - shift);
    run_on_host(transpose(), std::span(&view, 1), std::span(&input, 1), std::span(out).subspan(64 - shift, size),
                real_device());
    EXPECT_EQ(out, expected) << shift;
  }
}

/// A device that may be lost.
class LosableDevice : public device::ForwardingDevice {
 public:
  using ForwardingDevice::ForwardingDevice;
  bool lost() const noexcept override { return is_lost; }
  bool is_lost = false;
};

TEST(HostRun, LetsPlansOfLostDevicesGo) {
  const std::vector<View> views = with_result(transpose(), View::contiguous(Dtype::u8, {5, 7}));
  const Bytes in = random_bytes(35, 1);
  auto losable = std::make_shared<LosableDevice>(real_device().impl());
  ran(transpose(), views, in, Bytes(35), Device(losable));
  const std::weak_ptr<LosableDevice> device = losable;
  losable->is_lost = true;
  losable.reset();
  EXPECT_FALSE(device.expired()) << "plans are kept for the next call";
  const View other = View::contiguous(Dtype::u8, {7, 5});
  ran(copy(), {other, other}, in, Bytes(35), Device(std::make_shared<LosableDevice>(real_device().impl())));
  EXPECT_TRUE(device.expired());
}

/// So many bf16 of these bits.
Bytes halves(i64 count, std::uint16_t bits) {
  Bytes bytes(static_cast<std::size_t>(2 * count));
  for (std::size_t at = 0; at < bytes.size(); at += 2) std::memcpy(&bytes[at], &bits, sizeof bits);
  return bytes;
}

// AVX512-BF16 takes numbers below the normal ones for zeros: factors, and sums of products on their way.
TEST(HostRun, AddsUpProductsOfTinyBf16) {
  constexpr i64 m = 9, n = 50, k = 64;
  constexpr std::uint16_t least = 1, to_minus_70 = 57 << 7, to_minus_60 = 67 << 7,
                          to_100 = 227 << 7;  // 2^-133, 2^-70 ...
  struct Factors {
    std::uint16_t a, b;
    float sum;
  };
  for (const auto& [a, b, sum] : {Factors{to_minus_70, to_minus_60, 0x1p-124F}, Factors{least, to_100, 0x1p-27F},
                                  Factors{to_100, least, 0x1p-27F}}) {
    const std::vector<View> views = {View::contiguous(Dtype::bf16, {m, k}), View::contiguous(Dtype::bf16, {k, n}),
                                     View::contiguous(Dtype::f32, {m, n})};
    const Bytes of_a = halves(m * k, a), of_b = halves(k * n, b);
    const std::array<std::span<const std::byte>, 2> inputs = {of_a, of_b};
    std::vector<float> c(m * n, 1.0F);
    run_on_host(matmul({{"out-dtype", "f32"}}), views, inputs, std::as_writable_bytes(std::span(c)),
                Device::open("host"), {.candidate = "packed", .configuration = {{"dots", 2}}});
    EXPECT_EQ(c, std::vector<float>(m * n, sum)) << "of " << a << " and " << b;
  }
}

}  // namespace
}  // namespace axisloom::ops_test
