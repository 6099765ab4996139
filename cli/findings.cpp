// Findings through a pipe.
#include "cli/findings.hpp"

#include "harness/arguments.hpp"

#include <fcntl.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <exception>

namespace axisloom::cli {
namespace {

constexpr const char* announced = "looking";  // the state of what is not yet a finding

[[noreturn]] void look_and_end(int pipe, const std::function<void(FindingSink&)>& look) {
  FindingSink sink(pipe);
  try {
    look(sink);
  } catch (const std::exception& error) {
    sink.add({"axisloom", "failed", error.what()});
  }
  ::_exit(0);
}

std::string all_from(int pipe) {
  std::string text;
  std::array<char, 4096> part{};
  for (;;) {
    const ssize_t got = ::read(pipe, part.data(), part.size());
    if (got < 0 && errno == EINTR) continue;
    if (got <= 0) return text;
    text.append(part.data(), got);
  }
}

/// Every field ends with a zero.
std::vector<Finding> parse_findings(const std::string& text) {
  std::vector<Finding> findings;
  const auto fields = harness::split(text, {"\0", 1});
  for (size_t i = 0; i + 5 < fields.size(); i += 5) {
    if (!findings.empty() && findings.back().state == announced) findings.pop_back();
    const auto field = [&](size_t number) { return std::string(fields[i + number]); };
    findings.push_back({field(0), field(1), field(2), field(3), fields[i + 4] == "device"});
  }
  return findings;
}

std::string how_it_ended(int status) {
  if (WIFSIGNALED(status)) return fmt::format("signal {}, {}", WTERMSIG(status), strsignal(WTERMSIG(status)));
  return concat("exit code ", WEXITSTATUS(status));
}

}  // namespace

void FindingSink::looking_at(const std::string& subject) {
  add({subject, announced});
}

void FindingSink::add(const Finding& finding) {
  std::string text;
  for (const std::string& field :
       {finding.subject, finding.state, finding.detail, finding.remedy, std::string(finding.device ? "device" : "")})
    text += field + '\0';
  for (size_t at = 0; at < text.size();) {
    const ssize_t put = ::write(pipe_, text.data() + at, text.size() - at);
    if (put > 0) at += put;
    if (put < 0 && errno != EINTR) return;
  }
}

std::vector<Finding> found_by_child(const std::function<void(FindingSink&)>& look) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) throw Error(Errc::file, concat("no pipe can be made: ", strerror(errno)));
  std::fflush(nullptr);
  const pid_t child = ::fork();
  if (child < 0) throw Error(Errc::out_of_memory, concat("no process can be made: ", strerror(errno)));
  if (child == 0) look_and_end(ends[1], look);
  ::close(ends[1]);
  std::vector<Finding> findings = parse_findings(all_from(ends[0]));
  ::close(ends[0]);
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) continue;
  if (findings.empty() || findings.back().state != announced) {
    if (status == 0) return findings;
    findings.push_back({"drivers", ""});
  }
  findings.back().state = "failed";
  findings.back().detail = fmt::format("a driver ended the process that tried it ({})", how_it_ended(status));
  return findings;
}

}  // namespace axisloom::cli
