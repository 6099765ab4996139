// Which cases a run has: those of files and lines, expanded, then random ones, or one part of all these.
#pragma once

#include "harness/case.hpp"

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

namespace axisloom::harness {

/// The number-th of `of` parts, from 1; all cases are part 1 of 1.
struct Part {
  std::int64_t number = 1, of = 1;
};
/// "2/4"; "" is everything. Throws Error(usage).
Part parse_part(std::string_view text);

struct CaseWishes {
  std::vector<std::string> files;
  std::vector<std::string> lines;
  std::int64_t random = 0;
  Part part;
};

/// Random cases are drawn when they are asked for, so that there may be any number of them.
class CaseSource {
 public:
  /// Throws Error(file) and Error(usage) for cases that cannot be read.
  CaseSource(const CaseWishes& wishes, std::uint64_t seed);

  std::int64_t count() const noexcept;
  Case at(std::int64_t i) const;

 private:
  void add_line(const std::string& line);

  Part part_;
  std::uint64_t seed_;
  std::int64_t random_;
  std::vector<Case> cases_;  // of all parts, without random ones
};

}  // namespace axisloom::harness
