// Variant "few_columns": a few columns that lie side by side, read across the ends of rows. For GPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>
#include <numeric>

namespace axisloom::ops {
namespace {

constexpr i64 packet_bytes = 16, flag_bytes = 16;
constexpr i64 most_additions = 4096;   // of one running sum
constexpr i64 least_bytes = 32 << 10;  // of a part: several rounds of loads of every item

/// How a reduction is cut: scalars of a packet, items that load, parts, rows of a part. By shape alone.
struct Cut {
  i64 scalars, active, parts, per_part;
};

Cut cut(const ReduceProblem& problem, const Configuration& values) {
  const i64 columns = problem.kept.back().extent, rows = problem.count(), items = values.at("items");
  Cut c{};
  c.scalars = std::max<i64>(problem.parts_of_element(), packet_bytes / problem.scalar_bytes());
  const i64 elements = c.scalars / problem.parts_of_element(), period = columns / std::gcd(columns, elements);
  c.active = items / period * period;
  const i64 outer = problem.outputs() / columns, row_bytes = columns * problem.element_bytes();
  const i64 wanted = std::min(parts_of_task(values.at("parts"), outer), ceil_div(rows * row_bytes, least_bytes));
  const i64 most_rows = most_additions * c.active * elements / columns;
  // Parts begin with whole packets.
  c.per_part = ceil_div(std::min(ceil_div(rows, wanted), most_rows - elements), elements) * elements;
  c.parts = ceil_div(rows, c.per_part);
  return c;
}

/// Whether rows of the last kept axis lie one behind the other.
bool has_no_gaps(const ReduceProblem& problem) {
  return problem.reduced.size() == 1 &&
         problem.reduced[0].in == problem.kept.back().extent * problem.parts_of_element();
}

/// Alignment of all parts' starts: they begin with whole packets of the outer outputs' rows.
i64 alignment_of(const ReduceProblem& problem) {
  Reduction outer = problem;
  outer.reduced = {{}};
  return proven_alignment(outer, outer.kept.size() - 1);
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  constexpr i64 most_columns = 64;
  if (std::string why = unfit_for_columns(problem); !why.empty()) return refuse(std::move(why));
  if (problem.recipe.accumulation == Accumulation::place) return refuse("places are looked for by rows");
  if (!has_no_gaps(problem)) return refuse("the rows do not lie one behind the other");
  const i64 columns = problem.kept.back().extent, items = wish.at("items");
  if (columns > most_columns) return refuse(concat("more than ", most_columns, " columns"));
  const Cut c = cut(problem, wish);
  const i64 outer = problem.outputs() / columns;
  Configuration values = wish;
  const Split split = split_of(c.parts, outer, values, device);
  const i64 sums = items * (c.scalars / problem.parts_of_element());
  const Group group = {items, sums * problem.recipe.u64s() * i64(sizeof(u64)) + flag_bytes};
  const Loop all = {.extent = problem.count() * columns, .in = problem.parts_of_element()};
  const auto launches = [=, &problem] {
    ReduceLaunch main("few_columns", problem, group, true);
    main.launch.kernel.resident = resident_items / items;
    main.params.parts = c.parts;
    main.params.part_rows = c.per_part;
    const bool wide = c.scalars > 1 && alignment_of(problem) >= c.scalars * problem.scalar_bytes();
    main.defines().set("IN_FLIGHT", values.at("in_flight")).set("SCALARS", c.scalars).set("WIDE", wide);
    return main.with_parts(outer * c.parts, split, outer);
  };
  // For each column and part, to bring the parts together; on an H200 maxima of 229806 x 26 doubles took 24 us, by
  // columns 20, sums of 340164 x 35 integers 28 and 22, of 1746240 x 9 26 and 28.
  constexpr double part_seconds = 0.28e-9;
  const double read = read_seconds(problem, all, device) + (device.is_cpu() ? 0 : part_seconds * columns * c.parts);
  return {.group = group,
          .seconds = gpu_kernel_seconds(problem, read, c.parts > 1, double(outer) * c.parts * items, device),
          .configuration = values,
          .launches = launches};
}

}  // namespace

ReduceCandidate few_columns_reduction() {
  return {{.name = "few_columns",
           .summary = "a few columns side by side, in 16-byte packets across the ends of rows",
           .tunables = {{"items", 256, {128, 256, 512}, "work-items", "group size"},
                        {"in_flight", 8, doublings(1, 8), "packets", "that an item loads before it adds"},
                        {"parts", 528, doublings(528, 4224), "groups",
                         "that are wanted: what the 132 cores of an H200 hold at once, as for columns"},
                        launches_tunable()},
           .chosen_on = gpus},
          propose};
}

}  // namespace axisloom::ops
