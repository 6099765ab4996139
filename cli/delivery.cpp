// Names are settled, and files opened, before anything is read.
#include "cli/delivery.hpp"

#include "cli/array_text.hpp"
#include "cli/messages.hpp"
#include "cli/streams.hpp"

#include <algorithm>
#include <filesystem>

namespace axisloom::cli {
namespace {

namespace fs = std::filesystem;

/// The extension of results: of a format the usual one, else that of the input.
std::string extension_in_folder(const std::string& input, const std::string& format) {
  if (format.empty()) return fs::path(input).extension().string();
  const auto found = std::ranges::find(io::formats(), std::string_view(format), &io::Format::name);
  return found == io::formats().end() ? "" : std::string(found->extensions.front());
}

void require_separate(const Texts& inputs, const std::string& output) {
  std::error_code ignored;
  for (const std::string& input : inputs)
    if (fs::equivalent(input, output, ignored))
      refuse("name another folder", "{} is an input file, and its result would take its place", io::printable(output));
}

}  // namespace

Delivery::Delivery(const std::string& output, const std::string& format, Older older, std::optional<int> quality)
    : format_(format_of_output(output, format)) {
  if (output.empty()) return;
  static_cast<void>(io::format_to_write(output, format_));
  if (quality && !io::format_to_write(output, format_).lossy)
    refuse("leave it out, or write a .jpg file", "--quality is for JPEG files");
  quality_ = quality.value_or(quality_);
  file_ = open_output(output, older);
}

const io::Format* Delivery::becomes() const {
  return file_ ? &io::format_to_write(file_->path(), format_) : nullptr;
}

void Delivery::require(const View& result) const {
  if (file_) return io::check_writable(file_->path(), result, format_);
  if (result.count() > most_printed)
    refuse("add -o FILE, or -o - for .npy on standard output",
           "the result is {}, of which at most {} elements are printed, and no output file is named", to_string(result),
           most_printed);
}

void Delivery::deliver(const io::HostArray& result) {
  if (!file_) return print(array_text(result));
  io::write(*file_, result, {format_, quality_});
  file_->commit();
}

bool is_folder(const std::string& output) {
  std::error_code ignored;
  return output.ends_with('/') || fs::is_directory(output, ignored);
}

Texts outputs_in(const std::string& folder, const Texts& inputs, const std::string& format) {
  Texts outputs;
  for (const std::string& input : inputs) {
    if (input == "-")
      refuse("name a file with -o", "standard input has no name that its result could have in {}", folder);
    const fs::path name = fs::path(input).stem().string() + extension_in_folder(input, format);
    const std::string output = (fs::path(folder) / name).string();
    static_cast<void>(io::format_to_write(output, format));
    if (std::ranges::count(outputs, output) > 0)
      refuse("rename one of the inputs", "two results would be called {}", io::printable(output));
    require_separate(inputs, output);
    outputs.push_back(output);
  }
  make_folder(folder);
  return outputs;
}

}  // namespace axisloom::cli
