// The plain kernel for other variants that move elements one by one, wider ones perhaps.
#pragma once

#include "ops/rearrange/candidate.hpp"

namespace axisloom::ops {

/// Launch of plain.kernel over `move`; `values` as the tunables of "plain".
Launch lower_elements(const core::Move& move, const MoveProblem& problem, const Configuration& values,
                      const DeviceInfo& device);

/// Predicted time of "plain", which takes every move that is not in place.
double element_seconds(const MoveProblem& problem, const DeviceInfo& device);

}  // namespace axisloom::ops
