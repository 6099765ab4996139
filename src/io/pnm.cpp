// Netpbm images: P1 to P6 are read, P5 and P6 written. Samples are scaled from 0..maxval to the whole range of u8
// (maxval up to 255) or u16, and bitmaps become 0 (black) and 255 (white), so that all formats agree on brightness.
#include <cstring>

#include "io/codec.hpp"
#include "io/packed.hpp"

namespace axisloom::io {

namespace {

bool is_space(int c) {
  return c == ' ' || (c >= '\t' && c <= '\r');
}

class PnmReader {
 public:
  explicit PnmReader(const InputFile& file) : file_(file), stream_(file) {}

  HostArray image() {
    header();
    const std::optional<i64> bytes = checked_bytes({layout_.height, layout_.width, layout_.channels}, layout_.dtype);
    if (!bytes) file_.fail("size", fmt::format("{} x {} pixels are too many", layout_.width, layout_.height));
    const auto height = size_t(layout_.height);
    const size_t samples = size_t(*bytes) / size_of(layout_.dtype);
    if (type_ == 1) need(samples);
    if (type_ == 2 || type_ == 3) need(2 * samples - 1);
    if (type_ == 4) need(height * ((size_t(layout_.width) + 7) / 8));
    if (type_ >= 5) need(size_t(*bytes));

    HostArray array = allocate_image(file_.path(), layout_);
    if (type_ == 1) plain_bits(array.span());
    if (type_ == 2 || type_ == 3) plain_samples(array.span());
    if (type_ == 4) raw_bits(array.span());
    if (type_ >= 5) raw_samples(array.span());
    skip_space();
    if (peek() >= 0)
      file_.fail("length", fmt::format("{} more bytes after the image", left()),
                 "files of several images are not read: split it");
    stream_.require_good();
    return array;
  }

 private:
  /// The next byte; -1 at the end of the file.
  int peek() noexcept {
    const std::span<const std::byte> block = stream_.block();
    return block.empty() ? -1 : int(std::to_integer<unsigned char>(block.front()));
  }

  void step() noexcept { stream_.take(1); }
  size_t left() const noexcept { return file_.size() - stream_.position(); }
  /// Says where in the file something is wrong, unless it cannot be read there.
  [[noreturn]] void fail_at(std::string_view field, std::string_view what) {
    stream_.require_good();
    if (peek() < 0) file_.fail(field, "the file ends before it");
    file_.fail(field, fmt::format("{} at byte {}", what, stream_.position()));
  }

  void skip_space() {
    for (int c = peek(); is_space(c) || c == '#'; c = peek()) {
      if (c == '#')
        while (peek() != '\n' && peek() != '\r' && peek() != -1) step();
      else
        step();
    }
  }

  i64 number(std::string_view field, i64 most) {
    skip_space();
    if (peek() < '0' || peek() > '9') fail_at(field, "no number");
    i64 value = 0;
    for (; peek() >= '0' && peek() <= '9'; step()) {
      value = value * 10 + (peek() - '0');
      if (value > most) file_.fail(field, fmt::format("more than {}", most));
    }
    return value;
  }

  void need(size_t bytes) const {
    if (bytes > left())
      file_.fail("size",
                 fmt::format("{} x {} pixels need at least {} bytes, but the file has {} after its header",
                             layout_.width, layout_.height, bytes, left()),
                 "the file is cut short or its header is wrong: write it again");
  }

  void header() {
    constexpr i64 kMaxSide = 0x7fffffff;
    char magic[2];  // the caller has seen that they are there
    stream_.read(std::as_writable_bytes(std::span(magic)));
    type_ = magic[1] - '0';
    if (type_ == 7) file_.fail("format", "P7 (PAM) is not supported", "convert it to PNG");
    layout_.width = number("width", kMaxSide);
    layout_.height = number("height", kMaxSide);
    if (layout_.width == 0 || layout_.height == 0) file_.fail("size", "an image without pixels");
    layout_.channels = type_ == 3 || type_ == 6 ? 3 : 1;
    if (type_ != 1 && type_ != 4) maxval_ = number("maxval", 65535);
    if (maxval_ == 0) file_.fail("maxval", "0");
    layout_.dtype = maxval_ > 255 ? Dtype::u16 : Dtype::u8;
    if (!is_space(peek())) fail_at("header", "no white space after it,");
    step();
  }

  void plain_bits(std::span<std::byte> out) {
    for (std::byte& pixel : out) {
      skip_space();
      const int c = peek();
      if (c != '0' && c != '1') fail_at("sample", "neither 0 nor 1");
      pixel = std::byte{c == '1' ? u8{0} : u8{255}};
      step();
    }
  }

  void plain_samples(std::span<std::byte> out) {
    const size_t samples = out.size() / size_of(layout_.dtype);
    for (size_t i = 0; i < samples; ++i) store(out, i, number("sample", 65535));
  }

  void raw_bits(std::span<std::byte> out) {
    const auto width = size_t(layout_.width);
    std::vector<std::byte> row((width + 7) / 8);
    for (size_t first = 0; first < out.size(); first += width) {
      if (stream_.read(row) < row.size()) fail_at("sample", "no more");
      for (size_t x = 0; x < width; ++x) {
        const bool black = (std::to_integer<unsigned>(row[x / 8]) >> (7 - x % 8) & 1) != 0;
        out[first + x] = std::byte{black ? u8{0} : u8{255}};
      }
    }
  }

  void raw_samples(std::span<std::byte> out) {
    const size_t size = size_of(layout_.dtype);
    if (stream_.read(out) < out.size()) fail_at("sample", "no more");
    if (size == 2) swap_samples(out);
    if (maxval_ == 255 || maxval_ == 65535) return;
    for (size_t i = 0; i < out.size() / size; ++i) {
      std::uint16_t value = 0;
      if (size == 2)
        std::memcpy(&value, &out[2 * i], 2);
      else
        value = std::to_integer<std::uint16_t>(out[i]);
      store(out, i, value);
    }
  }

  void store(std::span<std::byte> out, size_t sample, i64 value) const {
    if (value > maxval_) file_.fail("sample", fmt::format("{} is above maxval {}", value, maxval_));
    if (layout_.dtype == Dtype::u8) {
      out[sample] = std::byte((value * 255 + maxval_ / 2) / maxval_);
    } else {
      const auto scaled = std::uint16_t((value * 65535 + maxval_ / 2) / maxval_);
      std::memcpy(&out[2 * sample], &scaled, 2);
    }
  }

  const InputFile& file_;
  InputStream stream_;
  int type_ = 0;  // 1 to 6
  i64 maxval_ = 1;
  ImageLayout layout_;
};

}  // namespace

HostArray read_pnm(const InputFile& file, const ReadOptions&) {
  return PnmReader(file).image();
}

void check_pnm(const std::string& path, const View& view) {
  const ImageLayout layout = image_layout(path, view);
  if (layout.channels == 2 || layout.channels == 4)
    fail(path, "shape", fmt::format("{}: PNM has no alpha", to_string(view.shape)), "write a .png file");
  const std::string extension = extension_of(path);
  const bool grey = layout.channels == 1;
  if (extension == ".pbm" || (extension == ".ppm" && grey) || (extension == ".pgm" && !grey))
    fail(path, "format", fmt::format("{} does not hold {}", extension, grey ? "grey levels" : "colours"),
         grey ? "name it .pgm" : "name it .ppm");
}

void write_pnm(OutputFile& file, const HostArray& array) {
  const ImageLayout layout = image_layout(file.path(), array.view);
  const bool grey = layout.channels == 1;
  file.write(fmt::format("P{}\n{} {}\n{}\n", grey ? 5 : 6, layout.width, layout.height,
                         layout.dtype == Dtype::u8 ? 255 : 65535));
  PackedReader reader(array);
  std::vector<std::byte> row(layout.row_bytes());
  for (i64 y = 0; y < layout.height; ++y) {
    reader.next(row.data(), layout.width * layout.channels);
    if (layout.dtype == Dtype::u16) swap_samples(row);
    file.write(row);
  }
}

}  // namespace axisloom::io
