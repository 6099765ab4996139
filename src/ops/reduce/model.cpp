// Costs of reductions. Bytes are read at the rate at which a copy moves them: the stores have no rate of reading.
#include "ops/reduce/model.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "model/cost.hpp"

#include <algorithm>
#include <cstdlib>

namespace axisloom::ops {

namespace {

/// Elements that lie side by side along a run and the axes that go on where it ends.
i64 side_by_side(const ReduceProblem& problem, const Loop& run) {
  i64 length = run.extent;
  if (run.in == 0) return length;
  const auto goes_on = [&](const Loop& axis) { return axis.extent > 1 && axis.in == run.in * length; };
  for (bool longer = true; longer;) {
    longer = false;
    for (const Loops* axes : {&problem.kept, &problem.reduced})
      if (const auto next = std::ranges::find_if(*axes, goes_on); next != axes->end()) {
        length *= next->extent;
        longer = true;
      }
  }
  return length;
}

}  // namespace

double read_seconds(const ReduceProblem& problem, const Loop& run, const DeviceModel& device) {
  const double elements = problem.elements();
  const i64 step = run.in / problem.parts_of_element(), element = problem.element_bytes();
  const double bytes = sector_bytes(elements, side_by_side(problem, run), step, element, device);
  const double once = elements * element;
  // Neighbours in a sector belong to outputs that other groups, or cores, reduce at the same time: maxima of 1825622 x
  // 7 halves by rows took an H200 28 us, of 4052620 x 12 bytes 39; by plain two cores of an EPYC 9005 12 and 9 ms.
  double moved = bytes;
  if (step > 1 && keeps_fastest(problem) && step * element < device.sector)
    moved = device.is_cpu() ? std::max(once, bytes / device.units()) : model::cached_again(bytes, once);
  return device.launch + model::memory_seconds(moved, once, device);
}

// Two cores of an EPYC 9005, by rows_cpu: of 4052620 x 12 bytes an element took 0.4 ns, of 1825622 x 7 halves 1.1, of
// 138945 x 4 doubles 0.9. By columns_cpu, whose vectors these do not fill, rows of them took 5.6, 11.5 and 8.8 ns.
double single_seconds(const ReduceProblem& problem, const DeviceModel& device) {
  constexpr double load_seconds = 0.4e-9, convert_seconds = 0.5e-9;
  const bool converts = core::is_small_float(problem.recipe.in);
  return model::vector_times(device) * (load_seconds + (converts ? convert_seconds : 0));
}

double single_vector_seconds(const ReduceProblem& problem, const DeviceModel& device) {
  constexpr double begin_seconds = 2e-9, float_seconds = 5e-9;  // their corrections, or not-a-numbers
  const bool floats = problem.recipe.value_floats();
  return model::vector_times(device) * (begin_seconds + (floats ? float_seconds : 0));
}

// One core of an EPYC 9005 with 32 MiB of cache took sums of the columns of 1024 x 1024 floats in 80 us while it asked
// for them, in 57 while it did not; of 1448 x 1448 in 174 and 140, of 2048 x 2048 in 380 and 450, of 3000 x 3000 in 990
// and 1650. Through PoCL what is asked for is compiled in, and always is.
i64 ahead_bytes(const ReduceProblem& problem, i64 bytes, const DeviceModel& device) {
  constexpr double part = 1 / 3.0;  // of the cache, which others use too
  const double array = double(problem.elements()) * double(problem.element_bytes());
  return device::is_host(device) && array <= part * device.cache ? 0 : bytes;
}

double own_line_seconds(const ReduceProblem& problem, i64 stride, const DeviceModel& device) {
  // Two cores of an EPYC 9005: 1746240 x 9 integers and 229806 x 26 doubles, by columns, beyond its cache.
  constexpr double cached_seconds = 1e-9, far_seconds = 4e-9;
  if (2 * std::abs(stride) * problem.scalar_bytes() < device.sector) return 0;
  return problem.elements() * problem.element_bytes() > device.cache ? far_seconds : cached_seconds;
}

double shared_seconds(double seconds, i64 tasks, const DeviceModel& device) {
  return seconds * std::max(1.0, device.units() / tasks);
}

double gpu_kernel_seconds(const ReduceProblem& problem, double read, bool in_parts, double items,
                          const DeviceModel& device) {
  constexpr double part_seconds = 1.5e-6;     // a tree, a ticket and what the last group does, against a bare launch
  constexpr double cpu_item_seconds = 45e-9;  // its packet and its steps of a tree; 1048576 x 64 floats on two cores
  // Of an element that no vector takes; on two cores of an EPYC 9005 sums of 2^28 floats took 0.8 ns, of their columns
  // 1.9, maxima of 1825622 x 7 halves 2.0, of 4052620 x 12 bytes 0.5 and 1.1.
  constexpr double cpu_element_seconds = 1.5e-9;
  if (!device.is_cpu()) return read + (in_parts ? part_seconds : 0);
  const double loops =
      problem.elements() * cpu_element_seconds * model::vector_times(device) + items * cpu_item_seconds;
  return std::max(read, device.on_cores(loops)) + part_seconds;
}

}  // namespace axisloom::ops
