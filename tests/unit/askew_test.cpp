// Complex numbers that are aligned to their parts alone, as NumPy's are: every kind of operation takes and makes them.
#include "ops_support.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <complex>
#include <cstring>

namespace axisloom::ops_test {
namespace {

/// Small whole numbers, whose sums and products are exact in any order.
template <class Part>
std::vector<std::complex<Part>> numbers(std::int64_t count) {
  std::vector<std::complex<Part>> list;
  for (std::int64_t i = 0; i < count; ++i) list.emplace_back(Part(i % 7 - 3), Part(i % 5 - 2));
  return list;
}

/// Bytes that begin `beyond` bytes after a multiple of 256.
class Shifted {
 public:
  Shifted(std::span<const std::byte> content, std::size_t beyond) : memory_(content.size() + 512) {
    const auto address = reinterpret_cast<std::uintptr_t>(memory_.data());
    begin_ = memory_.data() + (256 - address % 256) + beyond;
    std::ranges::copy(content, begin_);
  }
  std::byte* begin() const { return begin_; }

 private:
  Bytes memory_;
  std::byte* begin_;
};

/// The result with every complex array `beyond` bytes after a multiple of 256.
template <class Part>
Bytes ran(const Operation& op, std::vector<View> inputs, std::size_t beyond, const Device& device) {
  const View result = result_view(op, inputs);
  std::vector<Shifted> memory;
  std::vector<std::span<const std::byte>> in;
  for (View& view : inputs) {
    const auto values = numbers<Part>(view.bounds().high);
    const std::span<const std::byte> bytes = std::as_bytes(std::span(values));
    memory.emplace_back(bytes, beyond);
    in.emplace_back(memory.back().begin(), bytes.size());
  }
  const Bytes nothing(static_cast<std::size_t>(buffer_bytes(result)));
  const Shifted out(nothing, result.dtype == inputs[0].dtype ? beyond : 0);
  run_on_host(op, inputs, in, {out.begin(), nothing.size()}, device);
  return {out.begin(), out.begin() + nothing.size()};
}

template <class Part>
void expect_the_same(const Operation& op, const std::vector<View>& inputs) {
  std::vector<Device> devices = {Device::open("host")};
  if (sizeof(Part) == sizeof(double)) devices.insert(devices.end(), {real_device(), as_gpu(real_device())});
  for (const Device& device : devices)
    EXPECT_EQ(ran<Part>(op, inputs, sizeof(Part), device), ran<Part>(op, inputs, 0, device))
        << to_string(op) << " on " << device.info().label();
}

template <class Part>
void expect_all_the_same(Dtype dtype) {
  const auto array = [dtype](const Dims& shape) { return View::contiguous(dtype, shape); };
  expect_the_same<Part>(copy(), {array({5, 33})});
  expect_the_same<Part>(transpose(), {array({70, 66})});
  expect_the_same<Part>(permute({2, 0, 1}), {array({7, 20, 9})});
  expect_the_same<Part>(rearrange("h (w x) -> w h x", {{"x", 3}}), {array({20, 30})});
  expect_the_same<Part>(relayout("NCHW", "NC/4HW4"), {array({2, 5, 6, 7})});
  expect_the_same<Part>(relayout("NC/4HW4", "NCHW", 5), {array({2, 2, 6, 7, 4})});
  expect_the_same<Part>(reduction("sum"), {array({3000})});
  expect_the_same<Part>(reduction("sum", ReduceOptions{.axes = {0}}), {array({40, 50})});
  expect_the_same<Part>(reduction("sum", ReduceOptions{.axes = {1}}), {array({40, 50})});
  expect_the_same<Part>(reduction("argmax", ReduceOptions{.axes = {1}}), {array({40, 50})});
  expect_the_same<Part>(matmul(), {array({17, 19}), array({19, 23})});
  expect_the_same<Part>(matmul(ProductOptions{.alpha = 2, .beta = 3}), {array({17, 19}), array({19, 23}), array({23})});
  expect_the_same<Part>(einsum("i j -> j"), {array({30, 20})});
  expect_the_same<Part>(einsum("i j -> j i", ProductOptions{.alpha = 2}), {array({30, 20})});
  expect_the_same<Part>(einsum("i, j -> i j"), {array({30}), array({20})});
  expect_the_same<Part>(einsum("i j, j k, k l -> i l"), {array({6, 7}), array({7, 8}), array({8, 9})});
  expect_the_same<Part>(einsum("i k, k j -> i j"), {array({3, 0}), array({0, 4})});
}

TEST(Askew, PairsOfDoublesMayBeginAtAnyDouble) {
  expect_all_the_same<double>(Dtype::c128);
}

TEST(Askew, PairsOfFloatsMayBeginAtAnyFloat) {
  expect_all_the_same<float>(Dtype::c64);
}

TEST(Askew, LessThanAPartIsRefused) {
  View view = View::contiguous(Dtype::c128, {3});
  view.align = 8;
  validate(view, "input");
  view.align = 4;
  EXPECT_NE(text_thrown([&] { validate(view, "input"); }).find("aligned to 4 bytes"), std::string::npos);
}

}  // namespace
}  // namespace axisloom::ops_test
