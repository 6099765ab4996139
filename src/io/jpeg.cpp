// JPEG reading through libjpeg: grey to h w, colour to RGB. Data that are lost or damaged are an error, never grey.
#include <cstdio>

#include <jerror.h>
#include <jpeglib.h>

#include <csetjmp>
#include <cstring>

#include "io/codec.hpp"

namespace axisloom::io {

namespace {

constexpr int kMostScans = 200;  // a progressive image has about ten; each one more costs a pass over all pixels

/// Functions that call libjpeg set `escape` and hold nothing that needs a destructor: libjpeg leaves them by longjmp.
struct JpegReader {
  jpeg_decompress_struct info{};
  jpeg_error_mgr errors{};
  jpeg_progress_mgr progress{};
  std::jmp_buf escape;
  char message[JMSG_LENGTH_MAX] = {};

  JpegReader() {
    info.err = jpeg_std_error(&errors);
    info.client_data = this;
    errors.error_exit = on_error;
    errors.emit_message = on_message;
    errors.output_message = [](j_common_ptr) {};
    progress.progress_monitor = on_progress;
  }
  ~JpegReader() { jpeg_destroy_decompress(&info); }
  JpegReader(const JpegReader&) = delete;
  JpegReader& operator=(const JpegReader&) = delete;

  [[noreturn]] static void on_error(j_common_ptr info) {
    auto* reader = static_cast<JpegReader*>(info->client_data);
    reader->errors.format_message(info, reader->message);
    std::longjmp(reader->escape, 1);
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
    auto* reader = static_cast<JpegReader*>(info->client_data);
    if (reader->info.input_scan_number <= kMostScans) return;
    std::snprintf(reader->message, sizeof(reader->message), "more than %d scans", kMostScans);
    std::longjmp(reader->escape, 1);
  }

  bool read_header(std::span<const std::byte> bytes) {
    if (setjmp(escape) != 0) return false;
    jpeg_create_decompress(&info);
    info.progress = &progress;
    jpeg_mem_src(&info, reinterpret_cast<const unsigned char*>(bytes.data()), bytes.size());
    jpeg_read_header(&info, TRUE);
    return true;
  }

  bool read_rows(std::byte* out, std::size_t row_bytes, J_COLOR_SPACE colours) {
    if (setjmp(escape) != 0) return false;
    info.out_color_space = colours;
    jpeg_start_decompress(&info);
    while (info.output_scanline < info.output_height) {
      auto* row = reinterpret_cast<JSAMPROW>(out + info.output_scanline * row_bytes);
      jpeg_read_scanlines(&info, &row, 1);
    }
    jpeg_finish_decompress(&info);
    return true;
  }
};

/// Refuses what is not converted, and sizes that the file cannot hold: Huffman coding takes a bit a block at least.
void check_header(const InputFile& file, const jpeg_decompress_struct& info) {
  if (info.jpeg_color_space == JCS_CMYK || info.jpeg_color_space == JCS_YCCK) {
    fail(file.path(), "colours", "CMYK, which has no exact counterpart in RGB", "convert the image to RGB");
  }
  if (info.num_components != 1 && info.num_components != 3) {
    fail(file.path(), "colours", fmt::format("{} components", info.num_components), "convert the image to RGB");
  }
  if (info.arith_code) {
    fail(file.path(), "coding", "arithmetic coding is not supported", "convert it with jpegtran to Huffman coding");
  }
  std::size_t blocks = 0;
  for (int i = 0; i < info.num_components; ++i) {
    const jpeg_component_info& component = info.comp_info[i];
    blocks = std::max(blocks, std::size_t{component.width_in_blocks} * component.height_in_blocks);
  }
  if (blocks / 8 > file.size()) {
    fail(file.path(), "size",
         fmt::format("{} x {} pixels cannot be in a file of {} bytes", info.image_width, info.image_height,
                     file.size()));
  }
}

}  // namespace

HostArray read_jpeg(const InputFile& file, const ReadOptions&) {
  const std::vector<std::byte> bytes = file.contents();
  JpegReader reader;
  if (!reader.read_header(bytes)) fail(file.path(), "header", reader.message);
  check_header(file, reader.info);
  const bool grey = reader.info.num_components == 1;
  const ImageLayout layout{reader.info.image_height, reader.info.image_width, grey ? 1 : 3, Dtype::u8};
  HostArray array = HostArray::allocate(layout.view());
  if (!reader.read_rows(array.memory.get(), layout.row_bytes(), grey ? JCS_GRAYSCALE : JCS_RGB)) {
    fail(file.path(), "image data", reader.message);
  }
  return array;
}

}  // namespace axisloom::io
