// Launches the kernels that make and check data on a device.
#include "bench/launch.hpp"
#include "bench/verify.hpp"

#include <numeric>

namespace axisloom::bench {
namespace {

#include "bench/verify.params.h"

VerifyParams params_of(const core::Move& move) {
  const i32 axes = i32(move.axes.size()), first = VERIFY_AXES - axes;
  if (axes > VERIFY_AXES)
    throw Error(Errc::unsupported, "a move of more than 16 axes cannot be checked on the device",
                "merge axes in the case");
  VerifyParams params{};
  params.tail_outer = params.tail_inner = -1;
  for (i32 d = 0; d < axes; ++d) {
    const core::Loop& axis = move.axes[d];
    params.extent[first + d] = axis.extent;
    params.in_stride[first + d] = axis.in;
    params.out_stride[first + d] = axis.out;
  }
  params.axes = axes;
  params.points = move.count();
  params.in_offset = move.in_offset;
  params.out_offset = move.out_offset;
  if (move.tail) {
    params.tail_outer = first + move.tail->outer;
    params.tail_inner = first + move.tail->inner;
    params.tail_inner_extent = move.axes[move.tail->inner].extent;
    params.tail_count = move.tail->count;
    params.tail_fill = move.tail->fill ? 1 : 0;
  }
  return params;
}

void launch(const Device& device, const Queue& queue, const char* kernel, const Data& data, VerifyParams params,
            std::span<const Buffer> buffers) {
  jit::Defines defines;
  defines.set("ELEMENT_BYTES", data.element);
  params.seed = data.seed;
  params.keep = data.keep;
  params.set = data.set;
  launch_check(device, queue, "verify", kernel, defines, params.points, buffers, std::as_bytes(std::span(&params, 1)));
}

}  // namespace

void fill_on_device(const Device& device, const Queue& queue, const Data& data, const Buffer& buffer) {
  VerifyParams params{};
  params.points = buffer.bytes() / data.element;
  if (params.points > 0) launch(device, queue, "fill", data, params, {&buffer, 1});
}

Mistakes indexed_on_device(const Device& device, const Queue& queue, const core::Move& move, const Data& data,
                           const Buffer& out) {
  const VerifyParams params = params_of(move);
  if (params.points == 0) return {};
  const CheckGrid grid(device, params.points);
  std::vector<u32> wrong(grid.groups * grid.items);
  const Buffer buffers[] = {out, device.allocate(wrong.size() * sizeof wrong[0])};
  launch(device, queue, "verify", data, params, buffers);
  queue.read(buffers[1], 0, std::as_writable_bytes(std::span(wrong))).wait();
  return {std::accumulate(wrong.begin(), wrong.end(), i64{0}), -1};
}

}  // namespace axisloom::bench
