// Variant "packed": panels of A and B packed once, sums in vector registers. For CPUs.
#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

constexpr i64 alignment = 64;             // of panels: a whole vector's
constexpr i64 no_dots = 1, all_dots = 2;  // values of "dots"
constexpr double efficiency = 0.9;        // of the peak, which profiles take from the fastest products: of smaller ones
// At least, so that no core waits for long at the end (an estimate).
constexpr i64 groups_per_unit = 4;
constexpr CpuTile dot_tile = {8, 3, 16};  // also where dots take several steps
// The k's that a group takes at a time, in vectors of 64 bytes and of 32, with which a panel of B is narrower.
//   Two cores of a Xeon (64 bytes), f32, ms by bands of 1, 2 and 4 panels:
//     2048 x 2048: 512 k's 61.7, 58.0, 60.9; 384 61.4, 59.1, -; 1024 -, 57.9, -
//     1024 x 1024: 512 k's 8.2, 7.9, 7.8; 384 8.3, 8.3, -; 1024 -, 8.3, -
//   Two of an EPYC 7003 (32 bytes), f32, speed by that of OpenBLAS in the same run:
//     768 x 1024 by 1024 x 768: 512 k's 0.96, 1024 0.98
//     768 x 1536 by 1536 x 768: 512 k's 0.93, 1024 0.97, all at once 0.92
//     512 x 4096 by 4096 x 512: 512 k's 0.89, 1024 0.93
constexpr i64 slice_of_long_vectors = 512, slice_of_short_vectors = 1024;

i64 slice_of(const Configuration& wish, i64 vector_bytes) {
  return value_or(wish, "slice", vector_bytes == 32 ? slice_of_short_vectors : slice_of_long_vectors);
}

/// The panels of A, or of B.
struct Panels {
  i64 width;                 // rows of A, columns of B
  i64 count;                 // for one point of the batch
  i64 scalars;               // of the whole batch
  i64 band_k, group_panels;  // what a group packs: k's, panels
  i64 groups(i64 k) const { return ceil_div(k, band_k) * ceil_div(count, group_panels); }
};

/// k's that lie together in a word of packed panels, whose products are added up in one step: of bytes 4, of bf16 2.
/// Where the processor has an instruction for that, or when forced.
i64 dot_of(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const bool bytes = problem.in == Dtype::i8 || problem.in == Dtype::u8;
  const bool there = bytes ? device.byte_dots : device.bf16_dots;
  if (!(bytes || problem.in == Dtype::bf16) || wish.at("dots") == no_dots) return 1;
  if (!problem.on_host || (!there && wish.at("dots") != all_dots)) return 1;
  return bytes ? 4 : 2;
}

/// Along the operand's rows a group packs short bands of long runs, else panel by panel. k in numbers of the panels.
Panels panels_of(const ProductProblem& problem, const Loop& side, Operand operand, i64 width, i64 k) {
  constexpr i64 band = 16, run_bytes = 6 << 10, long_band = 4096;  // k's, bytes, k's; estimates
  const Arithmetic arithmetic = arithmetic_of(problem.in);
  const i64 count = ceil_div(side.extent, width);
  const i64 scalars = problem.batch_count() * count * width * arithmetic.parts() * k;
  if (side.*operand != 1) return {width, count, scalars, long_band, 1};
  return {width, count, scalars, band, std::max<i64>(1, run_bytes / (width * arithmetic.accumulator_bytes()))};
}

// Of a core. On two of an EPYC 9005 8762 matrices of 6 x 41 by 41 x 5 floats took 5.4 ms, 6015 of 9 x 6 by 6 x 11 0.7.
// (On an EPYC 7003 the 6015 took 3.5.)
constexpr double matrix_seconds = 30e-9;  // finding a matrix, in both kernels
constexpr double byte_seconds = 0.14e-9;  // of a panel that is put together element by element, zeros among them

/// Scalars for each k of a side's panels that are not copied as whole vectors: those along k, of integers that are
/// widened, and of a last panel that is not full.
i64 put_one_by_one(const Panels& panels, i64 extent, bool copied) {
  return (panels.count - (copied ? extent / panels.width : 0)) * panels.width;
}

/// A product cut into panels, and these into what groups take.
struct Form {
  const ProductProblem& problem;
  Arithmetic arithmetic = arithmetic_of(problem.in);
  bool copies = arithmetic.scalar[0] == 'f' && !arithmetic.is_complex;  // into panels in whole vectors
  i64 scalar = arithmetic.scalar_bytes;
  i64 dot, k;  // k's of a word, and words along k
  CpuTile tile;
  Panels a, b;
  i64 slice;  // of k, that a group takes at a time
  i64 chunk;  // panels of A that a group takes
  i64 band;   // and of B

  Form(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device)
      : problem(problem),
        dot(dot_of(problem, wish, device)),
        k(ceil_div(problem.k.extent, dot)),
        tile(dot > 1 ? dot_tile : cpu_tile(problem.in, device)),
        a(panels_of(problem, problem.m, &Loop::in, tile.rows, k)),
        b(panels_of(problem, problem.n, &Loop::other,
                    tile.lanes * (tile.vectors = value_or(wish, "vectors", tile.vectors)), k)),
        slice(ceil_div(k, std::max<i64>(1, ceil_div(k, slice_of(wish, tile.lanes * scalar))))),
        band(std::min(wish.at("band"), b.count)) {
    a.scalars = ceil_div(a.scalars, alignment) * alignment;  // so that B's begin with a whole vector
    const i64 panel_bytes = tile.rows * arithmetic.accumulator_bytes() * slice;
    const i64 wished = (wish.at("block") << 10) / std::max<i64>(1, panel_bytes);
    chunk = std::clamp<i64>(wished, 1, in_slices() ? std::min(a.count, i64{MOST_TILES} / band) : a.count);
    while (chunk > 1 && groups() < groups_per_unit * i64(device.units())) chunk = ceil_div(chunk, 2);
    chunk = ceil_div(a.count, chunks());
  }

  bool in_slices() const { return k > slice; }
  i64 chunks() const { return ceil_div(a.count, chunk); }
  i64 groups() const { return problem.batch_count() * ceil_div(b.count, band) * chunks(); }
  i64 bytes() const { return (a.scalars + b.scalars) * scalar; }

  double packing_seconds(const DeviceModel& device) const {
    const i64 m = problem.m.extent, n = problem.n.extent;
    const i64 put =
        k * (put_one_by_one(a, m, copies && problem.m.in == 1) + put_one_by_one(b, n, copies && problem.n.other == 1));
    const double each = matrix_seconds + put * arithmetic.parts() * scalar * byte_seconds;
    return device.on_cores(problem.batch_count() * each * model::vector_times(device));
  }

  double seconds(const DeviceModel& device) const {
    const double whole = a.count * a.width * b.count * b.width / (double(problem.m.extent) * problem.n.extent);
    // Steps of dots take the time of as many of f32.
    const double rate = dot > 1 ? dot * device.f32_rate : unit_peak(problem, device);
    const double compute = arithmetic_operations(problem) * whole / (efficiency * rate * device.units());
    const double tiles =
        problem.on_host ? device.on_cores(problem.batch_count() * a.count * b.count * cpu_tile_seconds) : 0;
    return product_time(packing_seconds(device) + compute + tiles, bytes_touched(problem) + 2.0 * bytes(), 2, device);
  }

  /// Writes panels, which are of numbers that sums are added up of.
  Launch pack() const {
    ProductProblem as_stored = problem;
    if (dot == 4) as_stored.in = as_stored.out = Dtype::u8;  // a word holds bytes, whatever they mean
    ProductLaunch main("matmul/pack", as_stored, {}, Stage::to_sums);
    main.launch.kernel.contract = false;
    main.define_orientation();
    main.defines()
        .set("ROWS", tile.rows)
        .set("COLUMNS", tile.lanes * tile.vectors)
        .set("A_ALONG_K", problem.k.in == 1)
        .set("B_ALONG_K", problem.k.other == 1)
        .set("PACK_K_A", a.band_k)
        .set("PACK_PANELS_A", a.group_panels)
        .set("PACK_K_B", b.band_k)
        .set("PACK_PANELS_B", b.group_panels);
    if (dot > 1) main.defines().set("DOT", dot);
    set_panels(main);
    main.params.packing_a = a.groups(k);
    main.params.packing = main.params.packing_a + b.groups(k);
    return main.into(workspace_of(scalar), problem.batch_count() * main.params.packing);
  }

  Launch multiply() const {
    ProductLaunch main("matmul/packed", problem, {}, Stage::of_sums);
    main.launch.kernel.kernel = "multiply";
    main.launch.buffers = {workspace_of(scalar)};
    const bool whole = !arithmetic.is_complex && problem.out != Dtype::boolean;
    main.defines()
        .set("ROWS", tile.rows)
        .set("VECTORS", tile.vectors)
        .set("LANES", tile.lanes)
        .set("SLICES", in_slices())
        .set("SIGNED", problem.in == Dtype::i8)
        .set("WHOLE_ROWS", whole && has_whole_rows(problem));
    set_panels(main);
    if (dot > 1) main.defines().set("DOT", dot);
    main.params.k = k;
    main.params.part_k = slice;
    main.params.per_group = band;
    main.params.chunk = chunk;
    main.params.chunks = chunks();
    return main.into_result(groups());
  }

  void set_panels(ProductLaunch& launch) const {
    launch.set_blocks(a.width, b.width);
    launch.params.packed_b = a.scalars;
  }

  Launches launches() const {
    Launches launches;
    launches.workspace_bytes = std::max(alignment, bytes());
    if (problem.k.extent > 0) launches.list.push_back(pack());
    launches.list.push_back(multiply());
    return launches;
  }
};

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Form form(problem, wish, device);
  if (size_t(form.bytes()) > device.max_allocation)
    return refuse(concat("its panels need ", form.bytes(), " bytes, one buffer holds ", device.max_allocation));
  Configuration values = wish;
  values["vectors"] = form.tile.vectors;
  values["slice"] = slice_of(wish, form.tile.lanes * form.scalar);
  return {.seconds = form.seconds(device), .configuration = values, .launches = [form] { return form.launches(); }};
}

}  // namespace

ProductCandidate packed_product() {
  return {{.name = "packed",
           .summary = "packed panels and sums in vector registers on a CPU",
           .tunables =
               {{"vectors",
                 0,
                 {0, 1, 2, 3},
                 "vectors",
                 "of numbers along a row of C in registers; 0: by type, 3 of 64 bytes, of complex numbers 1"},
                {"dots",
                 0,
                 {0, no_dots, all_dots},
                 "",
                 "sums of four products of bytes, or of two of bf16, in one step; 0: where the processor has it, "
                 "1: never, 2: anywhere, in several steps"},
                {"block", 512, doublings(64, 2048), "KiB", "panels of A that a group takes against one panel of B"},
                {"band", 2, {1, 2, 4}, "panels", "of B that a group takes against the same panels of A"},
                {"slice",
                 0,
                 {0, 128, 256, 384, 512, 1024, 1 << 30},
                 "k's",
                 "that a group takes at a time, at most, so that panels are still in a near cache for the next one; 0: "
                 "512, in vectors of 32 bytes 1024"}},
           .runtimes = {Api::opencl, Api::host},
           .runs_on = cpus},
          propose};
}

}  // namespace axisloom::ops
