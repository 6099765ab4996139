// The plain kernel for other variants that move elements one by one, wider ones perhaps.
#pragma once

#include "ops/rearrange/candidate.hpp"

namespace axisloom::ops {

/// plain.kernel over a move, in `seconds`; `values` as the tunables of "plain".
Proposal propose_elements(const MoveProblem& problem, Configuration values, double seconds, const DeviceModel& device);

}  // namespace axisloom::ops
