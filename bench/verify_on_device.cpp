// Launches the kernels that make and check data on a device.
#include "bench/verify.hpp"

#include "device/device.hpp"
#include "jit/jit.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <numeric>

namespace axisloom::bench {
namespace {

using i32 = std::int32_t;
using i64 = std::int64_t;
using u64 = std::uint64_t;
#include "bench/verify.params.h"

constexpr unsigned items = 256;        // of a group
constexpr i64 largest_grid = 1 << 12;  // groups; each item then takes several points

VerifyParams params_of(const Data& data) {
  VerifyParams params{};
  params.seed = data.seed;
  params.keep = data.keep;
  params.set = data.set;
  params.guard_outer = params.guard_inner = -1;
  return params;
}

VerifyParams params_of(const core::Move& move, const Data& data) {
  const auto axes = static_cast<i32>(move.axes.size());
  if (axes > VERIFY_AXES)
    throw Error(Errc::unsupported, "a move of more than 16 axes cannot be checked on the device",
                "merge axes in the case");
  VerifyParams params = params_of(data);
  const i32 first = VERIFY_AXES - axes;
  for (i32 d = 0; d < axes; ++d) {
    const core::MoveAxis& axis = move.axes[static_cast<std::size_t>(d)];
    params.extent[first + d] = axis.extent;
    params.in_stride[first + d] = axis.in_stride;
    params.out_stride[first + d] = axis.out_stride;
  }
  params.axes = axes;
  params.points = move.count();
  params.in_offset = move.in_offset;
  params.out_offset = move.out_offset;
  if (move.guard) {
    params.guard_outer = first + move.guard->outer;
    params.guard_inner = first + move.guard->inner;
    params.guard_inner_extent = move.axes[static_cast<std::size_t>(move.guard->inner)].extent;
    params.guard_count = move.guard->count;
    params.guard_fill = move.guard->fill ? 1 : 0;
  }
  return params;
}

u64 groups_for(i64 points) {
  return static_cast<u64>(std::clamp<i64>((points + items - 1) / items, 1, largest_grid));
}

void launch(const Device& device, const Queue& queue, const char* kernel, const Data& data, const VerifyParams& params,
            std::span<const Buffer> buffers) {
  jit::Defines defines;
  defines.set("ELEMENT_BYTES", data.element).set("AXL_PARAMS_SIZE", static_cast<i64>(sizeof(VerifyParams)));
  const u64 groups = groups_for(params.points);
  const auto program = jit::obtain(*device.impl(), {"bench/verify.kernel", kernel, defines, items, false},
                                   {groups, buffers.size(), sizeof params});
  const i64 no_offset = 0;
  std::vector<device::Arg> args;
  for (const Buffer& buffer : buffers) {
    args.push_back(device::Arg::of(*buffer.impl()));
    args.push_back(device::Arg::bytes(&no_offset, sizeof no_offset));
  }
  args.push_back(device::Arg::bytes(&params, sizeof params));
  queue.impl()->launch(*program, kernel, {groups, items, 0, 1}, args, {})->wait();
}

}  // namespace

void DeviceChecks::fill(const Data& data, const Buffer& buffer) const {
  VerifyParams params = params_of(data);
  params.points = static_cast<i64>(buffer.bytes()) / data.element;
  const Buffer buffers[] = {buffer};
  if (params.points > 0) launch(device_, queue_, "fill", data, params, buffers);
}

Mistakes DeviceChecks::indexed(const core::Move& move, const Data& data, const Buffer& out) const {
  const VerifyParams params = params_of(move, data);
  if (params.points == 0) return {};
  std::vector<std::uint32_t> wrong(groups_for(params.points) * items);
  const Buffer buffers[] = {out, device_.allocate(wrong.size() * sizeof wrong[0])};
  launch(device_, queue_, "verify", data, params, buffers);
  queue_.read(buffers[1], 0, std::as_writable_bytes(std::span(wrong))).wait();
  return {std::accumulate(wrong.begin(), wrong.end(), i64{0}), -1};
}

}  // namespace axisloom::bench
