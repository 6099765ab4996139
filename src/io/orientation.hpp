// Which way up a photo is: cameras store it as the sensor lay, and note in EXIF how to turn it.
#pragma once

#include "io/io.hpp"

#include <span>

namespace axisloom::io {

/// One of EXIF's eight orientations; this one needs no turning.
inline constexpr int upright_already = 1;

/// What EXIF data (a TIFF header and its first directory) say; `upright_already` where they say nothing or are damaged.
int orientation_of(std::span<const std::byte> exif) noexcept;

/// What is known of an image after rows and columns have changed places.
std::shared_ptr<const ImageInfo> sideways(const std::shared_ptr<const ImageInfo>& info);

/// The image as it is meant to be looked at; `path` is the file that it comes from.
HostArray upright(HostArray image, int orientation, const std::string& path);

}  // namespace axisloom::io
