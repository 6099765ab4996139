// What the image formats share: how arrays and images correspond.
#include <algorithm>

#include "io/codec.hpp"

namespace axisloom::io {

View ImageLayout::view() const {
  return View::contiguous(dtype, channels == 1 ? Dims{height, width} : Dims{height, width, channels});
}

HostArray allocate_image(const std::string& path, const ImageLayout& layout) {
  HostArray array = allocate_for(path, layout.view());
  array.image = true;
  return array;
}

ImageLayout image_layout(const std::string& path, const View& view) {
  if (view.dtype != Dtype::u8 && view.dtype != Dtype::u16)
    fail(path, "dtype", fmt::format("images hold u8 or u16, not {}", name(view.dtype)),
         "add --normalize or --out-dtype u8, or write a .npy file");
  const bool planar = view.rank() == 2;
  if (!planar && (view.rank() != 3 || view.shape[2] < 1 || view.shape[2] > 4))
    fail(path, "shape", fmt::format("{} is not h w, or h w c with c from 1 to 4", to_string(view.shape)),
         "rearrange the array to \"h w c\", or write a .npy file");
  constexpr i64 kMaxSide = 0x7fffffff;
  if (std::min(view.shape[0], view.shape[1]) < 1 || std::max(view.shape[0], view.shape[1]) > kMaxSide)
    fail(path, "shape", fmt::format("{}: images are 1 to {} pixels high and wide", to_string(view.shape), kMaxSide),
         "write a .npy file");
  return {view.shape[0], view.shape[1], planar ? 1 : int(view.shape[2]), view.dtype};
}

void swap_samples(std::span<std::byte> samples) {
  for (size_t i = 0; i + 1 < samples.size(); i += 2) std::swap(samples[i], samples[i + 1]);
}

}  // namespace axisloom::io
