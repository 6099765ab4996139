// Costs of reductions. Bytes are read at the rate at which a copy moves them: the stores have no rate of reading.
#include "ops/reduce/model.hpp"

#include "core/number.hpp"
#include "ops/rearrange/cost.hpp"

#include <algorithm>

namespace axisloom::ops {

std::int64_t ReduceProblem::scalar_bytes() const {
  return static_cast<std::int64_t>(size_of(core::component_of(reduction.recipe.in)));
}

std::int64_t ReduceProblem::element_bytes() const {
  return static_cast<std::int64_t>(size_of(reduction.recipe.in));
}

int ReduceProblem::parts_of_element() const {
  return core::components_of(reduction.recipe.in);
}

double read_seconds(const ReduceProblem& problem, std::int64_t run, std::int64_t stride, const DeviceInfo& device) {
  const auto elements =
      static_cast<double>(problem.reduction.outputs()) * static_cast<double>(problem.reduction.count());
  const std::int64_t segment = device.kind == Kind::cpu ? cpu_segment : gpu_segment;
  const double bytes = segment_bytes(elements, static_cast<double>(run), stride / problem.parts_of_element(),
                                     problem.element_bytes(), segment);
  return transfer_seconds(bytes, device);
}

double shared_seconds(double seconds, std::int64_t tasks, const DeviceInfo& device) {
  const auto cores = static_cast<double>(std::max(1u, device.compute_units));
  return seconds * std::max(1.0, cores / static_cast<double>(std::max<std::int64_t>(1, tasks)));
}

double items_seconds(double items, const DeviceInfo& device) {
  constexpr double item_seconds = 45e-9;  // its packet and its steps of a tree; 1048576 x 64 floats on two cores
  return items * item_seconds / std::max(1u, device.compute_units);
}

}  // namespace axisloom::ops
