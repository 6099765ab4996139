// What it costs on the host to plan: no array is made, and nothing runs.
#pragma once

#include "bench/statistics.hpp"
#include "bench/suite.hpp"

namespace axisloom::bench {

/// Seconds of a call.
struct PlanningTimes {
  Summary known;  // a problem that was planned before, as the calls on arrays ask for it
  Summary fresh;  // a problem that was not, whose kernels are compiled and in memory
};
/// Plans one case again and again. Throws Error where it cannot be planned.
PlanningTimes time_planning(const Job& job, const Device& device);

}  // namespace axisloom::bench
