// A plan's report, for people and for programs.
#pragma once

#include "harness/table.hpp"

#include "jit/jit.hpp"

#include <axisloom/plan.hpp>

namespace axisloom::cli {

harness::Table report_table(const PlanReport& report);

/// Tells stderr how a plan came about: what each candidate said, who won, and what had to be compiled since `before`.
void explain(const PlanReport& report, const jit::CacheStats& before);

}  // namespace axisloom::cli
