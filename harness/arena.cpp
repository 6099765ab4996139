// Placing an array: canary, offset, elements, canary.
#include "harness/arena.hpp"

#include "harness/compare.hpp"

#include "device/device.hpp"

#include <algorithm>
#include <cstdint>

namespace axisloom::harness {
namespace {

constexpr i64 device_alignment = 256;

// The first address in `memory` that is a multiple of `align` but not of twice that.
std::byte* exactly_aligned(Bytes& memory, i64 align) {
  const auto start = reinterpret_cast<std::intptr_t>(memory.data());
  i64 address = ceil_div(start, align) * align;
  if (address % (2 * align) == 0) address += align;
  return memory.data() + (address - start);
}

}  // namespace

Place::Place(Dtype dtype, const Dims& shape, const Placement& placement, i64 canaries)
    : view{dtype, shape, placement.strides.value_or(contiguous_strides(shape)), 0, placement.align} {
  if (view.strides.size() != shape.size())
    throw Error(Errc::usage,
                to_string(view.strides) + " does not have one stride for each axis of " + to_string(shape));
  const i64 element = size_of(dtype);
  const Bounds bounds = view.bounds();
  const i64 canary = canaries / element;
  view.offset = canary + placement.offset - bounds.low;
  bytes = (2 * canary + placement.offset + bounds.high - bounds.low) * element;
}

std::vector<View> views_of(const Case& c, i64 canaries) {
  std::vector<View> views;
  for (size_t i = 0; i < c.shapes.size(); ++i)
    views.push_back(Place(c.dtypes[i], c.shapes[i], c.inputs[i], canaries).view);
  const View result = result_view(c.op, views);
  views.push_back(c.in_place ? views.front() : Place(result.dtype, result.shape, c.output, canaries).view);
  return views;
}

Arena::Arena(const Device& device, size_t bytes, i64 align) : align_(align) {
  const DeviceInfo& runs_on = device.impl()->compiled_for();
  // Only memory of ours can begin at an odd address; elsewhere the weaker promise is all that can be tried.
  if (align > 0 && align < device_alignment && runs_on.unified_memory && runs_on.kind == Kind::cpu) {
    host_.resize(bytes + 3 * device_alignment);
    buffer_ = device.wrap(exactly_aligned(host_, align), bytes);
  } else {
    align_ = std::min(align, i64(device.info().base_alignment));
    buffer_ = device.allocate(bytes);
  }
}

std::string describe_difference(const View& view, std::span<const std::byte> want, std::span<const std::byte> got,
                                std::span<const double> bound) {
  if (std::equal(want.begin(), want.end(), got.begin())) return {};
  if (const auto difference = first_difference(view, want.data(), got.data(), bound)) return to_string(*difference);
  const i64 element = size_of(view.dtype);
  Bytes around(want.begin(), want.end());  // what may differ put aside
  for_each_element(view, [&](const Dims&, i64 offset) {
    std::copy_n(got.begin() + offset * element, element, around.begin() + offset * element);
    return true;
  });
  const auto [w, g] = std::mismatch(around.begin(), around.end(), got.begin());
  if (w == around.end()) return {};
  const auto byte = w - around.begin();
  const Bounds bounds = view.bounds();
  const char* where = byte < bounds.low * element     ? "before the array"
                      : byte >= bounds.high * element ? "after the array"
                                                      : "in a gap between elements";
  return fmt::format("byte {} of the buffer, {}, was overwritten: want {:#04x} got {:#04x}", byte, where,
                     std::to_integer<unsigned>(*w), std::to_integer<unsigned>(*g));
}

}  // namespace axisloom::harness
