// Variant "direct": small products, sums in vector registers, A and B read where they lie. For CPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>
#include <cmath>
#include <cstdlib>

namespace axisloom::ops {
namespace {

// Real operations of a group: long against its start, and the more the fewer groups there are to share them. Of a
// single product shares are smaller, as what waits awake takes one within 1 us: 80 x 80 floats took two cores of a
// Xeon 6.6 us with 1e6, and take 4.8; 64 x 64 doubles 6.8 and 5.7.
constexpr double group_operations = 1e6, share_operations = 2.5e5;
constexpr i64 groups_per_unit = 4;  // at most, of a single product
// So many sums of parts of k are soon added up; of more, k is cut where A and B leave a near cache. Estimates.
constexpr i64 few_outputs = 1024, most_outputs = 1 << 16, near_bytes = 1 << 20;

/// A product cut into tasks, and these into what groups take.
struct Form {
  const ProductProblem& problem;
  CpuTile tile;
  i64 vectors_of_row;  // of C, the last one whole or not
  i64 row_blocks;      // of tile.rows
  i64 chunk;           // of these, that a task takes
  Parts parts;         // of k
  i64 per_group;       // tasks; 1 where k is cut

  Form(const ProductProblem& problem, const DeviceModel& device)
      : problem(problem),
        tile(cpu_tile(problem.in, device)),
        vectors_of_row(ceil_div(problem.n.extent, tile.lanes)),
        row_blocks(ceil_div(problem.m.extent, tile.rows)) {
    const double groups =
        std::clamp(std::round(operations() / share_operations), 1.0, groups_per_unit * device.units());
    const i64 read = (problem.m.extent + problem.n.extent) * problem.k.extent * scalar_bytes();
    const bool cut_k = problem.on_host && problem.batch.empty() &&
                       problem.outputs() <= (read > near_bytes ? most_outputs : few_outputs);
    chunk = problem.batch.empty() && !cut_k ? ceil_div(row_blocks, i64(groups)) : row_blocks;
    parts = split(problem.k.extent, std::max(fewest_parts(), cut_k ? i64(groups) : 1), 1);
    const double task = operations() * chunk / row_blocks;
    per_group = parts.count > 1 || chunk < row_blocks ? 1 : std::max<i64>(1, i64(group_operations / task));
  }

  /// Of k, so that what is copied of B fits.
  i64 fewest_parts() const {
    const i64 bytes = panel_bytes(std::max<i64>(1, problem.k.extent));
    return problem.on_host ? ceil_div(bytes, i64{DIRECT_PANEL_BYTES}) : 1;
  }

  /// Of a point of the batch, those beyond the edges included.
  double operations() const {
    return 2.0 * std::max<i64>(1, problem.k.extent) * row_blocks * tile.rows * vectors_of_row * tile.lanes;
  }
  bool in_place() const { return problem.n.other == 1; }
  i64 chunks() const { return ceil_div(row_blocks, chunk); }
  i64 tasks() const { return problem.batch_count() * chunks(); }
  i64 groups() const { return ceil_div(tasks(), per_group); }  // of a part of k
  i64 scalar_bytes() const { return arithmetic_of(problem.in).scalar_bytes; }
  /// Columns that are copied into local memory before each task: all, or those of a last vector that is not whole.
  i64 copied_columns() const {
    if (!in_place()) return vectors_of_row * tile.lanes;
    return has_masks() || problem.n.extent % tile.lanes == 0 ? 0 : tile.lanes;
  }
  /// The kernel's FIRST_LANES: the host's AVX2 and AVX-512, whose vectors are so long.
  bool has_masks() const { return problem.on_host && tile.lanes * scalar_bytes() >= 32; }
  /// Bytes of a panel of these.
  i64 panel_bytes(i64 k) const { return std::min(copied_columns(), tile.vectors * tile.lanes) * k * scalar_bytes(); }

  Group group() const { return {1, problem.on_host && copied_columns() == 0 ? 0 : DIRECT_PANEL_BYTES}; }

  /// Whether vectors have 32 bytes or less: what lacks AVX-512 has smaller second-level caches too.
  bool is_narrow() const { return tile.lanes * scalar_bytes() < 64; }

  /// Whether the rows of a panel of B, which are read again for each tile, stay in a second-level cache: rows a power
  /// of two apart share few of its sets.
  bool stays_near() const {
    const i64 cache = is_narrow() ? 512 << 10 : 1 << 20;  // bytes: of an EPYC 7003; an estimate
    if (!in_place() || parts.count > 1) return true;      // of parts of k, slabs do
    const u64 step = u64(std::abs(problem.k.other * scalar_bytes()));
    const i64 apart = i64(step & (~step + 1)), row = tile.vectors * tile.lanes * scalar_bytes();
    return problem.k.extent * std::max(row, apart) <= cache;
  }

  /// Whether B, of which a task reads panel after panel, lies in a second-level cache.
  bool is_small() const {
    const i64 cache = is_narrow() ? 512 << 10 : 2 << 20;  // bytes, of an EPYC 7003 and of a Xeon
    return !in_place() || parts.count > 1 || parts.k_per_group * problem.n.extent * scalar_bytes() <= cache;
  }

  double seconds(const DeviceModel& device) const {
    // Of a core of an EPYC 9005: an element that is copied, and the share of the peak. Of f32 "packed" took 1.14 times
    // as long for 512 x 512 x 512, 1.09 for 768, 1.06 for 2000, 0.88 for 1024, 0.85 for 1536. On a Xeon with AVX-512,
    // whose last-level cache is farther away, 1.17 for 512, 0.91 for 768, 0.85 for 1000 and 0.84 for 1023. On an EPYC
    // 7003 with AVX2 1.04 for 320, 0.95 for 384, 0.75 for 512, 0.95 for 640 and 0.91 for 768.
    constexpr double copy_seconds = 0.1e-9, near = 0.95, beyond = 0.8, far = 0.7, sum_seconds = 2e-9;
    const double efficiency = !stays_near() ? far : is_small() ? near : beyond;
    const i64 tiles = chunk * ceil_div(vectors_of_row, tile.vectors);
    const double products = copied_columns() * problem.k.extent * copy_seconds +
                            operations() * chunk / row_blocks / (efficiency * unit_peak(problem, device));
    const double task = tiles * cpu_tile_seconds + products / parts.count;
    const i64 rounds = ceil_div(groups() * parts.count, i64(device.units()));
    const bool split = parts.count > 1;
    const double sums = split ? problem.outputs() * sum_seconds : 0;
    return product_time(rounds * std::min(per_group, tasks()) * task + sums, bytes_read(), split ? 2 : 1, device);
  }

  /// Where B's rows lie on pages of their own, runs of a few lines of them are not fetched ahead: 1 x 3000 by 3000 x
  /// 3000 f64 took 3 times as long as "gemv_cpu".
  double bytes_read() const {
    constexpr i64 page = 4096;
    const bool apart = in_place() && std::abs(problem.k.other * scalar_bytes()) >= page;
    const double b = double(problem.k.extent) * problem.n.extent * scalar_bytes() * problem.batch_count();
    return bytes_touched(problem) + (apart ? b : 0);
  }

  Launches launches(const DeviceModel& device) const {
    ProductLaunch main("matmul/direct", problem, group());
    const bool split = parts.count > 1;
    main.defines()
        .set("ROWS", tile.rows)
        .set("VECTORS", tile.vectors)
        .set("LANES", tile.lanes)
        .set("B_ALONG_N", in_place())
        .set("WHOLE_ROWS", split || has_whole_rows(problem));
    main.params.chunk = chunk;
    main.params.chunks = chunks();
    main.params.per_group = per_group;
    if (split) {  // C is the partial sums, which combine finishes
      main.params.c_m = problem.n.extent;
      main.params.c_n = 1;
      main.launch.buffers.push_back(workspace_of(scalar_bytes()));
    }
    return in_parts(std::move(main), parts, groups(), device);
  }
};

std::string unfit(const ProductProblem& problem, const Form& form) {
  const bool same = i64(size_of(problem.in)) == form.scalar_bytes() && !arithmetic_of(problem.in).is_complex;
  if (!same || problem.in != problem.out) return "elements are not what sums are of";
  if (form.panel_bytes(form.parts.k_per_group) > DIRECT_PANEL_BYTES)
    return "B's columns have to be copied, and k is too long for that";
  return {};
}

Proposal propose(const ProductProblem& problem, const Configuration&, const DeviceModel& device) {
  const Form form(problem, device);
  if (std::string why = unfit(problem, form); !why.empty()) return refuse(std::move(why));
  return {.by_name_only = device.api == Api::host ? "" : "measured on the host alone",
          .group = largest_group(form.group(), form.parts, device),
          .seconds = form.seconds(device),
          .launches = [form, &device] { return form.launches(device); }};
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
