// Variant "columns": the fastest axis is kept; items stand side by side over the columns. For GPUs.
#include "core/integers.hpp"
#include "model/cost.hpp"
#include "ops/reduce/model.hpp"
#include "ops/reduce/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr i64 packet_bytes = 16;
constexpr i64 most_rows = 4096;  // of one running sum
// Of an item: with 8 instead, columns of 16384 x 256 floats took an H200 1.3 times as long, with 32 those of 1024 x
// 1024 1.2 times.
constexpr i64 least_rows = 16;

/// How a reduction is cut: packets of a block, blocks of a row, blocks of all rows that become outputs, parts of the
/// rows, rows of a part. By shape alone.
struct Cut {
  i64 scalars, columns, blocks, strips, parts, per_part;
  bool slanted;
  i64 groups() const { return strips * parts; }
};

/// Whether every packet of every row, which begin at multiples of `alignment` bytes, is aligned and whole.
bool packets_are_wide(const ReduceProblem& problem, i64 scalars, i64 alignment) {
  return problem.kept.back().extent * problem.parts_of_element() % scalars == 0 &&
         alignment >= scalars * problem.scalar_bytes();
}

/// Whether slices may take rows that begin anywhere in aligned packets: each has rows of one alignment.
bool can_slant(const ReduceProblem& problem) {
  return problem.reduced.size() == 1 && problem.parts_of_element() == 1 && begins_lowest(problem);
}

Cut cut(const ReduceProblem& problem, const Configuration& values) {
  const i64 row = problem.kept.back().extent, rows = problem.count();
  Cut c{};
  c.scalars = std::min<i64>(4, packet_bytes / problem.scalar_bytes());
  const bool wide = packets_are_wide(problem, c.scalars, alignment_of_strides(problem, problem.kept.size() - 1));
  const i64 packets = ceil_div(row * problem.parts_of_element(), c.scalars);
  const i64 items = values.at("items");
  c.columns = packets > 16 ? values.at("columns") : packets > 4 && wide ? 8 : 4;
  // Of few rows a group is one slice, so that each item has as many rows as there are to load at once.
  if (packets >= items && rows * c.columns < items * values.at("in_flight")) c.columns = items;
  c.slanted = !wide && can_slant(problem) && items / c.columns % c.scalars == 0;
  c.blocks = c.slanted ? ceil_div(row, (c.columns - 1) * c.scalars) : ceil_div(packets, c.columns);
  c.strips = problem.outputs() / row * c.blocks;
  const i64 slices = items / c.columns;
  const i64 parts = parts_of_task(values.at("parts"), c.strips);
  c.per_part = std::clamp(ceil_div(rows, parts), slices * least_rows, slices * most_rows);
  c.parts = ceil_div(rows, c.per_part);
  return c;
}

bool is_wide(const ReduceProblem& problem, const Cut& c) {
  const i64 alignment = proven_alignment(problem, problem.kept.size() - 1);
  return c.slanted || packets_are_wide(problem, c.scalars, alignment);
}

/// What a GPU takes longer than for reading in whole packets: to bring parts together, and for single elements.
double narrow_seconds(const ReduceProblem& problem, const Cut& c, const DeviceModel& device) {
  // Sums of 138945 x 4 doubles on an H200, whose 4.4 MB are read in 1 us, took 1 us longer than by rows; see
  // few_columns.
  constexpr double parts_seconds = 3e-6;
  if (device.is_cpu()) return 0;
  const double bytes = problem.elements() * problem.element_bytes();
  const double share = is_wide(problem, c) ? 1 : access_efficiency(problem.scalar_bytes(), device);
  return (c.parts > 1 ? parts_seconds : 0) + memory_seconds(bytes, device) * (1 / share - 1);
}

Proposal propose(const ReduceProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = unfit_for_columns(problem); !why.empty()) return refuse(std::move(why));
  const i64 items = wish.at("items");
  const Cut c = cut(problem, wish);
  Configuration values = wish;
  values["columns"] = c.columns;
  const i64 slots = items * (c.scalars / problem.parts_of_element() + 1);
  const Group group = {items, tree_group(problem.recipe, slots).local_bytes};
  const Split split = split_of(c.parts, c.strips, values, device);
  const double read = read_seconds(problem, problem.kept.back(), device) + narrow_seconds(problem, c, device);
  const auto launches = [=, &problem] {
    ReduceLaunch main("columns", problem, group, true);
    main.launch.kernel.resident = resident_items / items;
    main.params.column_blocks = c.blocks;
    main.params.parts = c.parts;
    main.params.part_rows = c.per_part;
    main.defines()
        .set("COLUMNS", c.columns)
        .set("IN_FLIGHT", values.at("in_flight"))
        .set("SCALARS", c.scalars)
        .set("SLANTED", c.slanted)
        .set("WIDE", is_wide(problem, c));
    return main.with_parts(c.groups(), split, c.strips);
  };
  return {.group = group,
          .seconds = gpu_kernel_seconds(problem, read, c.parts > 1, c.groups() * items, device),
          .configuration = values,
          .launches = launches};
}

}  // namespace

ReduceCandidate columns_reduction() {
  return {{.name = "columns",
           .summary = "items side by side over the columns, where the fastest axis is kept",
           .tunables =
               {{"items", 256, {128, 256, 512}, "work-items", "group size"},
                {"columns", 32, doublings(4, 64), "packets",
                 "of a row that a group takes; where a row has up to 16, 8 (4113 GB/s on an H200, with 32 2681), or 4"},
                {"in_flight", 8, doublings(1, 8), "rows",
                 "loads that an item issues before it adds; columns of 16384 x 16384 floats on an H200: 4201 GB/s with "
                 "8, 3728 "
                 "with 4"},
                {"parts", 528, doublings(528, 4224), "groups",
                 "that are wanted: what the 132 cores of an H200 hold at once. Columns of 16384 x 16384 floats there: "
                 "4201 GB/s, "
                 "with 1056, 2112 and 4224 groups 4058, 3934, 3892"},
                launches_tunable()}},
          propose};
}

}  // namespace axisloom::ops
