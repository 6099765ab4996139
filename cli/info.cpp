// axisloom info: what files hold.
#include "cli/app.hpp"
#include "cli/reading.hpp"
#include "cli/streams.hpp"

namespace axisloom::cli {
namespace {

struct InfoOptions {
  Texts files;
  Reading reading;
};

void show_info(const InfoOptions& options, const Context& context) {
  refuse_pointless(options.reading, options.files);
  io::ReadOptions reading = read_options(options.reading);
  Table table({"file", "format", "dtype", "shape", "order", "bytes"});
  for (const std::string& name : options.files) {
    const io::InputFile file = open_input(name);
    const Texts all = io::arrays_in(file, reading.format);
    for (const std::string& one : options.reading.array.empty() ? all : Texts{options.reading.array}) {
      reading.array = one;
      const io::HostArray array = read_file(file, reading);
      table.add({one.empty() ? name : name + ": " + one, io::format_of(file, reading.format).name,
                 axisloom::name(array.view.dtype), shape_text(array.view.shape),
                 array.view.is_contiguous() ? "C" : "Fortran", bytes_cell(array.bytes)});
    }
  }
  print(table, context);
}

void add_info_options(App& command, InfoOptions& options) {
  add_value(command, "file", options.files, "FILE...", "The files (- reads standard input)")->required();
  add_reading_options(command, options.reading);
}

}  // namespace

void add_info(App& app, Context& context) {
  const About about{"info",
                    "Show what files hold: format, dtype, shape, order of the elements, and bytes in memory.",
                    "axisloom info photo.jpg\naxisloom info *.npy --format json",
                    {.format = true}};
  add_command<InfoOptions>(app, context, about, show_info, add_info_options);
}

}  // namespace axisloom::cli
