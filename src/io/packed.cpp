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
  for (int axis = 0; axis < view.rank(); ++axis) {
    if (view.shape[axis] == 1) continue;
    const int last = shape_.size() - 1;
    if (last >= 0 && strides_[last] == view.strides[axis] * view.shape[axis]) {
      shape_[last] *= view.shape[axis];
      strides_[last] = view.strides[axis];
    } else {
      shape_.push_back(view.shape[axis]);
      strides_.push_back(view.strides[axis]);
    }
  }
  if (shape_.empty()) {
    shape_.push_back(1);
    strides_.push_back(1);
  }
  index_ = Dims::filled(shape_.size(), 0);
}

void PackedReader::next(std::byte* out, i64 elements) {
  const auto size = i64(element_);
  while (elements > 0) {
    const i64 run = std::min(elements, shape_.back() - index_.back());
    gather(out, memory_.get() + position_ * size, strides_.back(), run, element_);
    out += run * size;
    elements -= run;
    advance(run);
  }
}

void PackedReader::advance(i64 run) {
  int axis = shape_.size() - 1;
  index_[axis] += run;
  position_ += run * strides_[axis];
  while (axis > 0 && index_[axis] == shape_[axis]) {
    position_ += strides_[axis - 1] - index_[axis] * strides_[axis];
    index_[axis] = 0;
    index_[--axis] += 1;
  }
}

}  // namespace axisloom::io
