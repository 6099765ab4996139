// Saving again and again: each time as a new file that takes the place of the one before.
#include "results.hpp"

#include <cstdio>

namespace axisloom::cli {

Results::Results(const std::string& path) : path_(path == "-" ? "" : path) {
  if (!path_.empty()) file_ = std::make_unique<io::OutputFile>(path_);
}

void Results::save(const std::string& text) {
  if (!file_ || file_->direct()) return;
  file_->write(text);
  file_->commit();
  file_ = std::make_unique<io::OutputFile>(path_);
}

void Results::finish(const std::string& text) {
  if (!file_) return print(text);
  file_->write(text);
  file_->commit();
}

void Results::add_line(const std::string& line) {
  lines_ += line;
  if (file_) return save(lines_);
  print(line);
  std::fflush(stdout);
}

void Results::finish_lines() {
  if (file_) finish(lines_);
}

Format format_of_results(const std::string& path, Format asked, bool given) {
  if (given) return asked;
  const std::string extension = io::extension_of(path);
  if (extension == ".json") return Format::json;
  if (extension == ".csv") return Format::csv;
  return extension == ".md" ? Format::md : asked;
}

void show_progress_or_stop(const std::string& line) {
  if (InterruptsHeld::interrupted()) throw Interrupted{};
  show_progress(line);
}

}  // namespace axisloom::cli
