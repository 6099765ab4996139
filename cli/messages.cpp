// Output and signals of the program.
#include "cli/messages.hpp"

#include "cli/colour.hpp"

#include "io/hidden_name.hpp"
#include "io/quoting.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace axisloom::cli {
namespace {

std::atomic<int> holders{0};
std::atomic<int> pending{0};
static_assert(std::atomic<int>::is_always_lock_free, "signal handlers may only touch lock-free atomics");

constexpr std::chrono::milliseconds progress_interval{100};  // nobody reads faster, and drawing disturbs what is timed

constexpr std::string_view error_label = "axisloom: ", remedy_label = "remedy: ";

int print_error = 0;  // errno of the first text that did not arrive

void die_of(int signal) {
  io::remove_unfinished();
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void tell(std::string_view text) {
  static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
}

void on_signal(int signal) {
  if (holders.load() == 0 || pending.exchange(signal) != 0) return die_of(signal);
  tell("\naxisloom: stopping with what has been measured; interrupt again to stop at once\n");
}

void on_lost_pages(int) {
  tell(
      "axisloom: an input file became shorter, or its disk failed, while it was read\n"
      "remedy: let nothing write to the file meanwhile, or give a copy of it\n");
  io::remove_unfinished();
  _exit(exit_code(Errc::file));
}

/// Signals that the program's parent had ignored, as nohup does, stay ignored.
void handle(int signal) {
  if (std::signal(signal, on_signal) == SIG_IGN) std::signal(signal, SIG_IGN);
}

std::string circumstances(const ErrorParts& parts) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!parts.shapes.empty()) add(parts.shapes);
  if (!parts.device.empty()) add("on " + parts.device);
  if (!parts.call.empty()) add(parts.native != 0 ? concat(parts.call, " returned ", parts.native) : parts.call);
  return text.empty() ? text : " (" + text + ")";
}

void put(const std::string& safe) {
  if (std::fputs(safe.c_str(), stdout) < 0 && print_error == 0) print_error = errno;
}

std::string with_painted_label(std::string_view line) {
  if (line.starts_with(error_label)) return painted_label(line, Colour::red);
  return line.starts_with(remedy_label) ? painted_label(line, Colour::bold) : std::string(line);
}

}  // namespace

void print(std::string_view text) {
  put(io::printable_lines(text));
}

void print(std::string_view text, const std::function<bool(size_t number, std::string_view line)>& is_heading) {
  if (!is_coloured(STDOUT_FILENO)) return print(text);
  size_t number = 0;
  put(joined(split(io::printable_lines(text), "\n"), "\n", [&](std::string_view line) {
    return is_heading(number++, line) ? painted(line, Colour::bold) : std::string(line);
  }));
}

void say(std::string_view line) {
  show_progress("");
  std::string whole = io::printable_lines(line);
  if (is_coloured(STDERR_FILENO)) whole = joined(split(whole, "\n"), "\n", with_painted_label);
  whole += "\n";
  std::fputs(whole.c_str(), stderr);
}

void show_progress(std::string_view line) {
  using Clock = std::chrono::steady_clock;
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  static bool shown = false;
  static Clock::time_point drawn{};
  if (!terminal || (line.empty() && !shown)) return;
  const Clock::time_point now = Clock::now();
  if (!line.empty() && now - drawn < progress_interval) return;
  if (!line.empty()) drawn = now;
  const std::string whole = "\r\x1b[K" + io::printable(line);
  std::fputs(whole.c_str(), stderr);
  std::fflush(stderr);
  shown = !line.empty();
}

void finish_output() {
  if (std::fflush(stdout) != 0 && print_error == 0) print_error = errno;
  if (print_error == 0) return;
  throw Error(Errc::file, concat("cannot write to standard output: ", std::strerror(print_error)),
              "look at what standard output is connected to");
}

std::string error_text(const Error& error) {
  const ErrorParts& parts = error.parts();
  const size_t end = parts.message.find('\n');
  std::string message = parts.op.empty() ? "" : parts.op + ": ";
  message += parts.message.substr(0, end) + circumstances(parts);
  if (end != std::string::npos) message += parts.message.substr(end);
  return error_text(message, parts.remedy);
}

std::string error_text(std::string_view message, std::string_view remedy) {
  std::string text = concat(error_label, message);
  if (!remedy.empty()) text += concat("\n", remedy_label, remedy);
  return text;
}

InterruptsHeld::InterruptsHeld() {
  holders.fetch_add(1);
}

InterruptsHeld::~InterruptsHeld() {
  if (holders.fetch_sub(1) != 1 || !interrupted()) return;
  std::fflush(stdout);
  die_of(pending.load());
}

bool InterruptsHeld::interrupted() noexcept {
  return pending.load() != 0;
}

void install_signal_handlers() {
  for (const int signal : {SIGINT, SIGTERM, SIGHUP}) handle(signal);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit (ulimit -f) then fails with a reason
  std::signal(SIGPIPE, SIG_DFL);  // a parent may have had it ignored; then writing would fail instead of ending us
}

void occupy_standard_streams() {
  // Opened the wrong way round, so that whoever reads or writes it is told.
  for (const int stream : {STDIN_FILENO, STDOUT_FILENO, STDERR_FILENO})
    if (fcntl(stream, F_GETFD) < 0) static_cast<void>(open("/dev/null", stream == STDIN_FILENO ? O_WRONLY : O_RDONLY));
}

void end_with_message_on_lost_pages() {
  std::signal(SIGBUS, on_lost_pages);
  sigset_t lost_pages;  // a parent may have blocked it; then the fault would end us without a word
  sigemptyset(&lost_pages);
  sigaddset(&lost_pages, SIGBUS);
  pthread_sigmask(SIG_UNBLOCK, &lost_pages, nullptr);
}

}  // namespace axisloom::cli
