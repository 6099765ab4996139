// What the program says: results on stdout, everything else on stderr, nothing of it able to steer a terminal. And how
// signals end it.
#pragma once

#include "harness/arguments.hpp"

#include "core/not_copied.hpp"

namespace axisloom::cli {

using namespace harness;

/// Data for stdout. What cannot be written is noticed by `finish_output`.
void print(std::string_view text);
/// The same in lines, those that are headings in bold where stdout is a terminal.
void print(std::string_view text, const std::function<bool(size_t number, std::string_view line)>& is_heading);
/// A line for stderr. On a terminal the labels of errors are coloured.
void say(std::string_view line);
template <class Value, class... Values>
void say(fmt::format_string<Value, Values...> line, Value&& value, Values&&... values) {
  say(fmt::format(line, std::forward<Value>(value), std::forward<Values>(values)...));
}
/// Progress that replaces itself, only where stderr is a terminal, and at most ten times a second; an empty line
/// removes it.
void show_progress(std::string_view line);
/// Flushes stdout; throws Error(file) when anything printed did not arrive (a full disk, say).
void finish_output();

/// "axisloom: message (shapes, on device, call returned N)" and, on a line of its own, the remedy. A message of several
/// lines is a pattern with a caret below its fault: the circumstances then go onto its first line.
std::string error_text(const Error& error);
std::string error_text(std::string_view message, std::string_view remedy = {});

/// While it lives, the first interrupt is only noted, so that what is under way can be brought to an end; with its own
/// end the interrupt takes effect. A second one ends the program at once.
class InterruptsHeld : core::NotCopied {
 public:
  InterruptsHeld();
  ~InterruptsHeld();

  /// Whether there was an interrupt.
  static bool interrupted() noexcept;
};

/// An interrupt, a hangup or a closed pipe ends the program at once, without a trace, unless held.
void install_signal_handlers();
/// Gives standard input, output and error a place where they are closed, so that no file is opened in theirs.
void occupy_standard_streams();
/// From now on, pages of a mapped file that are gone end the program with a message and exit code 4.
void end_with_message_on_lost_pages();

}  // namespace axisloom::cli
