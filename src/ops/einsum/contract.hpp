// The plan of a contraction: sums within operands, products two at a time, and the copies that these cannot do without.
#pragma once

#include "ops/einsum/problem.hpp"
#include "planner/plan_impl.hpp"

#include <memory>
#include <vector>

namespace axisloom::ops {

/// A forced candidate or configuration is that of the last product, which writes the result and which the report is
/// about. Throws as plans do.
SharedPlan plan_contraction(const Contraction& problem, std::vector<View> views, const Device& device,
                            const PlanOptions& options);

}  // namespace axisloom::ops
