// Standard input and output take part under names that a message can use.
#include "cli/streams.hpp"

#include "cli/messages.hpp"

#include <unistd.h>

#include <filesystem>

namespace axisloom::cli {
namespace {

// A file is read, since its own pages can be taken away while it is mapped. One that is this part of memory is mapped
// all the same: beside a result of its size, or others like it, it would leave no room. Reading costs about 0.4 s a GiB
// that is in the page cache already, with other work on both cores: a transpose of 1 GiB took 1.0 instead of 0.6 s.
constexpr size_t mapped_share = 4;

}  // namespace

io::InputFile open_input(const std::string& path) {
  return path == "-" ? io::InputFile(STDIN_FILENO, "standard input") : io::InputFile(path);
}

io::HostArray read_file(const io::InputFile& file, io::ReadOptions options) {
  options.map_from = io::memory_of_machine() / mapped_share;
  io::HostArray array = io::read(file, options);
  if (array.mapped) end_with_message_on_lost_pages();
  return array;
}

std::unique_ptr<io::OutputFile> open_output(const std::string& path, io::OutputFile::Older older) {
  if (path != "-") return std::make_unique<io::OutputFile>(path, io::OutputFile::Naming::none, older);
  if (isatty(STDOUT_FILENO) == 1)
    refuse("name a file, or pipe it on", "standard output is a terminal, which cannot show arrays");
  return std::make_unique<io::OutputFile>(STDOUT_FILENO, "standard output");
}

std::string format_of_output(const std::string& path, const std::string& asked) {
  return asked.empty() && path == "-" ? "npy" : asked;
}

void make_folder(const std::string& folder) {
  std::error_code error;
  std::filesystem::create_directories(folder, error);
  if (error)
    throw Error(Errc::file, fmt::format("cannot make the folder {}: {}", io::printable(folder), error.message()),
                "name another with -o");
}

std::string format_names(bool io::Format::*ability) {
  std::vector<std::string_view> names;
  for (const io::Format& format : io::formats())
    if (format.*ability) names.push_back(format.name);
  return joined(names, "|");
}

}  // namespace axisloom::cli
