// What a stranger's first program does: transpose an array on whatever device there is, and read an error.
#include <axisloom/axisloom.hpp>

#include <cstdio>
#include <vector>

#include "plan.hpp"

namespace {

bool one_call_for_one_thing() {
  std::vector<float> pixels(480 * 640);
  axisloom::Array turned = axisloom::rearrange({pixels, {480, 640}}, "h w -> w h");
  axisloom::Array means = axisloom::mean(turned, {.axes = {0}, .keepdims = true});
  return turned.shape() == axisloom::Dims{640, 480} && means.elements<float>().size() == 480;
}

}  // namespace

int main() {
  using namespace axisloom;
  run_a_plan();
  if (!one_call_for_one_thing()) return 1;
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
