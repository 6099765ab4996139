// What a stranger's first program does: transpose an array on whatever device there is, and read an error.
#include <axisloom/axisloom.hpp>
#include <axisloom/dlpack.hpp>

#include <array>
#include <cstdint>
#include <cstdio>
#include <utility>
#include <vector>

#include "plan.hpp"

namespace {

bool one_call_for_one_thing() {
  std::vector<float> pixels(480 * 640);
  axisloom::Array turned = axisloom::rearrange({pixels, {480, 640}}, "h w -> w h");
  axisloom::Array means = axisloom::mean(turned, {.axes = {0}, .keepdims = true});
  return turned.shape() == axisloom::Dims{640, 480} && means.elements<float>().size() == 480;
}

bool reductions_with_options() {
  std::vector<std::uint8_t> pixels(480 * 640);
  std::array<bool, 640> wanted = {};
  axisloom::Array mean = axisloom::mean({pixels, {480, 640}}, {.axes = {0}, .dtype = axisloom::Dtype::f32});
  axisloom::Array least = axisloom::min({pixels, {480, 640}}, {.initial = 255});  // also of no elements
  axisloom::Operation where = axisloom::reduction("sum", axisloom::ReduceOptions{.axes = {1}, .where = true});
  axisloom::Array some = axisloom::run(where, {axisloom::InputArray(pixels, {480, 640}), wanted});  // the mask is last
  return mean.dtype() == axisloom::Dtype::f32 && least.shape().empty() && some.shape() == axisloom::Dims{480};
}

bool tensors_of_dlpack() {
  DLManagedTensorVersioned* const managed = axisloom::to_dlpack(axisloom::Array(axisloom::Dtype::f32, {2, 3}));
  float number = 7;
  DLTensor tensor = {&number, {kDLCPU, 0}, 0, {kDLFloat, 32, 1}, nullptr, nullptr, 0};
  for (int i = 0; i < 6; ++i) static_cast<float*>(managed->dl_tensor.data)[i] = 2;
  axisloom::Array total = axisloom::sum(axisloom::input_array(*managed));  // of DLTensor, or with its owner
  axisloom::run_into(axisloom::output_array(tensor), axisloom::copy(), {total});
  DLManagedTensorVersioned* given = axisloom::to_dlpack(std::move(total));  // whoever has it last calls its deleter
  given->deleter(given);
  managed->deleter(managed);
  return number == 12;
}

}  // namespace

int main() {
  using namespace axisloom;
  run_a_plan();
  if (!one_call_for_one_thing() || !reductions_with_options() || !tensors_of_dlpack()) return 1;
  const std::vector<int> matrix = {1, 2, 3, 4, 5, 6};
  std::vector<int> transposed(matrix.size());
  const View view = View::contiguous(Dtype::i32, {2, 3});
  const std::span<const std::byte> in = std::as_bytes(std::span(matrix));
  const auto device = Device::open();
  run_on_host(rearrange("h w -> w h"), std::span(&view, 1), std::span(&in, 1),
              std::as_writable_bytes(std::span(transposed)), device);
  if (transposed != std::vector<int>{1, 4, 2, 5, 3, 6}) return 1;

  try {
    result_view(rearrange("h w -> w"), std::span(&view, 1));
  } catch (const Error& error) {
    std::printf("transposed on %s\n", device.info().label().c_str());
    return error.code() == Errc::pattern ? 0 : 1;
  }
  return 1;
}
