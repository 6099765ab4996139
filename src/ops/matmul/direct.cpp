// Variant "direct": small products, sums in vector registers, A and B read where they lie. For CPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace axisloom::ops {
namespace {

// Real operations of a group: long against its start, and the more the fewer groups there are to share them.
constexpr double group_operations = 1e6;
constexpr i64 groups_per_unit = 4;  // at most, of a single product

/// A product cut into tasks, and these into what groups take.
struct Form {
  const ProductProblem& problem;
  CpuTile tile;
  i64 vectors_of_row;  // of C, the last one whole or not
  i64 row_blocks;      // of tile.rows
  i64 chunk;           // of these, that a task takes
  i64 per_group;       // tasks

  Form(const ProductProblem& problem, const DeviceModel& device)
      : problem(problem),
        tile(cpu_tile(problem.in, device)),
        vectors_of_row(ceil_div(problem.n.extent, tile.lanes)),
        row_blocks(ceil_div(problem.m.extent, tile.rows)) {
    const double parts = std::clamp(std::round(operations() / group_operations), 1.0, groups_per_unit * device.units());
    chunk = problem.batch.empty() ? ceil_div(row_blocks, i64(parts)) : row_blocks;
    per_group = std::max<i64>(1, i64(group_operations / (operations() * chunk / row_blocks)));
  }

  /// Of a point of the batch, those beyond the edges included.
  double operations() const {
    return 2.0 * std::max<i64>(1, problem.k.extent) * row_blocks * tile.rows * vectors_of_row * tile.lanes;
  }
  bool in_place() const { return problem.n.other == 1; }
  i64 chunks() const { return ceil_div(row_blocks, chunk); }
  i64 tasks() const { return problem.batch_count() * chunks(); }
  i64 groups() const { return ceil_div(tasks(), per_group); }
  i64 scalar_bytes() const { return arithmetic_of(problem.in).scalar_bytes; }
  /// Columns that are copied into local memory before each task: all, or those of a last vector that is not whole.
  i64 copied_columns() const {
    return in_place() ? problem.n.extent % tile.lanes == 0 ? 0 : tile.lanes : vectors_of_row * tile.lanes;
  }
  /// Bytes of a panel of these.
  i64 panel_bytes() const {
    return std::min(copied_columns(), tile.vectors * tile.lanes) * problem.k.extent * scalar_bytes();
  }

  /// Whether the rows of a panel of B, which are read again for each tile, stay in a second-level cache: rows a power
  /// of two apart share few of its sets.
  bool stays_near() const {
    constexpr i64 cache = 1 << 20;  // bytes; an estimate
    if (!in_place()) return true;
    const u64 step = u64(std::abs(problem.k.other * scalar_bytes()));
    const i64 apart = i64(step & (~step + 1)), row = tile.vectors * tile.lanes * scalar_bytes();
    return problem.k.extent * std::max(row, apart) <= cache;
  }

  double seconds(const DeviceModel& device) const {
    // Of a core of an EPYC 9005: an element that is copied, and the share of the peak. Of f32 "packed" took 1.14 times
    // as long for 512 x 512 x 512, 1.09 for 768, 1.06 for 2000, 0.88 for 1024, 0.85 for 1536.
    constexpr double copy_seconds = 0.3e-9, near = 0.95, far = 0.7;
    const double efficiency = stays_near() ? near : far;
    const i64 tiles = chunk * ceil_div(vectors_of_row, tile.vectors);
    const double task = tiles * cpu_tile_seconds + copied_columns() * problem.k.extent * copy_seconds +
                        operations() * chunk / row_blocks / (efficiency * unit_peak(problem, device));
    const i64 rounds = ceil_div(groups(), i64(device.units()));
    return product_time(rounds * std::min(per_group, tasks()) * task, bytes_touched(problem), 1, device);
  }

  Launches launches() const {
    ProductLaunch main("matmul/direct", problem, {1, DIRECT_PANEL_BYTES});
    main.defines()
        .set("ROWS", tile.rows)
        .set("VECTORS", tile.vectors)
        .set("LANES", tile.lanes)
        .set("B_ALONG_N", in_place())
        .set("WHOLE_ROWS", problem.n.out == 1 && (!adds_d(problem) || problem.n.addend == 1));
    main.params.chunk = chunk;
    main.params.chunks = chunks();
    main.params.per_group = per_group;
    return {{main.into_result(groups())}};
  }
};

std::string unfit(const ProductProblem& problem, const Form& form) {
  const bool same = i64(size_of(problem.in)) == form.scalar_bytes() && !arithmetic_of(problem.in).is_complex;
  if (!same || problem.in != problem.out) return "elements are not what sums are of";
  if (form.panel_bytes() > DIRECT_PANEL_BYTES) return "B's columns have to be copied, and k is too long for that";
  return {};
}

Proposal propose(const ProductProblem& problem, const Configuration&, const DeviceModel& device) {
  const Form form(problem, device);
  if (std::string why = unfit(problem, form); !why.empty()) return refuse(std::move(why));
  return {.by_name_only = device.api == Api::host ? "" : "measured on the host alone",
          .group = {1, DIRECT_PANEL_BYTES},
          .seconds = form.seconds(device),
          .launches = [form] { return form.launches(); }};
}

}  // namespace

ProductCandidate direct_product() {
  return {{.name = "direct",
           .summary = "small matrices on a CPU, where they lie",
           .tunables = {},
           .runtimes = {Api::opencl, Api::host},
           .runs_on = cpus},
          propose};
}

}  // namespace axisloom::ops
