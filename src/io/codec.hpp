// The readers and writers of each file format, one file each. All throw Error(file).
#pragma once

#include "io/file.hpp"

namespace axisloom::io {

HostArray read_npy(const InputFile& file, const ReadOptions& options);
HostArray read_raw(const InputFile& file, const ReadOptions& options);
HostArray read_png(const InputFile& file, const ReadOptions& options);
HostArray read_pnm(const InputFile& file, const ReadOptions& options);
HostArray read_jpeg(const InputFile& file, const ReadOptions& options);

/// What a format does not hold, said before the first byte is written; the writers rely on it.
void check_npy(const std::string& path, const View& view);
void check_png(const std::string& path, const View& view);
void check_pnm(const std::string& path, const View& view);

void write_npy(OutputFile& file, const HostArray& array);
void write_raw(OutputFile& file, const HostArray& array);
void write_png(OutputFile& file, const HostArray& array);
void write_pnm(OutputFile& file, const HostArray& array);

/// Every element in C order, without gaps.
void write_elements(OutputFile& file, const HostArray& array);

/// An array seen as an image.
struct ImageLayout {
  std::int64_t height = 0;
  std::int64_t width = 0;
  int channels = 1;
  Dtype dtype = Dtype::u8;  // u8 or u16

  std::size_t row_bytes() const {
    return static_cast<std::size_t>(width) * static_cast<std::size_t>(channels) * size_of(dtype);
  }
  /// h w for one channel, else h w c.
  View view() const;
};

/// Memory for an image that is read; throws as allocate_for.
HostArray allocate_image(const std::string& path, const ImageLayout& layout);

/// The layout of an array to be written as an image; refuses dtypes and shapes that images do not have.
ImageLayout image_layout(const std::string& path, const View& view);

/// Turns the bytes of 2-byte samples between the machine's order and the big-endian order of image files.
void swap_samples(std::span<std::byte> samples);

}  // namespace axisloom::io
