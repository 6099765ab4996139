// What the program says: results on stdout, everything else on stderr.
#pragma once

#include <axisloom/error.hpp>

#include <string>
#include <string_view>

namespace axisloom::cli {

/// Data for stdout. What cannot be written is noticed by `finish_output`.
void print(std::string_view text);
/// A line for stderr.
void say(std::string_view line);
/// Progress that replaces itself, only where stderr is a terminal; an empty line removes it.
void show_progress(std::string_view line);
/// Flushes stdout; throws Error(file) when anything printed did not arrive (a full disk, say).
void finish_output();

/// "axisloom: message (shapes, on device, call returned N)" and, on a line of its own, the remedy. A message of several
/// lines is a pattern with a caret below its fault: the circumstances then go onto its first line.
std::string error_text(const Error& error);
std::string error_text(std::string_view message, std::string_view remedy);

/// While it lives an interrupt waits, so that a file is written whole or not at all and no temporary file stays behind.
class InterruptsHeld {
 public:
  InterruptsHeld();
  ~InterruptsHeld();
  InterruptsHeld(const InterruptsHeld&) = delete;
  InterruptsHeld& operator=(const InterruptsHeld&) = delete;
};

/// An interrupt or a closed pipe ends the program at once, without a trace, unless held.
void install_signal_handlers();

}  // namespace axisloom::cli
