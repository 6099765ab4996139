// Variant "tile": a square of outputs in the registers of every item, tiles of A and B in local memory. For GPUs.
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/variants.hpp"

#include <algorithm>
#include <array>

namespace axisloom::ops {
namespace {

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"block_m", 0, {0, 16, 32, 64, 128, 256}, "rows", "of C a group makes; 0: by type and size"},
      {"block_n", 0, {0, 16, 32, 64, 128, 256}, "columns", "of C a group makes; 0: by type and size"},
      {"tile_m", 0, {0, 1, 2, 4, 8, 16}, "rows", "of C in an item's registers; 0: by type"},
      {"tile_n", 0, {0, 1, 2, 4, 8, 16}, "columns", "of C in an item's registers; 0: by type"},
      {"step_k", 0, {0, 4, 8, 16, 32}, "elements", "of k in local memory at a time; 0: by type"},
      {"buffers", 2, {1, 2}, "tiles", "in local memory: with 2 one barrier a step is enough"},
      {"access", 16, {1, 2, 4, 8, 16}, "bytes", "widest global access; the widest that alignment allows is taken"},
      {"band", 8, {1, 2, 4, 8, 16, 32}, "blocks", "rows of blocks that groups walk down before they move along n"},
      {"resident",
       2,
       {0, 1, 2, 3, 4},
       "groups",
       "of a compute unit that NVIDIA's compilers fit registers to; 0: they are not told"},
      {"async", 0, {0, 1}, "", "1: tiles by asynchronous copies; both operands then lie along m and n"},
      split_tunable(),
  };
  return list;
}

/// Blocks that are compiled for a type of sums, and how fast a compute unit makes them. Measured of f32 on an H200 (but
/// for 32 x 32, an estimate), ns for each k of one block and of two at a time: 128 x 128 112 and 195, 128 x 64 69 and
/// 138, 64 x 64 48 and 75; of c64 64 x 64 138 for one, 32 x 32 72 for two. Steps of 128 x 64 are so long that memory
/// keeps up with one block: 1024 x 1024 from a cold cache took 73 us with 16, 89 with 8.
struct Blocks {
  std::int64_t m, n, tile_m, tile_n, step;
  double share;           // of the peak, with blocks enough
  std::int64_t together;  // blocks that a unit makes at the same time
  double alone;           // rate of one by itself, against that
};

std::span<const Blocks> blocks_for(const Arithmetic& arithmetic) {
  static constexpr std::array four = {Blocks{128, 128, 8, 8, 8, 0.66, 2, 0.87}, Blocks{128, 64, 8, 8, 16, 0.47, 2, 1},
                                      Blocks{64, 64, 4, 4, 16, 0.43, 2, 0.78}, Blocks{32, 32, 4, 4, 8, 0.25, 8, 0.46}};
  static constexpr std::array eight = {Blocks{64, 64, 4, 4, 8, 0.60, 2, 0.78}, Blocks{32, 32, 2, 4, 8, 0.45, 2, 0.8}};
  static constexpr std::array sixteen = {Blocks{32, 32, 2, 2, 8, 0.40, 2, 0.8}};
  const std::int64_t bytes = arithmetic.scalar_bytes * (arithmetic.is_complex ? 2 : 1);
  if (bytes == 4) return four;
  if (bytes == 8) return eight;
  return sixteen;
}

struct Shape {
  std::int64_t m, n, tile_m, tile_n, step, strip, buffers;
  std::int64_t vector_a, vector_b, vector_c;  // elements of an access
  std::int64_t accumulator;                   // bytes
  Parts parts;
  std::int64_t items() const { return m / tile_m * (n / tile_n); }
  std::int64_t local_bytes() const { return buffers * step * (m + n + 2 * strip) * accumulator; }
  std::int64_t groups(const Product& product) const { return ceil_div(product.m, m) * ceil_div(product.n, n); }
};

/// Elements of an access along `along` (its stride), when neighbours lie together and every start is aligned.
std::int64_t vector_of(const ProductOperand& operand, std::int64_t along, AlignedAxis other,
                       const std::vector<std::int64_t>& batch, Dtype dtype, std::int64_t most_bytes) {
  const auto element = static_cast<std::int64_t>(size_of(dtype));
  if (along != 1 || arithmetic_of(dtype).is_complex) return 1;
  std::vector<AlignedAxis> steps{other};
  for (const std::int64_t stride : batch) steps.push_back({2, stride});
  // Whole packets or single elements: what lies between would only be more kernels.
  const std::int64_t whole = std::min({std::int64_t{16}, 4 * element, most_bytes});
  return proven_alignment(operand, steps, element, whole) == whole && whole > element ? whole / element : 1;
}

std::vector<std::int64_t> batch_strides(const Product& product, std::int64_t BatchAxis::*operand) {
  std::vector<std::int64_t> strides;
  for (const BatchAxis& axis : product.batch) strides.push_back(axis.*operand);
  return strides;
}

void set_vectors(const Product& product, std::int64_t access, Shape& shape) {
  const bool a_along_m = product.a.m == 1, b_along_n = product.b.n == 1;
  const AlignedAxis a_other = a_along_m ? AlignedAxis{product.k, product.a.k} : AlignedAxis{product.m, product.a.m};
  const AlignedAxis b_other = b_along_n ? AlignedAxis{product.k, product.b.k} : AlignedAxis{product.n, product.b.n};
  shape.vector_a = vector_of(product.a, a_along_m ? 1 : product.a.k, a_other, batch_strides(product, &BatchAxis::a),
                             product.in, access);
  shape.vector_b = vector_of(product.b, b_along_n ? 1 : product.b.k, b_other, batch_strides(product, &BatchAxis::b),
                             product.in, access);
  const std::int64_t c = vector_of(product.c, product.c.n, {product.m, product.c.m},
                                   batch_strides(product, &BatchAxis::c), product.out, access);
  // Where B comes by single elements, C would only be one more kernel.
  shape.vector_c = c >= shape.strip && (shape.vector_b > 1 || shape.strip == 1) ? shape.strip : 1;
  // Of small products, which the smallest blocks are for, little is gained by half of it.
  if (shape.m * shape.n > 32 * 32) return;
  shape.vector_c = 1;
  if (shape.vector_a == 1 || shape.vector_b == 1) shape.vector_a = shape.vector_b = 1;
}

Shape shape_of(const ProductProblem& problem, const Blocks& blocks, const Configuration& values) {
  const Product& product = problem.product;
  const Arithmetic arithmetic = arithmetic_of(product.in);
  const auto value = [&](const char* name, std::int64_t otherwise) {
    return values.at(name) == 0 ? otherwise : values.at(name);
  };
  Shape shape{};
  shape.m = value("block_m", blocks.m);
  shape.n = value("block_n", blocks.n);
  shape.tile_m = value("tile_m", blocks.tile_m);
  shape.tile_n = value("tile_n", blocks.tile_n);
  shape.step = value("step_k", blocks.step);
  shape.strip = arithmetic.is_complex ? 1 : 16 / arithmetic.scalar_bytes;
  shape.strip = std::min({shape.strip, shape.tile_m, shape.tile_n});
  shape.buffers = values.at("buffers");
  shape.accumulator = arithmetic.scalar_bytes * (arithmetic.is_complex ? 2 : 1);
  set_vectors(product, values.at("access"), shape);
  return shape;
}

void split_shape(const ProductProblem& problem, std::int64_t parts, Shape& shape) {
  shape.parts = split(problem.product.k, parts, shape.step);
  if (shape.parts.count > 1) shape.vector_c = 1;  // partial sums are stored one by one
}

/// Counts of parts worth a thought: few, and those with which the last round of blocks is nearly full.
std::vector<std::int64_t> possible_parts(const ProductProblem& problem, const Shape& shape, std::int64_t forced,
                                         const DeviceInfo& device) {
  if (forced != 0) return {forced};
  constexpr std::int64_t least_block = 64 * 64, least_k = 256, most_bytes = std::int64_t{64} << 20;
  std::vector<std::int64_t> list{1};
  if (device.kind == Kind::cpu || shape.m * shape.n < least_block) return list;
  const std::int64_t groups = std::max<std::int64_t>(1, shape.groups(problem.product) * problem.batch_count());
  for (std::int64_t parts : {std::int64_t{2}, std::int64_t{3}, std::int64_t{4}, std::int64_t{5},
                             device.compute_units / groups, 2 * device.compute_units / groups})
    if (parts > 1 && problem.product.k / parts >= least_k && partial_bytes(problem, parts) <= most_bytes)
      list.push_back(parts);
  return list;
}

// Empty when the shape is one that the kernel can be compiled for.
std::string impossible(const Shape& shape, const DeviceInfo& device) {
  if (shape.m % (4 * shape.tile_m) != 0 || shape.n % (8 * shape.tile_n) != 0)
    return "a block is not made of warps of 4 x 8 tiles";
  const std::int64_t items = shape.items();
  const auto deals = [&](std::int64_t side, std::int64_t vector) {
    return shape.step % vector == 0 && side * shape.step % (vector * items) == 0;
  };
  if (!deals(shape.m, shape.vector_a) || !deals(shape.n, shape.vector_b))
    return "tiles cannot be dealt evenly to " + std::to_string(items) + " work-items";
  return beyond_limits(device, items, shape.local_bytes());
}

/// Seconds that a compute unit takes for so many blocks of this shape, several at a time.
double unit_seconds(const ProductProblem& problem, const Shape& shape, const Blocks& blocks, std::int64_t count,
                    const DeviceInfo& device) {
  const double unit_peak = peak_operations(problem.product, device) / std::max(1u, device.compute_units);
  const double operations = arithmetic_of(problem.product.in).operations() *
                            static_cast<double>(shape.m * shape.n * std::min(shape.parts.k, problem.product.k));
  const double one = operations / (blocks.alone * blocks.share * unit_peak);
  const double all = operations * static_cast<double>(blocks.together) / (blocks.share * unit_peak);
  const std::int64_t rest = count % blocks.together;
  const double last =
      rest == 0 ? 0 : one + (all - one) * static_cast<double>(rest - 1) / static_cast<double>(blocks.together - 1);
  return static_cast<double>(count / blocks.together) * all + last;
}

double predicted_seconds(const ProductProblem& problem, const Shape& shape, const Blocks& blocks,
                         const DeviceInfo& device) {
  const Product& product = problem.product;
  const std::int64_t groups = shape.groups(product) * problem.batch_count() * shape.parts.count;
  const std::int64_t units = std::max(1u, device.compute_units);
  const int launches = shape.parts.count > 1 ? 2 : 1;
  const double touched = bytes_touched(problem);
  if (device.kind == Kind::cpu) {
    // On a CPU local memory is only a detour: 256 x 256 x 256 ran at 2 GFLOP/s on two cores.
    const double operations = arithmetic_of(product.in).operations() *
                              static_cast<double>(std::max(groups, 2 * units)) *
                              static_cast<double>(shape.m * shape.n * std::min(shape.parts.k, product.k));
    return product_time(problem, operations, 0.0045, touched, launches, device);
  }
  const double seconds = unit_seconds(problem, shape, blocks, ceil_div(groups, units), device);
  return product_time(problem, seconds * peak_operations(product, device), 1, touched, launches, device) +
         partial_seconds(problem, shape.parts.count, device);
}

/// Blocks that are not square are for A by rows, and all aligned: there would be too many kernels, and of single
/// elements they are slower than others (997 x 1009 by 1009 x 1021 131 us, of 64 x 64 86).
bool worth_a_kernel(const Blocks& blocks, const Shape& shape, const Product& product) {
  if (blocks.m == blocks.n) return true;
  return shape.vector_a > 1 && shape.vector_b > 1 && product.a.m != 1;
}

/// The shape with the lowest predicted time, or why none is possible.
struct Best {
  std::optional<Shape> shape;
  double seconds = 0;
  std::string refusal;
};

Best best_shape(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  Best best;
  for (const Blocks& blocks : blocks_for(arithmetic_of(problem.product.in))) {
    const Shape whole = shape_of(problem, blocks, values);
    if (!worth_a_kernel(blocks, whole, problem.product)) continue;
    if (std::string why = impossible(whole, device); !why.empty()) {
      best.refusal = why;
      continue;
    }
    for (const std::int64_t parts : possible_parts(problem, whole, values.at("split"), device)) {
      Shape shape = whole;
      split_shape(problem, parts, shape);
      constexpr double hesitation = 1.15;  // splits must be worth a second kernel, and what the prediction errs by
      const double seconds = (parts > 1 ? hesitation : 1) * predicted_seconds(problem, shape, blocks, device);
      if (!best.shape || seconds < best.seconds) best.shape = shape, best.seconds = seconds;
    }
  }
  return best;
}

// Empty when rows of both tiles lie together in memory as they will in local memory.
std::string cannot_copy(const Product& product) {
  if (product.a.m != 1 || product.b.n != 1) return "asynchronous copies need A along m and B along n";
  const bool same =
      product.in == Dtype::f32 || product.in == Dtype::f64 || product.in == Dtype::u32 || product.in == Dtype::u64;
  return same ? "" : "asynchronous copies do not convert " + std::string(name(product.in));
}

Verdict consider(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (values.at("async") == 1)
    if (std::string why = cannot_copy(problem.product); !why.empty()) return Verdict::refuse(why);
  const Best best = best_shape(problem, values, device);
  if (!best.shape) return Verdict::refuse(best.refusal);
  return Verdict::accept(best.seconds);
}

ProductLaunches lower(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Product& product = problem.product;
  const Shape shape = *best_shape(problem, values, device).shape;
  const auto items = static_cast<unsigned>(shape.items());
  Launch launch;
  launch.kernel = {"matmul/tile.kernel", "tile", {}, items, false, true};
  jit::Defines& defines = launch.kernel.defines;
  write_defines(problem, defines);
  defines.set("BLOCK_M", shape.m).set("BLOCK_N", shape.n).set("TILE_M", shape.tile_m).set("TILE_N", shape.tile_n);
  defines.set("STEP_K", shape.step).set("STRIP", shape.strip).set("BUFFERS", shape.buffers);
  defines.set("VECTOR_A", shape.vector_a).set("VECTOR_B", shape.vector_b).set("VECTOR_C", shape.vector_c);
  defines.set("A_ALONG_M", product.a.m == 1 ? 1 : 0).set("B_ALONG_N", product.b.n == 1 ? 1 : 0);
  launch.kernel.resident = static_cast<unsigned>(
      resident_groups(values.at("resident"), items, shape.tile_m * shape.tile_n * shape.accumulator / 4));
  defines.set("ASYNC", values.at("async"));
  defines.set("BAND", values.at("band")).set("SPLIT", shape.parts.count > 1 ? 1 : 0);
  ProductParams params = params_of(problem);
  params.blocks_m = ceil_div(product.m, shape.m);
  params.blocks_n = ceil_div(product.n, shape.n);
  params.blocks_k = shape.parts.count;
  params.share = shape.parts.k;
  params.work = problem.batch_count();
  launch.geometry.items = items;
  launch.geometry.groups = static_cast<std::uint64_t>(shape.groups(product) * params.work * shape.parts.count);
  launch.geometry.local_bytes = static_cast<std::size_t>(shape.local_bytes());
  launch.params = params_bytes(params);
  launch.buffers = {buffer_a(problem), buffer_b(problem)};
  if (shape.parts.count == 1) {
    append_results(problem, launch.buffers);
    return {{std::move(launch)}, 0};
  }
  launch.buffers.push_back(buffer_workspace(shape.accumulator));
  const auto bytes = static_cast<std::size_t>(partial_bytes(problem, shape.parts.count));
  return {{std::move(launch), combine_launch(problem, shape.parts.count, device)}, bytes};
}

}  // namespace

ProductCandidate tile_product_candidate() {
  return {{"tile", "outputs in registers, tiles in local memory, on a GPU", tunables(), true, true}, consider, lower};
}

}  // namespace axisloom::ops
