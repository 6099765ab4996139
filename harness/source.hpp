// Which cases a run has: those of files and lines, expanded, then random ones, or one part of all these.
#pragma once

#include "harness/case.hpp"

namespace axisloom::harness {

/// The number-th of `of` parts, from 1; all cases are part 1 of 1.
struct Part {
  i64 number = 1, of = 1;
};
/// "2/4"; "" is everything. Throws Error(usage).
Part parse_part(std::string_view text);

struct CaseWishes {
  Texts files;
  Texts lines;
  i64 random = 0;
  Part part;
};

/// Random cases are drawn when they are asked for, so that there may be any number of them.
class CaseSource {
 public:
  /// Throws Error(file) and Error(usage) for cases that cannot be read.
  CaseSource(const CaseWishes& wishes, u64 seed);

  i64 count() const noexcept;
  Case at(i64 i) const;

 private:
  void add_line(const std::string& line);
  /// How many of so many cases belong to the part.
  i64 share(i64 all) const noexcept;

  Part part_;
  u64 seed_;
  i64 random_;
  std::vector<Case> cases_;  // of all parts, without random ones
};

}  // namespace axisloom::harness
