// Raw files: elements in C order and nothing else, so shape and dtype come from the user.
#include <algorithm>

#include "io/codec.hpp"
#include "io/packed.hpp"

namespace axisloom::io {

HostArray read_raw(const InputFile& file, const ReadOptions& options) {
  if (!options.dtype)
    throw Error(Errc::usage, fmt::format("{}: a raw file does not say its dtype", printable(file.path())),
                "give --dtype and --shape");
  const Dtype dtype = *options.dtype;
  const auto size = i64(file.size());
  const auto element = i64(size_of(dtype));
  Dims shape = options.shape;
  if (shape.empty()) {
    if (size % element != 0)
      file.fail("length", fmt::format("{} bytes are not a whole number of {}", size, name(dtype)));
    shape = {size / element};
  }
  const std::optional<i64> bytes = checked_bytes(shape, dtype);
  if (!bytes)
    throw Error(Errc::usage,
                fmt::format("{}: shape {} is negative or too large", printable(file.path()), to_string(shape)));
  if (*bytes != size)
    file.fail("length",
              fmt::format("{}{} needs {} bytes, but the file has {}", name(dtype), to_string(shape), *bytes, size),
              "give with --shape and --dtype what the file was written with");
  return file.load(View::contiguous(dtype, shape), 0, options.map_from);
}

void write_raw(OutputFile& file, const HostArray& array, const WriteOptions&) {
  write_elements(file, array);
}

void write_elements(OutputFile& file, const HostArray& array) {
  const size_t element = size_of(array.view.dtype);
  i64 left = array.view.count();
  if (left == 0) return;
  if (array.view.is_contiguous()) {
    const std::byte* first = array.memory.get() + array.view.offset * i64(element);
    file.write(std::span(first, size_t(left) * element));
    return;
  }
  constexpr i64 kPiece = 1 << 14;  // elements gathered at a time: at most 256 KiB
  std::vector<std::byte> piece(size_t(std::min(left, kPiece)) * element);
  PackedReader reader(array);
  while (left > 0) {
    const i64 count = std::min(left, kPiece);
    reader.next(piece.data(), count);
    file.write(std::span(piece).first(size_t(count) * element));
    left -= count;
  }
}

}  // namespace axisloom::io
