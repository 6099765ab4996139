// Netpbm images: P1 to P7 are read, P5, P6 and P7 (PAM) written. Samples are scaled from 0..maxval to the whole range
// of u8 (maxval up to 255) or u16, and bitmaps become 0 (black) and 255 (white), so that all formats agree on
// brightness.
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
    const size_t samples = size_t(*bytes) / size_of(layout_.dtype);
    const bool plain = type_ <= 3;
    if (plain)
      need(bitmap_ ? samples : 2 * samples - 1);
    else
      need(bitmap_ ? size_t(layout_.height) * packed_row() : size_t(*bytes));

    HostArray array = allocate_image(file_.path(), layout_);
    if (plain)
      for (size_t i = 0; i < samples; ++i) store(array.span(), i, bitmap_ ? white() : number("sample", 65535));
    else if (bitmap_)
      raw_bits(array.span());
    else
      raw_samples(array.span());
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
    bitmap_ = type_ == 1 || type_ == 4;
    if (type_ == 7) return pam_header();
    layout_.width = number("width", kMaxSide);
    layout_.height = number("height", kMaxSide);
    layout_.channels = type_ == 3 || type_ == 6 ? 3 : 1;
    if (!bitmap_) maxval_ = number("maxval", 65535);
    require_sizes();
    if (!is_space(peek())) fail_at("header", "no white space after it,");
    step();
  }

  void require_sizes() {
    if (layout_.width == 0 || layout_.height == 0) file_.fail("size", "an image without pixels");
    if (maxval_ == 0) file_.fail("maxval", "0");
    layout_.dtype = maxval_ > 255 ? Dtype::u16 : Dtype::u8;
  }

  /// The letters that come next, in a line of a header.
  std::string word() {
    constexpr size_t longest = 16;
    std::string text;
    for (skip_space(); peek() > ' ' && text.size() < longest; step()) text += char(peek());
    return text;
  }

  /// Lines of a name and a value, in any order, up to ENDHDR. TUPLTYPE says in words what the depth says; white is the
  /// largest sample in all of them.
  void pam_header() {
    constexpr i64 kMaxSide = 0x7fffffff, kMaxDepth = 4;
    layout_.channels = 0;
    maxval_ = 0;
    for (std::string name = word(); name != "ENDHDR"; name = word()) {
      if (name == "WIDTH")
        layout_.width = number("WIDTH", kMaxSide);
      else if (name == "HEIGHT")
        layout_.height = number("HEIGHT", kMaxSide);
      else if (name == "DEPTH")
        layout_.channels = int(number("DEPTH", kMaxDepth));
      else if (name == "MAXVAL")
        maxval_ = number("MAXVAL", 65535);
      else if (name == "TUPLTYPE")
        while (peek() != '\n' && peek() != -1) step();
      else
        fail_at("header", "no name that PAM has");
    }
    require_sizes();
    if (layout_.channels == 0) file_.fail("DEPTH", "0, or missing");
    if (peek() != '\n') fail_at("header", "no line's end after ENDHDR");
    step();
  }

  /// The next pixel of a bitmap: 1 where it is white, which the file calls 0.
  i64 white() {
    skip_space();
    const int c = peek();
    if (c != '0' && c != '1') fail_at("sample", "neither 0 nor 1");
    step();
    return '1' - c;
  }

  /// Bytes of a row of eight pixels a byte.
  size_t packed_row() const { return (size_t(layout_.width) + 7) / 8; }

  void raw_bits(std::span<std::byte> out) {
    const auto width = size_t(layout_.width);
    std::vector<std::byte> row(packed_row());
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
  int type_ = 0;  // 1 to 7
  bool bitmap_ = false;
  i64 maxval_ = 1;
  ImageLayout layout_;
};

int maxval_of(const ImageLayout& layout) {
  return layout.dtype == Dtype::u8 ? 255 : 65535;
}

void write_samples(OutputFile& file, const HostArray& array, const ImageLayout& layout) {
  PackedReader reader(array);
  std::vector<std::byte> row(layout.row_bytes());
  for (i64 y = 0; y < layout.height; ++y) {
    reader.next(row.data(), layout.width * layout.channels);
    if (layout.dtype == Dtype::u16) swap_samples(row);
    file.write(row);
  }
}

}  // namespace

HostArray read_pnm(const InputFile& file, const ReadOptions&) {
  return PnmReader(file).image();
}

void check_pnm(const std::string& path, const View& view) {
  const ImageLayout layout = image_layout(path, view);
  if (layout.channels == 2 || layout.channels == 4)
    fail(path, "shape", fmt::format("{}: PNM has no alpha", to_string(view.shape)), "write a .png or .pam file");
  const std::string extension = extension_of(path);
  const bool grey = layout.channels == 1;
  if (extension == ".pbm" || (extension == ".ppm" && grey) || (extension == ".pgm" && !grey))
    fail(path, "format", fmt::format("{} does not hold {}", extension, grey ? "grey levels" : "colours"),
         grey ? "name it .pgm" : "name it .ppm");
}

void check_pam(const std::string& path, const View& view) {
  static_cast<void>(image_layout(path, view));
}

void write_pnm(OutputFile& file, const HostArray& array, const WriteOptions&) {
  const ImageLayout layout = image_layout(file.path(), array.view);
  file.write(
      fmt::format("P{}\n{} {}\n{}\n", layout.channels == 1 ? 5 : 6, layout.width, layout.height, maxval_of(layout)));
  write_samples(file, array, layout);
}

void write_pam(OutputFile& file, const HostArray& array, const WriteOptions&) {
  static constexpr const char* kTypes[] = {"GRAYSCALE", "GRAYSCALE_ALPHA", "RGB", "RGB_ALPHA"};
  const ImageLayout layout = image_layout(file.path(), array.view);
  file.write(fmt::format("P7\nWIDTH {}\nHEIGHT {}\nDEPTH {}\nMAXVAL {}\nTUPLTYPE {}\nENDHDR\n", layout.width,
                         layout.height, layout.channels, maxval_of(layout), kTypes[layout.channels - 1]));
  write_samples(file, array, layout);
}

}  // namespace axisloom::io
