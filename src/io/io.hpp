// Files in and out: .npy, .npz (reading), raw, PNG, JPEG, PNM and PAM. Never executes what a file says (no pickles).
#pragma once

#include <axisloom/array.hpp>

#include <memory>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::io {

/// Pixels in a row and in a column, per metre; or, where only their ratio is known, in any unit.
struct Resolution {
  std::uint32_t x = 0, y = 0;
  bool per_metre = false;
  bool operator==(const Resolution&) const = default;
};

/// What an image file says of its pixels, beside them.
struct ImageInfo {
  std::string profile = {};  // an ICC colour profile; empty: none
  std::optional<Resolution> resolution = {};
  bool operator==(const ImageInfo&) const = default;
};

/// An array in host memory, aligned for any access unless memory-mapped. `view.offset` is 0 for arrays read from files.
/// Images are h w c (h w when grey); strides follow the file's order, so a Fortran-order .npy has Fortran strides.
struct HostArray {
  View view;
  std::shared_ptr<std::byte> memory;  // keeps the allocation or the mapping alive
  size_t bytes = 0;
  bool mapped = false;  // it is a file's own pages: should the file become shorter, reading them raises SIGBUS
  bool image = false;   // read from an image: h w, or h w c
  std::shared_ptr<const ImageInfo> info = {};  // of an image that was read, or is to be written; null: nothing is known

  std::span<std::byte> span() const { return {memory.get(), bytes}; }
  static HostArray allocate(const View& view);  // uninitialised memory that covers the view's bounds
};

/// How to read what the file itself does not say.
struct ReadOptions {
  std::string format;  // "" by extension (by content where that says nothing), else npy, npz, raw, png, jpeg, pnm, pam
  Dims shape;          // raw only; empty: one axis, as long as the file
  std::optional<Dtype> dtype;  // raw only
  std::string array;           // npz only: the name of one of its arrays; empty: the only one
  size_t map_from = never;     // .npy and raw data of at least so many bytes are memory-mapped

  static constexpr size_t never = size_t(-1);
};

/// How to write what formats leave open.
struct WriteOptions {
  std::string_view format = {};  // "" by extension, else npy, raw, png, jpeg, pnm, pam
  int quality = 90;              // of JPEG, from 1 to 100, as libjpeg has it
};

class InputFile;   // io/file.hpp
class OutputFile;  // likewise

/// Throws Error(file) naming the file and the field at fault; Error(usage) for a format or dtype that `options` lack,
/// and Error(out_of_memory) for more than the machine's memory holds. A memory-mapped file must not be made shorter
/// while the array lives.
HostArray read(const std::string& path, const ReadOptions& options = {});
HostArray read(const InputFile& file, const ReadOptions& options = {});

/// A format of files, its extensions, and whether it is read, written, of images, written with their ImageInfo, and not
/// exact.
struct Format {
  std::string_view name;
  std::vector<std::string_view> extensions;
  bool reads, writes, images, keeps_info = false, lossy = false;
};

/// The names of the arrays that `read` may be asked for; one without a name where a file is a single array.
std::vector<std::string> arrays_in(const InputFile& file, const std::string& format = {});

/// The format that `read` takes a file for, where `wanted` names none; throws as it does.
const Format& format_of(const InputFile& file, const std::string& wanted = {});

/// Writes to a file that takes its name when all is written: a failure leaves the old file as it was. The format
/// follows the extension unless given. Images take u8 and u16 (JPEG u8) of shape h w, h w 1, h w 3, and as PNG or PAM
/// h w 2 (grey and alpha), h w 4. PNG and JPEG keep `info`, but for a profile that is damaged or not of the image's
/// kind (grey or colour). JPEG changes the pixels.
void write(const std::string& path, const HostArray& array, const WriteOptions& options = {});
/// The same into a file that is open; `commit` is left to the caller.
void write(OutputFile& file, const HostArray& array, const WriteOptions& options = {});
/// The format that `write` takes; throws what it would throw where no format can be written to such a path.
const Format& format_to_write(const std::string& path, std::string_view format = {});
/// Throws what `write` would throw on account of format, dtype and shape, before there are any elements.
void check_writable(const std::string& path, const View& view, std::string_view format = {});

/// What the machine, or the container that the program is in, has of memory, in bytes.
size_t memory_of_machine();

/// All of them, for help texts.
std::span<const Format> formats();

/// Extension of a path in lower case, with its dot; empty when it has none.
std::string extension_of(const std::string& path);

}  // namespace axisloom::io
