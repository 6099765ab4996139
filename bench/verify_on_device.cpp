// Launches the kernels that make and check data on a device.
#include "bench/launch.hpp"
#include "bench/verify.hpp"

#include <functional>
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

/// What each item of a kernel that looks at points has stored, in the buffer behind the others.
std::vector<u32> counted(const Device& device, const Queue& queue, const char* kernel, const Data& data,
                         const VerifyParams& params, std::vector<Buffer> buffers) {
  const CheckGrid grid(device, params.points);
  std::vector<u32> counts(grid.groups * grid.items);
  buffers.push_back(device.allocate(counts.size() * sizeof counts[0]));
  launch(device, queue, kernel, data, params, buffers);
  queue.read(buffers.back(), 0, std::as_writable_bytes(std::span(counts))).wait();
  return counts;
}

}  // namespace

void fill_on_device(const Device& device, const Queue& queue, const Data& data, const Buffer& buffer) {
  VerifyParams params{};
  params.points = buffer.bytes() / data.element;
  if (params.points > 0) launch(device, queue, "fill", data, params, {&buffer, 1});
}

u32 words_on_device(const Device& device, const Queue& queue, const Data& data, i64 elements) {
  VerifyParams params{};
  params.points = elements;
  const std::vector<u32> seen = counted(device, queue, "words", data, params, {});
  return std::accumulate(seen.begin(), seen.end(), u32{0}, std::bit_xor());
}

Mistakes indexed_on_device(const Device& device, const Queue& queue, const core::Move& move, const Data& data,
                           const Buffer& out) {
  const VerifyParams params = params_of(move);
  if (params.points == 0) return {};
  const std::vector<u32> wrong = counted(device, queue, "verify", data, params, {out});
  return {std::accumulate(wrong.begin(), wrong.end(), i64{0}), -1};
}

}  // namespace axisloom::bench
