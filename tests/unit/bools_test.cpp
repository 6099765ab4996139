// Bools whose bytes are neither 0 nor 1, as views of bytes and files bring them: they count as 1 in all arithmetic, and
// are moved as they are.
#include "limited_device.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

namespace axisloom::ops_test {
namespace {

/// A third of them 0, the others anything.
Bytes any_bools(std::int64_t count, unsigned seed) {
  Bytes bytes = random_bytes(count, seed);
  for (std::size_t i = 0; i < bytes.size(); i += 3) bytes[i] = {};
  return bytes;
}

Bytes bytes_from(std::initializer_list<int> values) {
  Bytes bytes;
  for (const int value : values) bytes.push_back(static_cast<std::byte>(value));
  return bytes;
}

Bytes on_host(const Operation& op, const std::vector<View>& inputs, const std::vector<Bytes>& in,
              const Device& device = real_device(), const PlanOptions& options = {}) {
  const View result = result_view(op, inputs);
  Bytes out(static_cast<std::size_t>(buffer_bytes(result)), std::byte{0x6d});
  const std::vector<std::span<const std::byte>> spans(in.begin(), in.end());
  run_on_host(op, inputs, spans, out, device, options);
  return out;
}

template <class T>
T only_number(const Bytes& bytes) {
  T value;
  EXPECT_EQ(bytes.size(), sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  return value;
}

void expect_bools_as_oracle(const Operation& op, const std::vector<View>& inputs, const std::vector<Bytes>& in,
                            const Device& device = real_device(), const PlanOptions& options = {}) {
  std::vector<View> views = inputs;
  views.push_back(result_view(op, inputs));
  const Bytes before(static_cast<std::size_t>(buffer_bytes(views.back())), std::byte{0x6d});
  const Bytes got = on_host(op, inputs, in, device, options);
  EXPECT_EQ(beyond_bound(op, views, in, before, got), "") << to_string(op) << " by '" << options.candidate << "'";
  if (views.back().dtype == Dtype::boolean) {
    EXPECT_LE(std::to_integer<int>(*std::max_element(got.begin(), got.end())), 1) << to_string(op);
  }
}

PlanOptions by_candidate(const std::string& candidate) {
  PlanOptions options;
  options.candidate = candidate;
  return options;
}

View bools(const Dims& shape) {
  return View::contiguous(Dtype::boolean, shape);
}

TEST(Bools, CountAsOneInReductions) {
  const Bytes in = bytes_from({0, 1, 2, 255, 128, 0, 4, 3}), truths = bytes_from({9, 2, 4, 255, 1, 7, 6, 3});
  const auto reduced = [](const char* op, const Bytes& bytes) { return on_host(reduction(op), {bools({8})}, {bytes}); };
  EXPECT_EQ(only_number<std::int64_t>(reduced("sum", in)), 6);
  EXPECT_EQ(only_number<double>(reduced("mean", in)), 0.75);
  EXPECT_EQ(only_number<std::int64_t>(reduced("prod", truths)), 1);
  EXPECT_EQ(only_number<std::uint8_t>(reduced("max", in)), 1);
  EXPECT_EQ(only_number<std::uint8_t>(reduced("min", truths)), 1);
  EXPECT_EQ(only_number<std::int64_t>(reduced("argmax", in)), 1);
  EXPECT_EQ(only_number<std::int64_t>(reduced("argmin", truths)), 0);
  EXPECT_EQ(only_number<double>(reduced("norm", truths)), std::sqrt(8.0));
  EXPECT_EQ(only_number<std::int64_t>(reduced("count_nonzero", in)), 6);
  EXPECT_EQ(only_number<std::uint8_t>(reduced("all", truths)), 1);
  EXPECT_EQ(only_number<std::uint8_t>(reduced("any", in)), 1);
}

TEST(Bools, CountAsOneByEveryWayToReduce) {
  const Bytes in = any_bools(40 * 300, 1);
  const Device real = real_device(), gpu = as_gpu(real);
  for (const char* op : {"sum", "argmax"}) {
    expect_bools_as_oracle(reduction(op, {{"axes", "1"}}), {bools({40, 300})}, {in}, real, by_candidate("rows_cpu"));
    expect_bools_as_oracle(reduction(op, {{"axes", "0"}}), {bools({40, 300})}, {in}, real, by_candidate("columns_cpu"));
    expect_bools_as_oracle(reduction(op, {{"axes", "1"}}), {bools({40, 300})}, {in}, gpu, by_candidate("rows"));
    expect_bools_as_oracle(reduction(op, {{"axes", "0"}}), {bools({40, 300})}, {in}, gpu, by_candidate("columns"));
  }
  expect_bools_as_oracle(reduction("norm", {{"ord", "1"}, {"order", "portable"}}), {bools({300})}, {any_bools(300, 2)});
  expect_bools_as_oracle(reduction("max", {{"axes", "1"}}), {bools({3000, 4})}, {in}, real, by_candidate("plain"));
}

TEST(Bools, CountAsOneInSlices) {
  const Device small(std::make_shared<LimitedDevice>(real_device().impl(), 5000, true));
  for (const char* op : {"sum", "argmin"})
    expect_bools_as_oracle(reduction(op), {bools({40, 300})}, {any_bools(40 * 300, 3)}, small, plainly());
  expect_bools_as_oracle(dot(), {bools({12000}), bools({12000})}, {any_bools(12000, 4), any_bools(12000, 5)}, small,
                         plainly());
}

TEST(Bools, AreOrOfAndsInProducts) {
  const std::vector<View> inputs{bools({9, 33}), bools({33, 17})};
  const std::vector<Bytes> in{any_bools(9 * 33, 6), any_bools(33 * 17, 7)};
  for (const char* candidate : {"plain", "packed", "tile", "local16"})
    expect_bools_as_oracle(matmul(), inputs, in, real_device(), by_candidate(candidate));
  expect_bools_as_oracle(matmul({{"beta", "1"}}), {inputs[0], inputs[1], bools({17})},
                         {in[0], in[1], any_bools(17, 8)});
  expect_bools_as_oracle(einsum("i k -> i"), {inputs[0]}, {in[0]});
  expect_bools_as_oracle(einsum("i k -> i", {{"out-dtype", "i32"}}), {inputs[0]}, {in[0]});
  expect_bools_as_oracle(einsum("i k -> k i"), {inputs[0]}, {in[0]});
  expect_bools_as_oracle(einsum("i k -> i"), {bools({297, 1})}, {in[0]});
  expect_bools_as_oracle(einsum("i k, i k -> i k"), {inputs[0], inputs[0]}, {in[0], in[0]});
  EXPECT_EQ(
      only_number<std::uint8_t>(on_host(dot(), {bools({2}), bools({2})}, {bytes_from({2, 0}), bytes_from({4, 1})})), 1);
}

// 200 masked bytes of 200 each are 40,000 together.
TEST(Bools, MasksOfBytesGiveWholeSums) {
  const View mask = bools({200}), bytes = View::contiguous(Dtype::u8, {200}),
             small = View::contiguous(Dtype::i8, {200});
  const Bytes truth(200, std::byte{2}), numbers(200, std::byte{200});
  EXPECT_EQ(only_number<std::int32_t>(on_host(dot(), {mask, bytes}, {truth, numbers})), 40000);
  EXPECT_EQ(only_number<std::int32_t>(on_host(dot(), {small, mask}, {numbers, truth})), -56 * 200);
  const Operation three = einsum("i, i, i ->");
  EXPECT_EQ(only_number<std::int32_t>(on_host(three, {mask, bytes, mask}, {truth, numbers, truth})), 40000);
  expect_bools_as_oracle(matmul(), {bools({9, 33}), View::contiguous(Dtype::u8, {33, 17})},
                         {any_bools(9 * 33, 6), random_bytes(33 * 17, 7)});
}

TEST(Bools, AreMovedAsTheyAre) {
  const Bytes in = any_bools(40 * 30, 9);
  const std::vector<View> views = with_result(transpose(), bools({40, 30}));
  EXPECT_TRUE(on_host(copy(), {bools({40 * 30})}, {in}) == in);
  Bytes out(in.size());
  const std::span<const std::byte> span(in);
  run_on_host(transpose(), std::span(views).first(1), std::span(&span, 1), out, real_device());
  EXPECT_TRUE(out == after_oracle(transpose(), views, in, Bytes(in.size())));
}

}  // namespace
}  // namespace axisloom::ops_test
