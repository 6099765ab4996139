// Only of raw files shape and dtype have to be said.
#include "cli/reading.hpp"

#include "cli/generated_text.hpp"
#include "cli/streams.hpp"

#include <algorithm>

namespace axisloom::cli {
namespace {

/// Whether the name of a file, or who reads it, says that it has this format.
bool is_called(std::string_view wanted, const std::string& file, const std::string& format) {
  if (!format.empty()) return format == wanted;
  const auto found = std::ranges::find(io::formats(), wanted, &io::Format::name);
  return found != io::formats().end() && std::ranges::count(found->extensions, io::extension_of(file)) > 0;
}

}  // namespace

void add_reading_options(App& command, Reading& reading) {
  add_value(command, "--input-format", reading.format, format_names(&io::Format::reads),
            "Format of the input, if its name does not show it")
      ->group(file_group);
  add_value(command, "--shape", reading.shape, "SHAPE", "Shape of a raw input, such as 256x256")->group(file_group);
  add_value(command, "--dtype", reading.dtype, dtype_value, "Element type of a raw input, such as u8 or float32")
      ->group(file_group);
  add_value(command, "--array", reading.array, "NAME", "Array of an .npz input, if it has more than one")
      ->group(file_group);
}

void refuse_pointless(const Reading& reading, const Texts& files) {
  const auto none_is = [&](std::string_view format) {
    return std::ranges::none_of(files,
                                [&](const std::string& file) { return is_called(format, file, reading.format); });
  };
  if (!(reading.shape.empty() && reading.dtype.empty()) && none_is("raw"))
    refuse("leave them out, or add --input-format raw",
           "--shape and --dtype are for raw files; other formats hold their own");
  if (!reading.array.empty() && none_is("npz"))
    refuse("leave it out, or add --input-format npz", "--array is for .npz files; others hold one array");
}

io::ReadOptions read_options(const Reading& reading) {
  io::ReadOptions options;
  options.format = reading.format;
  if (!reading.shape.empty()) options.shape = parse_shape(reading.shape);
  if (!reading.dtype.empty()) options.dtype = parse_dtype(reading.dtype);
  options.array = reading.array;
  return options;
}

}  // namespace axisloom::cli
