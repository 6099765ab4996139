// EXIF 2.3, tag 274. Orientations 1 to 4 turn by 0 or 180 degrees, 5 to 8 by 90; every second one mirrors too.
#include "io/orientation.hpp"

#include "core/text.hpp"
#include "io/codec.hpp"
#include "io/packed.hpp"

#include <array>

namespace axisloom::io {
namespace {

constexpr size_t header_bytes = 8, entry_bytes = 12;
constexpr u32 orientation_tag = 0x0112, two_byte_type = 3;
constexpr int orientations = 8, first_sideways = 5;

// Orientations in which the first row that is stored is the bottom or the right side, and likewise columns.
constexpr std::array rows_reversed{3, 4, 6, 7};
constexpr std::array columns_reversed{2, 3, 7, 8};

/// Numbers in the byte order that the data begin with; 0 beyond their end.
class Exif {
 public:
  explicit Exif(std::span<const std::byte> data) : data_(data), big_(byte(0) == 'M') {}

  u32 number(size_t at, size_t bytes) const noexcept {
    u32 value = 0;
    for (size_t i = 0; i < bytes; ++i) value = value << 8 | byte(at + (big_ ? i : bytes - 1 - i));
    return value;
  }

 private:
  u32 byte(size_t at) const noexcept { return at < data_.size() ? std::to_integer<u32>(data_[at]) : 0; }

  std::span<const std::byte> data_;
  bool big_;
};

/// The same elements in the order in which they are looked at.
View turned(View view, int orientation) {
  const auto reverse = [&view](int axis) {
    view.offset += (view.shape[axis] - 1) * view.strides[axis];
    view.strides[axis] = -view.strides[axis];
  };
  if (core::contains(rows_reversed, orientation)) reverse(0);
  if (core::contains(columns_reversed, orientation)) reverse(1);
  if (orientation >= first_sideways) {
    std::swap(view.shape[0], view.shape[1]);
    std::swap(view.strides[0], view.strides[1]);
  }
  return view;
}

}  // namespace

int orientation_of(std::span<const std::byte> exif) noexcept {
  if (exif.size() < header_bytes) return upright_already;
  const Exif data(exif);
  const size_t directory = data.number(4, 4);
  const size_t entries = data.number(directory, 2);
  for (size_t i = 0; i < entries; ++i) {
    const size_t entry = directory + 2 + i * entry_bytes;
    if (data.number(entry, 2) != orientation_tag || data.number(entry + 2, 2) != two_byte_type) continue;
    const auto value = int(data.number(entry + 8, 2));
    return value >= 1 && value <= orientations ? value : upright_already;
  }
  return upright_already;
}

std::shared_ptr<const ImageInfo> sideways(const std::shared_ptr<const ImageInfo>& info) {
  if (!info || !info->resolution) return info;
  ImageInfo turned = *info;
  std::swap(turned.resolution->x, turned.resolution->y);
  return std::make_shared<const ImageInfo>(std::move(turned));
}

HostArray upright(HostArray image, int orientation, const std::string& path) {
  if (orientation == upright_already) return image;
  image.view = turned(image.view, orientation);
  HostArray result = allocate_for(path, View::contiguous(image.view.dtype, image.view.shape));
  result.image = image.image;
  result.info = orientation < first_sideways ? image.info : sideways(image.info);
  PackedReader(image).next(result.memory.get(), image.view.count());
  return result;
}

}  // namespace axisloom::io
