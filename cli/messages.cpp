// Output and signals of the program.
#include "messages.hpp"

#include <fmt/format.h>

#include <unistd.h>

#include <atomic>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>

namespace axisloom::cli {
namespace {

std::atomic<int> holders{0};
std::atomic<int> pending{0};
static_assert(std::atomic<int>::is_always_lock_free, "signal handlers may only touch lock-free atomics");

void die_of(int signal) {
  std::signal(signal, SIG_DFL);
  std::raise(signal);
}

void on_signal(int signal) {
  if (holders.load() > 0)
    pending.store(signal);
  else
    die_of(signal);
}

std::string circumstances(const ErrorParts& parts) {
  std::string text;
  const auto add = [&text](const std::string& part) { text += (text.empty() ? "" : ", ") + part; };
  if (!parts.shapes.empty()) add(parts.shapes);
  if (!parts.device.empty()) add("on " + parts.device);
  if (!parts.call.empty())
    add(parts.native != 0 ? fmt::format("{} returned {}", parts.call, parts.native) : parts.call);
  return text.empty() ? text : " (" + text + ")";
}

}  // namespace

void print(std::string_view text) {
  std::fwrite(text.data(), 1, text.size(), stdout);
}

void say(std::string_view line) {
  show_progress("");
  const std::string whole = std::string(line) + "\n";
  std::fwrite(whole.data(), 1, whole.size(), stderr);
}

void show_progress(std::string_view line) {
  static const bool terminal = isatty(STDERR_FILENO) == 1;
  static bool shown = false;
  if (!terminal || (line.empty() && !shown)) return;
  const std::string whole = fmt::format("\r\x1b[K{}", line);
  std::fwrite(whole.data(), 1, whole.size(), stderr);
  std::fflush(stderr);
  shown = !line.empty();
}

void finish_output() {
  const bool flushed = std::fflush(stdout) == 0;
  const int reason = errno;
  if (flushed && std::ferror(stdout) == 0) return;
  throw Error(Errc::file, fmt::format("cannot write to standard output: {}", std::strerror(reason)),
              "look at what standard output is connected to");
}

std::string error_text(const Error& error) {
  const ErrorParts& parts = error.parts();
  const std::size_t end = parts.message.find('\n');
  std::string message = parts.op.empty() ? "" : parts.op + ": ";
  message += parts.message.substr(0, end) + circumstances(parts);
  if (end != std::string::npos) message += parts.message.substr(end);
  return error_text(message, parts.remedy);
}

std::string error_text(std::string_view message, std::string_view remedy) {
  std::string text = fmt::format("axisloom: {}", message);
  if (!remedy.empty()) text += fmt::format("\nremedy: {}", remedy);
  return text;
}

InterruptsHeld::InterruptsHeld() {
  holders.fetch_add(1);
}

InterruptsHeld::~InterruptsHeld() {
  if (holders.fetch_sub(1) == 1 && pending.load() != 0) die_of(pending.load());
}

void install_signal_handlers() {
  std::signal(SIGINT, on_signal);
  std::signal(SIGTERM, on_signal);
  std::signal(SIGXFSZ, SIG_IGN);  // a file beyond the limit (ulimit -f) then fails with a reason
  std::signal(SIGPIPE, SIG_DFL);  // a parent may have had it ignored; then writing would fail instead of ending us
}

}  // namespace axisloom::cli
