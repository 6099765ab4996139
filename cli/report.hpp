// A plan's report, for people and for programs.
#pragma once

#include "harness/table.hpp"

#include "jit/jit.hpp"

#include <axisloom/plan.hpp>

#include <string>

namespace axisloom::cli {

/// "tile (tile_in=64 layout=2, default)"
std::string configuration_text(const PlanReport& report);
harness::Table report_table(const PlanReport& report);

/// Tells stderr how a plan came about: what each candidate said, who won, and what had to be compiled since
/// construction.
class Explanation {
 public:
  Explanation() : before_(jit::cache_stats()) {}
  void tell(const PlanReport& report) const;

 private:
  jit::CacheStats before_;
};

}  // namespace axisloom::cli
