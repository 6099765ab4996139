// Gathering of strided elements into dense pieces.
#include "io/packed.hpp"

#include <algorithm>
#include <cstring>

namespace axisloom::io {

namespace {

template <size_t Size>
void gather(std::byte* out, const std::byte* in, i64 step, i64 count) {
  for (i64 i = 0; i < count; ++i) std::memcpy(out + i * i64{Size}, in + i * step, Size);
}

/// Copies `count` elements of `size` bytes that lie `stride` elements apart.
void gather(std::byte* out, const std::byte* in, i64 stride, i64 count, size_t size) {
  const i64 step = stride * i64(size);
  if (stride == 1) {
    std::memcpy(out, in, size_t(count) * size);
    return;
  }
  switch (size) {
    case 1:
      return gather<1>(out, in, step, count);
    case 2:
      return gather<2>(out, in, step, count);
    case 4:
      return gather<4>(out, in, step, count);
    case 8:
      return gather<8>(out, in, step, count);
    default:
      return gather<16>(out, in, step, count);
  }
}

}  // namespace

PackedReader::PackedReader(const HostArray& array)
    : memory_(array.memory), element_(size_of(array.view.dtype)), position_(array.view.offset) {
  const View& view = array.view;
  for (int axis = 0; axis < view.rank(); ++axis)
    axes_.push_back({.extent = view.shape[axis], .in = view.strides[axis]});
  core::drop_single_steps(axes_);
  core::merge(axes_, true);
  if (axes_.empty()) axes_.push_back({.in = 1});
  index_.resize(axes_.size());
}

void PackedReader::next(std::byte* out, i64 elements) {
  const auto size = i64(element_);
  while (elements > 0) {
    const i64 run = std::min(elements, axes_.back().extent - index_.back());
    gather(out, memory_.get() + position_ * size, axes_.back().in, run, element_);
    out += run * size;
    elements -= run;
    advance(run);
  }
}

void PackedReader::advance(i64 run) {
  size_t axis = axes_.size() - 1;
  index_[axis] += run;
  position_ += run * axes_[axis].in;
  while (axis > 0 && index_[axis] == axes_[axis].extent) {
    position_ += axes_[axis - 1].in - index_[axis] * axes_[axis].in;
    index_[axis] = 0;
    index_[--axis] += 1;
  }
}

}  // namespace axisloom::io
