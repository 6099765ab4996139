// Costs of reductions. Bytes are read at the rate at which a copy moves them: the stores have no rate of reading.
#include "ops/reduce/model.hpp"

#include "core/integers.hpp"
#include "model/cost.hpp"

#include <algorithm>

namespace axisloom::ops {

double read_seconds(const ReduceProblem& problem, i64 run, i64 stride, const DeviceModel& device) {
  const double elements = double(problem.reduction.outputs()) * double(problem.reduction.count());
  const i64 step = stride / problem.parts_of_element();
  return transfer_seconds(sector_bytes(elements, double(run), step, problem.element_bytes(), device), device);
}

double shared_seconds(double seconds, i64 tasks, const DeviceModel& device) {
  return seconds * std::max(1.0, device.units() / double(std::max<i64>(1, tasks)));
}

double gpu_kernel_seconds(double read, bool in_parts, double items, const DeviceModel& device) {
  constexpr double part_seconds = 1.5e-6;     // a tree, a ticket and what the last group does, against a bare launch
  constexpr double cpu_detour = 8;            // of loads that no vector takes (an estimate)
  constexpr double cpu_item_seconds = 45e-9;  // its packet and its steps of a tree; 1048576 x 64 floats on two cores
  if (device.is_cpu()) return cpu_detour * read + part_seconds + device.on_cores(items * cpu_item_seconds);
  return read + (in_parts ? part_seconds : 0);
}

}  // namespace axisloom::ops
