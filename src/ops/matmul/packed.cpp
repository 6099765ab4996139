// Variant "packed": panels of A and B packed once, sums in vector registers. For CPUs.
#include "core/integers.hpp"
#include "core/number.hpp"
#include "model/cost.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

// Rows of C that are summed in registers: with 3 vectors a row they leave room for B's vectors and a broadcast
// among 32.
constexpr i64 tile_rows = 8;
constexpr i64 vector_bytes = 64;
constexpr double efficiency = 0.9;  // of the peak, which profiles take from the fastest products: of smaller ones
// At least, so that no core waits for long at the end (an estimate).
constexpr i64 groups_per_unit = 4;
// Of A that a group takes where it keeps their sums from slice to slice of k: those of 64 are up to 96 KiB of its stack
// (an estimate).
constexpr i64 most_panels = 64;

std::vector<Tunable> tunables() {
  return {
      {"vectors", 0, {0, 1, 2, 3}, "vectors", "of 64 bytes along a row of C in registers; 0: 3, of complex numbers 1"},
      {"block", 512, {64, 128, 256, 512, 1024, 2048}, "KiB", "panels of A that a group takes against one panel of B"},
      {"slice",
       384,
       {128, 256, 384, 512, 1024, 1 << 30},
       "k's",
       "that a group takes at a time, so that B's are still in a near cache for the next panel of A. Two cores of a "
       "Xeon, "
       "f32 4096 x 4096 against all at once, in two runs: 384 1.39 and 1.28, 256 1.36 and 1.28, 512 1.33 and 1.30, 128 "
       "1.28 and 1.24"},
  };
}

/// The panels of A, or of B.
struct Panels {
  i64 width;                 // rows of A, columns of B
  i64 count;                 // for one point of the batch
  i64 scalars;               // of the whole batch
  i64 band_k, group_panels;  // what a group packs: k's, panels
  i64 groups(i64 k) const { return ceil_div(k, band_k) * ceil_div(count, group_panels); }
};

/// Along the operand's rows a group packs short bands of long runs, else panel by panel.
Panels panels_of(const ProductProblem& problem, const core::Loop& side, core::Operand operand, i64 width) {
  constexpr i64 band = 16, run_bytes = 6 << 10, long_band = 4096;  // k's, bytes, k's; estimates
  const Arithmetic arithmetic = arithmetic_of(problem.product.in);
  const i64 count = ceil_div(side.extent, width);
  const i64 scalars = problem.batch_count() * count * width * arithmetic.parts() * problem.product.k.extent;
  if (side.*operand != 1) return {width, count, scalars, long_band, 1};
  return {width, count, scalars, band, std::max<i64>(1, run_bytes / (width * arithmetic.accumulator_bytes()))};
}

struct Shape {
  i64 lanes, vectors, parts, scalar;
  Panels a, b;
  i64 slice;    // of k, that a group takes at a time
  bool slices;  // whether there is more than one
  i64 chunk;    // panels of A that a group takes
  i64 bytes() const { return (a.scalars + b.scalars) * scalar; }
};

Shape shape_of(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  constexpr i64 whole_scalars = 64;  // those of A are a multiple of it, so that B's begin with a whole vector
  const Product& product = problem.product;
  const Arithmetic arithmetic = arithmetic_of(product.in);
  Shape shape{};
  shape.scalar = arithmetic.scalar_bytes;
  shape.lanes = vector_bytes / shape.scalar;
  shape.parts = arithmetic.parts();
  shape.vectors = value_or(wish, "vectors", arithmetic.is_complex ? 1 : 3);
  shape.a = panels_of(problem, product.m, &core::Loop::in, tile_rows);
  shape.b = panels_of(problem, product.n, &core::Loop::other, shape.lanes * shape.vectors);
  shape.a.scalars = ceil_div(shape.a.scalars, whole_scalars) * whole_scalars;
  shape.slice = wish.at("slice");
  shape.slices = product.k.extent > shape.slice;
  const i64 panel_bytes = tile_rows * arithmetic.accumulator_bytes() * std::min(product.k.extent, shape.slice);
  const i64 wished = (wish.at("block") << 10) / std::max<i64>(1, panel_bytes);
  shape.chunk = std::clamp<i64>(wished, 1, shape.slices ? std::min(shape.a.count, most_panels) : shape.a.count);
  const i64 wanted = groups_per_unit * i64(device.units()), panels_b = problem.batch_count() * shape.b.count;
  while (shape.chunk > 1 && panels_b * ceil_div(shape.a.count, shape.chunk) < wanted)
    shape.chunk = ceil_div(shape.chunk, 2);
  shape.chunk = ceil_div(shape.a.count, ceil_div(shape.a.count, shape.chunk));
  return shape;
}

// Of a core. On two of an EPYC 9005 8762 matrices of 6 x 41 by 41 x 5 floats took 5.4 ms, 6015 of 9 x 6 by 6 x 11 0.7;
// of f16 20 x 3049 by 3049 x 3452 9.5, 2569 x 1011 by 1011 x 4 2.1. (On an EPYC 7003 the 6015 took 3.5.)
constexpr double matrix_seconds = 30e-9;    // finding a matrix, in both kernels
constexpr double byte_seconds = 0.14e-9;    // of a panel that is put together element by element, zeros among them
constexpr double convert_seconds = 1.4e-9;  // of a small float, beside that

/// Scalars for each k of a side's panels that are not copied as whole vectors: those along k, of converted elements,
/// and of a last panel that is not full.
i64 put_one_by_one(const Panels& panels, i64 extent, bool copied) {
  return (panels.count - (copied ? extent / panels.width : 0)) * panels.width;
}

/// Whether elements are the same in memory and in panels.
bool is_copied(Dtype dtype) {
  return dtype == Dtype::f32 || dtype == Dtype::f64;
}

double packing_seconds(const ProductProblem& problem, const Shape& shape, const DeviceModel& device) {
  const Product& product = problem.product;
  const i64 k = product.k.extent;
  const bool copies = is_copied(product.in);
  const i64 put = k * (put_one_by_one(shape.a, product.m.extent, copies && product.m.in == 1) +
                       put_one_by_one(shape.b, product.n.extent, copies && product.n.other == 1));
  const i64 converted = core::is_small_float(product.in) ? (product.m.extent + product.n.extent) * k : 0;
  const double each = matrix_seconds + std::max(double(put * shape.parts * shape.scalar) * byte_seconds,
                                                double(converted) * convert_seconds);
  return device.on_cores(double(problem.batch_count()) * each * model::vector_times(device));
}

double predicted_seconds(const ProductProblem& problem, const Shape& shape, const DeviceModel& device) {
  const Product& product = problem.product;
  const double whole = double(shape.a.count * shape.a.width * shape.b.count * shape.b.width) /
                       (double(product.m.extent) * double(product.n.extent));
  const double compute = compute_seconds(product, arithmetic_operations(problem) * whole, efficiency, device);
  return product_time(packing_seconds(problem, shape, device) + compute,
                      bytes_touched(problem) + 2 * double(shape.bytes()), 2, device);
}

/// A launch of either kernel, whose groups are one item.
ProductLaunch packed_launch(const char* kernel, const ProductProblem& problem, const Shape& shape) {
  const Product& product = problem.product;
  ProductLaunch launch("matmul/packed", problem, {});
  launch.launch.kernel.kernel = kernel;
  launch.define_orientation();
  jit::Defines& defines = launch.defines();
  defines.set("ROWS", tile_rows).set("VECTORS", shape.vectors).set("LANES", shape.lanes);
  defines.set("A_ALONG_K", product.k.in == 1).set("B_ALONG_K", product.k.other == 1);
  defines.set("PACK_K_A", shape.a.band_k).set("PACK_PANELS_A", shape.a.group_panels);
  defines.set("PACK_K_B", shape.b.band_k).set("PACK_PANELS_B", shape.b.group_panels);
  defines.set("SLICES", shape.slices).set("SLICE_K", shape.slice).set("MOST_PANELS", most_panels);
  const bool same = product.in == product.out && is_copied(product.in);
  defines.set("WHOLE_ROWS", same && product.n.out == 1 && !adds_d(product) && !product.relu);
  launch.set_blocks(shape.a.width, shape.b.width);
  launch.params.packed_b = shape.a.scalars;
  return launch;
}

Launch pack_launch(const ProductProblem& problem, const Shape& shape) {
  ProductLaunch main = packed_launch("pack", problem, shape);
  main.launch.kernel.contract = false;
  const i64 k = problem.product.k.extent;
  main.params.packing_a = shape.a.groups(k);
  main.params.packing = main.params.packing_a + shape.b.groups(k);
  return main.into(workspace_of(shape.scalar), problem.batch_count() * main.params.packing);
}

Launch multiply_launch(const ProductProblem& problem, const Shape& shape) {
  ProductLaunch main = packed_launch("multiply", problem, shape);
  main.launch.buffers = {workspace_of(shape.scalar)};
  main.params.chunk = shape.chunk;
  main.params.chunks = ceil_div(shape.a.count, shape.chunk);
  return main.into_result(problem.batch_count() * shape.b.count * main.params.chunks);
}

Launches launch_packed(const ProductProblem& problem, const Shape& shape) {
  Launches launches;
  launches.workspace_bytes = std::size_t(std::max<i64>(vector_bytes, shape.bytes()));
  if (problem.product.k.extent > 0) launches.list.push_back(pack_launch(problem, shape));
  launches.list.push_back(multiply_launch(problem, shape));
  return launches;
}

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Shape shape = shape_of(problem, wish, device);
  if (std::size_t(shape.bytes()) > device.max_allocation)
    return refuse("its panels need " + std::to_string(shape.bytes()) + " bytes, one buffer holds " +
                  std::to_string(device.max_allocation));
  Configuration values = wish;
  values["vectors"] = shape.vectors;
  return {.seconds = predicted_seconds(problem, shape, device), .configuration = values, .launches = [=, &problem] {
            return launch_packed(problem, shape);
          }};
}

}  // namespace

ProductCandidate packed_product() {
  return {{.name = "packed",
           .summary = "packed panels and sums in vector registers on a CPU",
           .tunables = tunables(),
           .runtimes = {Api::opencl},
           .runs_on = cpus},
          propose};
}

}  // namespace axisloom::ops
