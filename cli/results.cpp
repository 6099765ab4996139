// Saving again and again: each time as a new file that takes the place of the one before.
#include "cli/results.hpp"

#include <algorithm>
#include <cstdio>

namespace axisloom::cli {
namespace {

struct TextFile {
  std::string_view extension;
  Format format;
};
constexpr TextFile text_files[] = {
    {".txt", Format::table}, {".json", Format::json}, {".csv", Format::csv}, {".md", Format::md}};

}  // namespace

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

Format format_of_results(const std::string& path, const Context& context, const Texts& drawings) {
  if (context.format_given) return context.format;
  const std::string extension = io::extension_of(path);
  Texts known = drawings;
  for (const TextFile& file : text_files) {
    if (extension == file.extension) return file.format;
    known.emplace_back(file.extension);
  }
  require_extension(path, known);
  return context.format;
}

void require_extension(const std::string& path, const Texts& known) {
  const std::string extension = io::extension_of(path);
  if (extension.empty() || std::ranges::count(known, extension) > 0) return;
  refuse("end it in one of " + joined(known, " "), "{}: what to write is not known for the extension {}",
         io::printable(path), io::in_quotes(extension));
}

void tell_fault(const std::string& fault, bool wrong, Context& context) {
  say(error_text(fault));
  if (context.exit_code != exit_differs) context.exit_code = wrong ? exit_differs : exit_code(Errc::device);
}

void show_progress_or_stop(const std::string& line) {
  if (InterruptsHeld::interrupted()) throw Interrupted{};
  show_progress(line);
}

void Steps::begin() {
  ++begun_;
  last_ = Clock::now();
}

void Steps::show(const std::string& line) const {
  if (count_ == 1) return show_progress_or_stop(line);
  show_progress_or_stop(fmt::format("{} {}/{}{}: {}", noun_, begun_, count_, left(), line));
}

std::string Steps::left() const {
  if (begun_ < 2) return "";
  const std::chrono::duration<double> each = (last_ - start_) / double(begun_ - 1), spent = Clock::now() - last_;
  const auto seconds = i64(std::max(each * double(count_ - begun_ + 1) - spent, spent * 0).count());
  return fmt::format(", about {}:{:02} left", seconds / 60, seconds % 60);
}

}  // namespace axisloom::cli
