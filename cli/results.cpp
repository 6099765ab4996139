// Saving again and again: each time as a new file that takes the place of the one before.
#include "cli/results.hpp"

#include <cstdio>
#include <utility>

namespace axisloom::cli {

Results::Results(const std::string& path) : path_(path == "-" ? "" : path) {
  if (!path_.empty()) file_ = std::make_unique<io::OutputFile>(path_);
}

// A file that could not be finished is not written to again: it holds a text already.
void Results::put(const std::string& text) {
  const auto file = file_ ? std::move(file_) : std::make_unique<io::OutputFile>(path_);
  file->write(text);
  file->commit();
}

void Results::save(const std::string& text) {
  if (path_.empty() || (file_ && file_->direct())) return;
  put(text);
  file_ = std::make_unique<io::OutputFile>(path_);
}

void Results::finish(const std::string& text) {
  path_.empty() ? print(text) : put(text);
}

void Results::add_line(const std::string& line) {
  lines_ += line;
  if (!path_.empty()) return save(lines_);
  print(line);
  std::fflush(stdout);
}

void Results::finish_lines() {
  if (!path_.empty()) finish(lines_);
}

harness::Format format_of_results(const std::string& path, harness::Format asked, bool given) {
  if (given) return asked;
  const std::string extension = io::extension_of(path);
  if (extension == ".json") return harness::Format::json;
  if (extension == ".csv") return harness::Format::csv;
  return extension == ".md" ? harness::Format::md : asked;
}

void show_progress_or_stop(const std::string& line) {
  if (InterruptsHeld::interrupted()) throw Interrupted{};
  show_progress(line);
}

}  // namespace axisloom::cli
