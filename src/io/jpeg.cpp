// JPEG through libjpeg: grey is h w, colour RGB, the right way up. Data that are lost or damaged are an error, never
// grey.

#include <cstdio>  // before jpeglib.h, which needs its types

#include <jerror.h>
#include <jpeglib.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "io/codec.hpp"
#include "io/escape.hpp"
#include "io/orientation.hpp"
#include "io/packed.hpp"

namespace axisloom::io {

namespace {

constexpr int kMostScans = 200;  // a progressive image has about ten; each one more costs a pass over all pixels
constexpr size_t kMostExtra = size_t{32} << 20;  // bytes besides coefficients: profiles, previews, gaps
constexpr int kExifMarker = JPEG_APP0 + 1;       // which other data have too
constexpr int kProfileMarker = JPEG_APP0 + 2;    // likewise
constexpr unsigned kLongestMarker = 0xffff;
constexpr std::string_view kExifBegins{"Exif\0\0", 6};
constexpr double metres_per_inch = 0.0254;
constexpr size_t kMostBlockBytes = 256;  // of 64 coefficients in one scan, each below 32 bits

struct JpegReader : EscapingReader {
  size_t given = 0;          // bytes of the block that libjpeg has
  size_t most = kMostExtra;  // bytes that it may take in all: it would look for a marker to the end of the world
  jpeg_decompress_struct info{};
  jpeg_source_mgr source{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};

  explicit JpegReader(const InputFile& file) : EscapingReader(file) {
    info.err = jpeg_std_error(&errors);
    info.client_data = this;
    errors.error_exit = on_error;
    errors.emit_message = on_message;
    errors.output_message = [](j_common_ptr) {};
    progress.progress_monitor = on_progress;
    source.init_source = [](j_decompress_ptr) {};
    source.fill_input_buffer = next_block;
    source.skip_input_data = skip;
    source.resync_to_restart = jpeg_resync_to_restart;
    source.term_source = [](j_decompress_ptr) {};
  }
  ~JpegReader() { jpeg_destroy_decompress(&info); }

  static JpegReader& of(const auto* info) { return *static_cast<JpegReader*>(info->client_data); }

  [[noreturn]] static void on_error(j_common_ptr info) {
    JpegReader& reader = of(info);
    char text[JMSG_LENGTH_MAX];
    reader.errors.format_message(info, text);
    reader.leave(text);
  }

  /// libjpeg calls these warnings and fills the hole with something grey.
  static bool loses_data(int code) {
    return code == JWRN_JPEG_EOF || code == JWRN_HIT_MARKER || code == JWRN_HUFF_BAD_CODE || code == JWRN_MUST_RESYNC ||
           code == JWRN_BOGUS_PROGRESSION;
  }

  static void on_message(j_common_ptr info, int level) {
    if (level < 0 && loses_data(info->err->msg_code)) on_error(info);
  }

  static void on_progress(j_common_ptr info) {
    JpegReader& reader = of(info);
    if (reader.info.input_scan_number > kMostScans) reader.leave("too many scans");
  }

  /// libjpeg asks when it has used up the block before.
  static boolean next_block(j_decompress_ptr info) {
    JpegReader& reader = of(info);
    reader.stream.take(reader.given);
    if (reader.stream.position() > reader.most) reader.leave("too much data that is not part of the image");
    const std::span<const std::byte> block = reader.stream.block();
    reader.given = block.size();
    if (block.empty()) ERREXIT(info, JERR_INPUT_EOF);
    info->src->next_input_byte = reinterpret_cast<const JOCTET*>(block.data());
    info->src->bytes_in_buffer = block.size();
    return TRUE;
  }

  static void skip(j_decompress_ptr info, long count) {
    for (auto left = size_t(std::max(0L, count)); left > 0;) {
      if (info->src->bytes_in_buffer == 0) next_block(info);
      const size_t some = std::min(left, info->src->bytes_in_buffer);
      info->src->next_input_byte += some;
      info->src->bytes_in_buffer -= some;
      left -= some;
    }
  }
};

/// Blocks of the largest component.
size_t blocks_of(const jpeg_decompress_struct& info) {
  size_t blocks = 0;
  for (int i = 0; i < info.num_components; ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    blocks = std::max(blocks, size_t{component.width_in_blocks} * component.height_in_blocks);
  }
  return blocks;
}

/// Refuses what is not converted, and sizes that the file cannot hold: Huffman coding takes a bit a block at least.
void check_header(const InputFile& file, const jpeg_decompress_struct& info) {
  if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK)
    file.fail("colours", "CMYK, which has no exact counterpart in RGB", "convert the image to RGB");
  if (info.num_components != 1 && info.num_components != 3)
    file.fail("colours", fmt::format("{} components", info.num_components), "convert the image to RGB");
  if (info.arith_code)
    file.fail("coding", "arithmetic coding is not supported", "convert it with jpegtran to Huffman coding");
  if (blocks_of(info) / 8 > file.size())
    file.fail("size", fmt::format("{} x {} pixels cannot be in a file of {} bytes", info.image_width, info.image_height,
                                  file.size()));
}

int jpeg_orientation(const jpeg_decompress_struct& info) {
  for (jpeg_saved_marker_ptr marker = info.marker_list; marker != nullptr; marker = marker->next) {
    const std::string_view data(reinterpret_cast<const char*>(marker->data), marker->data_length);
    if (marker->marker != kExifMarker || !data.starts_with(kExifBegins)) continue;
    return orientation_of(std::as_bytes(std::span(data.substr(kExifBegins.size()))));
  }
  return upright_already;
}

/// JFIF's density; nothing where it says no more than that pixels are square.
std::optional<Resolution> jpeg_resolution(const jpeg_decompress_struct& info) {
  constexpr double inches_per_metre = 1 / metres_per_inch, centimetres_per_metre = 100;
  const u32 x = info.X_density, y = info.Y_density;
  if (!info.saw_JFIF_marker || x == 0 || y == 0) return std::nullopt;
  if (info.density_unit == 0) return x == y ? std::nullopt : std::optional(Resolution{x, y, false});
  const double unit = info.density_unit == 1 ? inches_per_metre : centimetres_per_metre;
  return Resolution{u32(std::lround(x * unit)), u32(std::lround(y * unit)), true};
}

std::shared_ptr<const ImageInfo> jpeg_info(JpegReader& reader) {
  JOCTET* profile = nullptr;
  unsigned bytes = 0;
  reader.run("colour profile", [&] { static_cast<void>(jpeg_read_icc_profile(&reader.info, &profile, &bytes)); });
  const std::unique_ptr<JOCTET, decltype(&std::free)> held(profile, std::free);
  ImageInfo known{.resolution = jpeg_resolution(reader.info)};
  if (held) known.profile.assign(reinterpret_cast<const char*>(held.get()), bytes);
  return known == ImageInfo{} ? nullptr : std::make_shared<const ImageInfo>(std::move(known));
}

struct JpegWriter : Escape {
  OutputFile& file;
  jpeg_compress_struct info{};
  jpeg_destination_mgr destination{};
  jpeg_error_mgr errors{};
  std::vector<JOCTET> block = std::vector<JOCTET>(size_t{1} << 16);

  explicit JpegWriter(OutputFile& file) : file(file) {
    info.err = jpeg_std_error(&errors);
    info.client_data = this;
    errors.error_exit = on_error;
    errors.output_message = [](j_common_ptr) {};
    destination.init_destination = [](j_compress_ptr info) { of(info).begin_block(); };
    destination.empty_output_buffer = [](j_compress_ptr info) -> boolean {
      of(info).put(of(info).block.size());
      of(info).begin_block();
      return TRUE;
    };
    destination.term_destination = [](j_compress_ptr info) {
      of(info).put(of(info).block.size() - info->dest->free_in_buffer);
    };
  }
  ~JpegWriter() { jpeg_destroy_compress(&info); }

  static JpegWriter& of(const auto* info) { return *static_cast<JpegWriter*>(info->client_data); }

  [[noreturn]] static void on_error(j_common_ptr info) {
    JpegWriter& writer = of(info);
    char text[JMSG_LENGTH_MAX];
    writer.errors.format_message(info, text);
    writer.leave(text);
  }

  void begin_block() {
    destination.next_output_byte = block.data();
    destination.free_in_buffer = block.size();
  }
  void put(size_t bytes) {
    if (!file.append(std::as_bytes(std::span(block.data(), bytes)))) leave("cannot be written");
  }
};

/// JFIF has whole pixels per inch, below 65,536.
void set_jpeg_resolution(jpeg_compress_struct& info, const Resolution& resolution) {
  const double unit = resolution.per_metre ? metres_per_inch : 1;
  const long x = std::lround(resolution.x * unit), y = std::lround(resolution.y * unit);
  if (std::min(x, y) < 1 || std::max(x, y) > long{0xffff}) return;
  info.density_unit = resolution.per_metre ? 1 : 0;
  info.X_density = UINT16(x);
  info.Y_density = UINT16(y);
}

void start_jpeg(JpegWriter& writer, const ImageLayout& layout, const ImageInfo* known, int quality) {
  jpeg_compress_struct& info = writer.info;
  jpeg_create_compress(&info);
  info.dest = &writer.destination;
  info.image_width = JDIMENSION(layout.width);
  info.image_height = JDIMENSION(layout.height);
  info.input_components = layout.channels;
  info.in_color_space = layout.channels == 1 ? JCS_GRAYSCALE : JCS_RGB;
  jpeg_set_defaults(&info);
  jpeg_set_quality(&info, quality, TRUE);
  if (known && known->resolution) set_jpeg_resolution(info, *known->resolution);
  jpeg_start_compress(&info, TRUE);
  if (known && !known->profile.empty())
    jpeg_write_icc_profile(&info, reinterpret_cast<const JOCTET*>(known->profile.data()),
                           unsigned(known->profile.size()));
}

}  // namespace

HostArray read_jpeg(const InputFile& file, const ReadOptions&) {
  JpegReader reader(file);
  jpeg_decompress_struct& info = reader.info;
  reader.run("header", [&] {
    jpeg_create_decompress(&info);
    info.progress = &reader.progress;
    info.src = &reader.source;
    jpeg_save_markers(&info, kExifMarker, kLongestMarker);
    jpeg_save_markers(&info, kProfileMarker, kLongestMarker);
    jpeg_read_header(&info, TRUE);
  });
  check_header(file, info);
  reader.most += blocks_of(info) * 3 * kMostBlockBytes * kMostScans;
  const int orientation = jpeg_orientation(info);
  const bool grey = info.num_components == 1;
  const ImageLayout layout{info.image_height, info.image_width, grey ? 1 : 3, Dtype::u8};
  HostArray array = allocate_image(file.path(), layout);
  array.info = jpeg_info(reader);
  reader.run("image data", [&] {
    info.out_color_space = grey ? JCS_GRAYSCALE : JCS_RGB;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
      auto* row = reinterpret_cast<JSAMPROW>(array.memory.get() + info.output_scanline * layout.row_bytes());
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
  });
  return upright(std::move(array), orientation, file.path());
}

void check_jpeg(const std::string& path, const View& view) {
  const ImageLayout layout = image_layout(path, view);
  if (layout.dtype != Dtype::u8)
    fail(path, "dtype", fmt::format("JPEG holds u8, not {}", name(view.dtype)),
         "add --normalize and --out-dtype u8, or write a .png file");
  if (layout.channels == 2 || layout.channels == 4)
    fail(path, "shape", fmt::format("{}: JPEG has no alpha", to_string(view.shape)), "write a .png file");
  if (std::max(layout.height, layout.width) > i64{JPEG_MAX_DIMENSION})
    fail(path, "shape", fmt::format("{}: at most {} pixels a side", to_string(view.shape), JPEG_MAX_DIMENSION),
         "write a .png file");
}

void write_jpeg(OutputFile& file, const HostArray& array, const WriteOptions& options) {
  const ImageLayout layout = image_layout(file.path(), array.view);
  JpegWriter writer(file);
  PackedReader reader(array);
  std::vector<std::byte> row(layout.row_bytes());
  bool good = writer.completes([&] { start_jpeg(writer, layout, array.info.get(), options.quality); });
  for (i64 y = 0; good && y < layout.height; ++y) {
    reader.next(row.data(), layout.width * layout.channels);
    auto* samples = reinterpret_cast<JSAMPROW>(row.data());
    good = writer.completes([&] { jpeg_write_scanlines(&writer.info, &samples, 1); });
  }
  if (good && writer.completes([&] { jpeg_finish_compress(&writer.info); })) return;
  file.write(std::string_view());  // reports the system's own error if writing is what failed
  fail(file.path(), "image data", printable(writer.message));
}

}  // namespace axisloom::io
