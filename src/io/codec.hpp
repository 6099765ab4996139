// The readers and writers of each file format, one file each. All throw Error(file).
#pragma once

#include "core/integers.hpp"
#include "io/file.hpp"

namespace axisloom::io {

using Reader = HostArray(const InputFile& file, const ReadOptions& options);
Reader read_npy, read_npz, read_raw, read_png, read_pnm, read_jpeg;

/// The arrays of an .npz file.
std::vector<std::string> names_in_npz(const InputFile& file);

/// What a format does not hold, said before the first byte is written; the writers rely on it.
using Check = void(const std::string& path, const View& view);
Check check_npy, check_png, check_jpeg, check_pnm, check_pam;

using Writer = void(OutputFile& file, const HostArray& array, const WriteOptions& options);
Writer write_npy, write_raw, write_png, write_jpeg, write_pnm, write_pam;
/// Every element in C order, without gaps.
void write_elements(OutputFile& file, const HostArray& array);

inline constexpr size_t kMostMagic = 8;        // bytes by which formats are told apart
inline constexpr size_t kDeflateRatio = 1032;  // the most that a byte of deflate data can expand to
bool begins_npy(std::string_view head);

/// An array seen as an image.
struct ImageLayout {
  i64 height = 0;
  i64 width = 0;
  int channels = 1;
  Dtype dtype = Dtype::u8;  // u8 or u16

  size_t row_bytes() const { return size_t(width) * size_t(channels) * size_of(dtype); }
  /// h w for one channel, else h w c.
  View view() const;
};

/// Memory for an image that is read; throws as allocate_for.
HostArray allocate_image(const std::string& path, const ImageLayout& layout);

/// The layout of an array to be written as an image; refuses dtypes and shapes that images do not have.
ImageLayout image_layout(const std::string& path, const View& view);

/// Turns the bytes of 2-byte samples between the order of image files, which is big-endian, and the machine's, which
/// is little-endian (core/number.cpp relies on it too).
void swap_samples(std::span<std::byte> samples);

}  // namespace axisloom::io
