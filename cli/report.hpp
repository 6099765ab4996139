// A plan's report, for people and for programs.
#pragma once

#include "harness/table.hpp"

#include "jit/jit.hpp"

#include <axisloom/plan.hpp>

#include <functional>

namespace axisloom::cli {

harness::Table report_table(const PlanReport& report);

/// Tells stderr how a plan came about: what each candidate said, who won, and what had to be compiled since `before`.
void explain(const PlanReport& report, const jit::CacheStats& before);

double seconds_of(const std::function<void()>& run);
/// Tells stderr how long the first run took, how long another takes, and how fast that is.
void tell_times(const PlanReport& report, double first, const std::function<void()>& run);

}  // namespace axisloom::cli
