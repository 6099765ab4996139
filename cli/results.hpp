// Where what is measured or drawn goes: a file that is opened before work begins and holds what there is, or standard
// output.
#pragma once

#include "cli/app.hpp"
#include "cli/messages.hpp"

#include "io/file.hpp"

#include <chrono>

namespace axisloom::cli {

class Results {
 public:
  /// No path, or "-", is standard output. Throws Error(file) when the file cannot be written.
  explicit Results(const std::string& path);
  /// What there is so far. A file holds it, whole, from now on; pipes and standard output wait for the end.
  void save(const std::string& text);
  /// All there is.
  void finish(const std::string& text);

  /// A line more, which standard output has at once; a file holds all of them, whole.
  void add_line(const std::string& line);
  /// There are no more lines.
  void finish_lines();

 private:
  void put(const std::string& text);

  std::string path_, lines_;
  std::unique_ptr<io::OutputFile> file_;
};

/// The format asked for, else that of a file's extension, else a table. Refuses extensions that promise anything else,
/// but for those of `drawings`, which the caller makes.
Format format_of_results(const std::string& path, const Context& context, const Texts& drawings = {});
/// Refuses a file whose extension is none of these; a name without one promises nothing.
void require_extension(const std::string& path, const Texts& known);

/// Says that a result is wrong, or that there is none, and what that makes of the exit code: a wrong one counts for
/// more.
void tell_fault(const std::string& fault, bool wrong, Context& context);

/// Measuring that an interrupt ends early: what there is until then is kept.
struct Interrupted {};
/// show_progress, and the place where an interrupt is noticed: throws Interrupted.
void show_progress_or_stop(const std::string& line);

/// Progress through many steps: which of them it is, and how long the rest takes if it goes on as before.
class Steps {
 public:
  /// `noun`: what one of them is called.
  Steps(std::string noun, size_t count) : noun_(std::move(noun)), count_(count) {}

  /// The next one begins.
  void begin();
  /// As show_progress_or_stop.
  void show(const std::string& line) const;

 private:
  using Clock = std::chrono::steady_clock;

  std::string left() const;

  std::string noun_;
  size_t count_, begun_ = 0;
  Clock::time_point start_ = Clock::now(), last_ = start_;  // of all of them, and of the present one
};

/// Calls `measure`, and then `finish(whether that is all)`, also where an interrupt or an error has ended it; these
/// take effect after that.
template <class Measure, class Finish>
void measure_and_finish(const Measure& measure, const Finish& finish) {
  const InterruptsHeld held;
  try {
    measure();
  } catch (const Interrupted&) {
  } catch (...) {
    show_progress("");
    finish(false);
    throw;
  }
  show_progress("");
  finish(!InterruptsHeld::interrupted());
}

}  // namespace axisloom::cli
