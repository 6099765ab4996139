// What doctor finds, and how it lives through drivers that do not: who looks is a process of its own.
#pragma once

#include <functional>
#include <string>
#include <vector>

namespace axisloom::cli {

/// One thing that was looked at. `state`: ok, missing, failed, or note.
struct Finding {
  std::string subject, state;
  std::string detail = {}, remedy = {};
  bool device = false;  // a device was tried
};

/// Hands findings on as they come.
class FindingSink {
 public:
  explicit FindingSink(int pipe) : pipe_(pipe) {}
  /// What is looked at next, to which an end before its finding is put down.
  void looking_at(const std::string& subject);
  void add(const Finding& finding);

 private:
  int pipe_;
};

/// Runs `look` in a child process, before any driver was opened here, and returns what it found. Where a driver ends
/// that process the last finding says so, failed, without a remedy.
std::vector<Finding> found_by_child(const std::function<void(FindingSink&)>& look);

}  // namespace axisloom::cli
