// What a stranger's first program does: transpose an array on whatever device there is, and read an error.
#include <axisloom/array.hpp>
#include <axisloom/error.hpp>
#include <axisloom/ops.hpp>
#include <axisloom/plan.hpp>

#include <cstdio>
#include <vector>

#include "plan.hpp"

int main() {
  using namespace axisloom;
  run_a_plan();
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
