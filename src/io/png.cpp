// PNG through libpng. Palettes, low bit depths and transparent colours are expanded; grey with alpha becomes h w 2.
// Photos are turned the right way up. Samples are read and written as they are stored; the colour profile and the
// resolution go with them, unchanged.
#include <png.h>

#include <algorithm>

#include "io/codec.hpp"
#include "io/escape.hpp"
#include "io/orientation.hpp"
#include "io/packed.hpp"

namespace axisloom::io {

namespace {

constexpr png_uint_32 kMaxSide = 1 << 20;

[[noreturn]] void on_error(png_structp png, png_const_charp message) {
  static_cast<Escape*>(png_get_error_ptr(png))->leave(message);
}

void on_warning(png_structp, png_const_charp) {}

struct PngReader : EscapingReader {
  png_structp png;
  png_infop info = nullptr;

  explicit PngReader(const InputFile& file)
      : EscapingReader(file),
        png(png_create_read_struct(PNG_LIBPNG_VER_STRING, static_cast<Escape*>(this), on_error, on_warning)) {
    if (png) info = png_create_info_struct(png);
    if (info) png_set_read_fn(png, this, supply);
  }
  ~PngReader() { png_destroy_read_struct(&png, &info, nullptr); }

  static void supply(png_structp png, png_bytep out, size_t size) {
    auto* reader = static_cast<PngReader*>(png_get_io_ptr(png));
    if (reader->stream.read(std::as_writable_bytes(std::span(out, size))) < size)
      png_error(png, "the file is cut short");
  }
};

struct PngWriter : Escape {
  png_structp png;
  png_infop info = nullptr;

  explicit PngWriter(OutputFile& file)
      : png(png_create_write_struct(PNG_LIBPNG_VER_STRING, static_cast<Escape*>(this), on_error, on_warning)) {
    if (png) info = png_create_info_struct(png);
    if (info) png_set_write_fn(png, &file, accept, [](png_structp) {});
  }
  ~PngWriter() { png_destroy_write_struct(&png, &info); }

  static void accept(png_structp png, png_bytep data, size_t size) {
    auto* file = static_cast<OutputFile*>(png_get_io_ptr(png));
    if (!file->append(std::as_bytes(std::span(data, size)))) png_error(png, "cannot be written");
  }
};

int png_orientation(png_structp png, png_infop info) {
  png_uint_32 bytes = 0;
  png_bytep exif = nullptr;
  if (png_get_eXIf_1(png, info, &bytes, &exif) == 0) return upright_already;
  return orientation_of(std::as_bytes(std::span(exif, bytes)));
}

std::shared_ptr<const ImageInfo> png_info(png_structp png, png_infop info) {
  ImageInfo known;
  png_charp name = nullptr;
  png_bytep profile = nullptr;
  png_uint_32 bytes = 0;
  int compression = 0, unit = 0;
  if (png_get_iCCP(png, info, &name, &compression, &profile, &bytes) != 0)
    known.profile.assign(reinterpret_cast<const char*>(profile), bytes);
  Resolution resolution;
  if (png_get_pHYs(png, info, &resolution.x, &resolution.y, &unit) != 0) {
    resolution.per_metre = unit == PNG_RESOLUTION_METER;
    known.resolution = resolution;
  }
  return known == ImageInfo{} ? nullptr : std::make_shared<const ImageInfo>(std::move(known));
}

/// libpng leaves out what does not belong to such an image, and goes on.
void set_png_info(png_structp png, png_infop info, const ImageInfo& known) {
  png_set_benign_errors(png, 1);
  if (!known.profile.empty())
    png_set_iCCP(png, info, "ICC profile", PNG_COMPRESSION_TYPE_BASE,
                 reinterpret_cast<png_const_bytep>(known.profile.data()), png_uint_32(known.profile.size()));
  if (known.resolution)
    png_set_pHYs(png, info, known.resolution->x, known.resolution->y,
                 known.resolution->per_metre ? PNG_RESOLUTION_METER : PNG_RESOLUTION_UNKNOWN);
}

}  // namespace

HostArray read_png(const InputFile& file, const ReadOptions&) {
  PngReader reader(file);
  if (!reader.info) throw Error(Errc::out_of_memory, fmt::format("{}: no memory for libpng", printable(file.path())));
  auto* const png = reader.png;
  auto* const info = reader.info;
  reader.run("header", [&] {
    png_set_user_limits(png, kMaxSide, kMaxSide);
    png_read_info(png, info);
  });

  const i64 height = png_get_image_height(png, info);
  const i64 width = png_get_image_width(png, info);
  const size_t packed_row = png_get_rowbytes(png, info);
  if (packed_row * size_t(height) / kDeflateRatio > file.size())
    file.fail("size", fmt::format("{} x {} pixels cannot be in a file of {} bytes", width, height, file.size()));
  int passes = 0;
  reader.run("header", [&] {
    png_set_expand(png);
    png_set_swap(png);
    passes = png_set_interlace_handling(png);
    png_read_update_info(png, info);
  });
  const int depth = png_get_bit_depth(png, info);
  const ImageLayout layout{height, width, png_get_channels(png, info), depth == 16 ? Dtype::u16 : Dtype::u8};
  if (png_get_rowbytes(png, info) != layout.row_bytes())
    file.fail("header", fmt::format("{} channels of {} bits", layout.channels, depth));
  HostArray array = allocate_image(file.path(), layout);
  reader.run("image data", [&] {
    for (int pass = 0; pass < passes; ++pass)
      for (size_t at = 0; at < array.bytes; at += layout.row_bytes())
        png_read_row(png, reinterpret_cast<png_bytep>(array.memory.get() + at), nullptr);
    png_read_end(png, info);
  });
  array.info = png_info(png, info);
  return upright(std::move(array), png_orientation(png, info), file.path());
}

void check_png(const std::string& path, const View& view) {
  const ImageLayout layout = image_layout(path, view);
  if (std::max(layout.height, layout.width) > i64{kMaxSide})
    fail(path, "shape", fmt::format("{}: at most {} pixels a side", to_string(view.shape), kMaxSide),
         "write a .npy file");
}

void write_png(OutputFile& file, const HostArray& array, const WriteOptions&) {
  const ImageLayout layout = image_layout(file.path(), array.view);
  constexpr int kColours[] = {PNG_COLOR_TYPE_GRAY, PNG_COLOR_TYPE_GRAY_ALPHA, PNG_COLOR_TYPE_RGB,
                              PNG_COLOR_TYPE_RGB_ALPHA};
  PngWriter writer(file);
  if (!writer.info) throw Error(Errc::out_of_memory, fmt::format("{}: no memory for libpng", printable(file.path())));
  PackedReader reader(array);
  std::vector<std::byte> row(layout.row_bytes());
  bool good = writer.completes([&] {
    png_set_user_limits(writer.png, kMaxSide, kMaxSide);
    png_set_IHDR(writer.png, writer.info, png_uint_32(layout.width), png_uint_32(layout.height),
                 layout.dtype == Dtype::u8 ? 8 : 16, kColours[layout.channels - 1], PNG_INTERLACE_NONE,
                 PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
    if (array.info) set_png_info(writer.png, writer.info, *array.info);
    png_write_info(writer.png, writer.info);
    if (layout.dtype == Dtype::u16) png_set_swap(writer.png);
  });
  for (i64 y = 0; good && y < layout.height; ++y) {
    reader.next(row.data(), layout.width * layout.channels);
    good = writer.completes([&] { png_write_row(writer.png, reinterpret_cast<png_const_bytep>(row.data())); });
  }
  if (good && writer.completes([&] { png_write_end(writer.png, nullptr); })) return;
  file.write(std::string_view());  // reports the system's own error if writing is what failed
  fail(file.path(), "image data", writer.message);
}

}  // namespace axisloom::io
