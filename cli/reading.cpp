// Only of raw files shape and dtype have to be said.
#include "cli/reading.hpp"

#include "cli/generated_text.hpp"
#include "cli/streams.hpp"

#include <algorithm>

namespace axisloom::cli {
namespace {

bool is_raw(const std::string& file, const std::string& format) {
  if (!format.empty()) return format == "raw";
  const auto raw = std::ranges::find(io::formats(), std::string_view("raw"), &io::Format::name);
  return std::ranges::count(raw->extensions, io::extension_of(file)) > 0;
}

}  // namespace

void add_reading_options(App& command, Reading& reading) {
  add_value(command, "--input-format", reading.format, format_names(&io::Format::reads),
            "Format of the input, if its name does not show it")
      ->group(file_group);
  add_value(command, "--shape", reading.shape, "SHAPE", "Shape of a raw input, such as 256x256")->group(file_group);
  add_value(command, "--dtype", reading.dtype, dtype_value, "Element type of a raw input, such as u8 or float32")
      ->group(file_group);
}

void refuse_pointless(const Reading& reading, const Texts& files) {
  if (reading.shape.empty() && reading.dtype.empty()) return;
  if (std::ranges::none_of(files, [&](const std::string& file) { return is_raw(file, reading.format); }))
    refuse("leave them out, or add --input-format raw",
           "--shape and --dtype are for raw files; other formats hold their own");
}

io::ReadOptions read_options(const Reading& reading) {
  io::ReadOptions options;
  options.format = reading.format;
  if (!reading.shape.empty()) options.shape = parse_shape(reading.shape);
  if (!reading.dtype.empty()) options.dtype = parse_dtype(reading.dtype);
  return options;
}

}  // namespace axisloom::cli
