// Plans that were made before, by operation, views, options and device.
#pragma once

#include <axisloom/plan.hpp>

namespace axisloom::ops {

/// A plan that nobody made before.
Plan new_plan(const Operation& op, std::span<const View> views, const Device& device, const PlanOptions& options);

/// The plan for these arguments, made now unless it is among the last few hundred. Safe for many threads. Where a
/// thread alternates between few plans, finding one takes no lock and allocates nothing.
Plan cached_plan(const Operation& op, std::span<const View> views, const Device& device, const PlanOptions& options);

}  // namespace axisloom::ops
