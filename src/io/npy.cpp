// NumPy's .npy files, versions 1 to 3 (format: numpy.lib.format, NEP 1).
#include <algorithm>

#include "core/number.hpp"
#include "io/codec.hpp"
#include "io/npy_header.hpp"

namespace axisloom::io {

namespace {

constexpr std::string_view kMagic = "\x93NUMPY";
constexpr size_t kDataAlignment = 64;  // of the data's start in the file, as NumPy has it
constexpr size_t kLongestHeader = size_t{1} << 20;

/// Where the header's text stands in the file.
struct TextRange {
  size_t begin = 0;
  size_t length = 0;
};

TextRange header_text(const InputFile& file) {
  const std::string head = file.head(12);
  const auto byte = [&](size_t i) { return size_t(u8(head[i])); };
  if (head.size() < 10) file.fail("header", fmt::format("the file ends after {} bytes", head.size()));
  const size_t major = byte(6);
  if (major < 1 || major > 3 || byte(7) != 0)
    file.fail("version", fmt::format("{}.{} is not known", major, byte(7)), "save it as version 1.0 to 3.0");
  TextRange text{10, byte(8) | byte(9) << 8};
  if (major >= 2) {
    if (head.size() < 12) file.fail("header", fmt::format("the file ends after {} bytes", head.size()));
    text = {12, text.length | byte(10) << 16 | byte(11) << 24};
  }
  if (text.length > file.size() - text.begin)
    file.fail("header length", fmt::format("{} bytes claimed, but the file has {} in all", text.length, file.size()));
  if (text.length > kLongestHeader)
    file.fail("header length", fmt::format("{} bytes, more than {}", text.length, kLongestHeader));
  return text;
}

void swap_bytes(HostArray& array) {
  const size_t part = size_of(core::component_of(array.view.dtype));
  const std::span<std::byte> bytes = array.span();
  for (size_t i = 0; i < bytes.size(); i += part) std::ranges::reverse(bytes.subspan(i, part));
}

/// The view with its axes reversed: C order of it is Fortran order of the original.
View reversed(const View& view) {
  View reversed = view;
  std::ranges::reverse(reversed.shape);
  std::ranges::reverse(reversed.strides);
  return reversed;
}

}  // namespace

HostArray read_npy(const InputFile& file, const ReadOptions& options) {
  const TextRange range = header_text(file);
  std::string text(range.length, '\0');
  file.read_at(range.begin, std::as_writable_bytes(std::span(text)));
  const NpyHeader header = parse_npy_header(text, file.path());

  const size_t start = range.begin + range.length;
  const std::optional<i64> bytes = checked_bytes(header.shape, header.dtype);
  if (!bytes) file.fail("shape", fmt::format("{} is more than any memory holds", to_string(header.shape)));
  if (size_t(*bytes) > file.size() - start)
    file.fail("shape",
              fmt::format("{}{} needs {} bytes, but the file has {} after its header", name(header.dtype),
                          to_string(header.shape), *bytes, file.size() - start),
              "the file is cut short or its header is wrong: write it again");
  View view = View::contiguous(header.dtype, header.shape);
  if (header.fortran) view.strides = fortran_strides(header.shape);
  if (!header.swapped) return file.load(view, start, options.map_from);
  HostArray array = file.load(view, start, ReadOptions::never);
  swap_bytes(array);
  return array;
}

void check_npy(const std::string& path, const View& view) {
  if (!npy_descr(view.dtype).empty()) return;
  fail(path, "dtype", fmt::format(".npy has no {}", name(view.dtype)), "write the same bits as u16, or convert to f32");
}

std::string npy_head(const NpyHeader& header) {
  std::string text = format_npy_header(header);
  const size_t unpadded = kMagic.size() + 4 + text.size() + 1;
  text.append((kDataAlignment - unpadded % kDataAlignment) % kDataAlignment, ' ') += '\n';
  const auto length = std::uint16_t(text.size());  // at most 16 extents of 20 characters
  std::string head(kMagic);
  head += {'\x01', '\x00', char(length & 0xff), char(length >> 8)};
  return head + text;
}

void write_npy(OutputFile& file, const HostArray& array, const WriteOptions&) {
  const View& view = array.view;
  HostArray dense = array;
  const bool fortran = !view.is_contiguous() && reversed(view).is_contiguous();
  if (fortran) dense.view = reversed(view);

  file.write(npy_head({view.dtype, false, fortran, view.shape}));
  write_elements(file, dense);
}

}  // namespace axisloom::io
