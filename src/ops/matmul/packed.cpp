// Variant "packed": panels of A and B packed once, sums in vector registers. For CPUs.
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"
#include "ops/matmul/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

// How a group packs an operand: along its rows in short bands of long runs, else panel by panel.
struct Packing {
  std::int64_t k, panels;
  std::int64_t groups(std::int64_t k_all, std::int64_t panels_all) const {
    return ceil_div(k_all, k) * ceil_div(panels_all, panels);
  }
};
Packing packing(bool along_x, std::int64_t panel_row_bytes) {
  constexpr std::int64_t run = 6 << 10;  // bytes of a run
  if (along_x) return {16, std::max<std::int64_t>(1, run / panel_row_bytes)};
  return {4096, 1};
}

// Rows of C that are summed in registers: with 3 vectors a row they leave room for B's vectors and a broadcast
// among 32.
constexpr std::int64_t tile_rows = 8;
constexpr std::int64_t most_panels = 64;  // of A that a group takes where it keeps their sums from slice to slice of k

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
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
  return list;
}

struct Shape {
  std::int64_t rows, columns, lanes, vectors, parts, scalar;
  std::int64_t panels_a, panels_b;  // of one point of the batch
  std::int64_t slice;               // of k, that a group takes at a time
  bool slices;                      // whether there is more than one
  std::int64_t chunk;               // panels of A that a group takes
  std::int64_t packed_a, packed_b;  // scalars, of the whole batch
  std::int64_t bytes() const { return (packed_a + packed_b) * scalar; }
  Packing packing_a(const Product& product) const { return packing(product.a.m == 1, rows * parts * scalar); }
  Packing packing_b(const Product& product) const { return packing(product.b.n == 1, columns * parts * scalar); }
};

Shape shape_of(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Product& product = problem.product;
  const Arithmetic arithmetic = arithmetic_of(product.in);
  Shape shape{};
  shape.scalar = arithmetic.scalar_bytes;
  shape.lanes = 64 / shape.scalar;
  shape.parts = arithmetic.is_complex ? 2 : 1;
  shape.rows = tile_rows;
  shape.vectors = values.at("vectors") != 0 ? values.at("vectors") : arithmetic.is_complex ? 1 : 3;
  shape.columns = shape.lanes * shape.vectors;
  shape.panels_a = ceil_div(product.m, shape.rows);
  shape.panels_b = ceil_div(product.n, shape.columns);
  const std::int64_t batch = problem.batch_count();
  shape.packed_a = ceil_div(batch * shape.panels_a * shape.rows * shape.parts * product.k, 64) * 64;
  shape.packed_b = batch * shape.panels_b * shape.columns * shape.parts * product.k;
  shape.slice = values.at("slice");
  shape.slices = product.k > shape.slice;
  const std::int64_t panel_bytes =
      std::max<std::int64_t>(1, shape.rows * shape.parts * shape.scalar * std::min(product.k, shape.slice));
  shape.chunk = std::clamp<std::int64_t>((values.at("block") << 10) / panel_bytes, 1,
                                         std::min(shape.panels_a, shape.slices ? most_panels : shape.panels_a));
  // Every core gets several groups, so that none waits for long at the end.
  const std::int64_t wanted = 4 * std::max(1u, device.compute_units);
  while (shape.chunk > 1 && batch * shape.panels_b * ceil_div(shape.panels_a, shape.chunk) < wanted)
    shape.chunk = ceil_div(shape.chunk, 2);
  shape.chunk = ceil_div(shape.panels_a, ceil_div(shape.panels_a, shape.chunk));
  return shape;
}

Verdict consider(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (device.kind != Kind::cpu) return Verdict::refuse("written for CPUs: one item a group, explicit 16-wide vectors");
  const Product& product = problem.product;
  const Shape shape = shape_of(problem, values, device);
  if (static_cast<std::size_t>(shape.bytes()) > device.max_allocation)
    return Verdict::refuse("its panels need " + std::to_string(shape.bytes()) + " bytes, one buffer holds " +
                           std::to_string(device.max_allocation));
  const double whole = static_cast<double>(shape.panels_a * shape.rows * shape.panels_b * shape.columns) /
                       (static_cast<double>(product.m) * static_cast<double>(product.n));
  const double bytes = bytes_touched(problem) + 2 * static_cast<double>(shape.bytes());
  return Verdict::accept(product_time(problem, arithmetic_operations(problem) * whole, 0.9, bytes, 2, device));
}

void write_shape(const ProductProblem& problem, const Shape& shape, jit::Defines& defines) {
  const Product& product = problem.product;
  write_defines(problem, defines);
  defines.set("ROWS", shape.rows).set("VECTORS", shape.vectors).set("LANES", shape.lanes);
  defines.set("A_ALONG_M", product.a.m == 1 ? 1 : 0).set("A_ALONG_K", product.a.k == 1 ? 1 : 0);
  defines.set("B_ALONG_N", product.b.n == 1 ? 1 : 0).set("B_ALONG_K", product.b.k == 1 ? 1 : 0);
  const Packing a = shape.packing_a(product), b = shape.packing_b(product);
  defines.set("PACK_K_A", a.k).set("PACK_PANELS_A", a.panels).set("PACK_K_B", b.k).set("PACK_PANELS_B", b.panels);
  defines.set("SLICES", shape.slices ? 1 : 0).set("SLICE_K", shape.slice).set("MOST_PANELS", most_panels);
  const bool same = product.in == product.out && (product.in == Dtype::f32 || product.in == Dtype::f64);
  defines.set("WHOLE_ROWS", same && product.c.n == 1 && !adds_d(product) && !product.relu ? 1 : 0);
}

Launch pack_launch(const ProductProblem& problem, const Shape& shape) {
  Launch launch;
  launch.kernel = {"matmul/packed.kernel", "pack", {}, 1, false};
  write_shape(problem, shape, launch.kernel.defines);
  ProductParams params = params_of(problem);
  params.blocks_m = shape.panels_a;
  params.blocks_n = shape.panels_b;
  params.packed_b = shape.packed_a;
  const std::int64_t k = problem.product.k;
  const Packing a = shape.packing_a(problem.product), b = shape.packing_b(problem.product);
  params.share = a.groups(k, shape.panels_a);
  params.blocks_k = params.share + b.groups(k, shape.panels_b);
  launch.geometry.groups = static_cast<std::uint64_t>(problem.batch_count() * params.blocks_k);
  launch.params = params_bytes(params);
  launch.buffers = {buffer_a(problem), buffer_b(problem), buffer_workspace(shape.scalar)};
  return launch;
}

Launch multiply_launch(const ProductProblem& problem, const Shape& shape) {
  Launch launch;
  launch.kernel = {"matmul/packed.kernel", "multiply", {}, 1, false};
  launch.kernel.contract = true;
  write_shape(problem, shape, launch.kernel.defines);
  ProductParams params = params_of(problem);
  params.blocks_m = shape.panels_a;
  params.blocks_n = shape.panels_b;
  params.packed_b = shape.packed_a;
  params.share = shape.chunk;
  params.blocks_k = ceil_div(shape.panels_a, shape.chunk);
  launch.geometry.groups = static_cast<std::uint64_t>(problem.batch_count() * shape.panels_b * params.blocks_k);
  launch.params = params_bytes(params);
  launch.buffers = {buffer_workspace(shape.scalar)};
  append_results(problem, launch.buffers);
  return launch;
}

ProductLaunches lower(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Shape shape = shape_of(problem, values, device);
  ProductLaunches lowered;
  if (problem.product.k > 0) lowered.launches.push_back(pack_launch(problem, shape));
  lowered.launches.push_back(multiply_launch(problem, shape));
  lowered.workspace_bytes = static_cast<std::size_t>(std::max<std::int64_t>(64, shape.bytes()));
  return lowered;
}

}  // namespace

ProductCandidate packed_candidate() {
  return {{"packed", "packed panels and sums in vector registers on a CPU", tunables(), true, false}, consider, lower};
}

}  // namespace axisloom::ops
