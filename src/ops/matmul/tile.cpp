// Variant "tile": a square of outputs in the registers of every item, tiles of A and B in local memory. For GPUs.
#include "core/integers.hpp"
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"
#include "planner/choose.hpp"

#include <algorithm>
#include <array>

namespace axisloom::ops {
namespace {

std::vector<Tunable> tunables() {
  return {
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
}

/// Blocks that are compiled for a type of sums, and how fast a compute unit makes them. Measured of f32 on an H200 (but
/// for 32 x 32, an estimate), ns for each k of one block and of two at a time: 128 x 128 112 and 195, 128 x 64 69 and
/// 138, 64 x 64 48 and 75; of c64 64 x 64 138 for one, 32 x 32 72 for two. Steps of 128 x 64 are so long that memory
/// keeps up with one block: 1024 x 1024 from a cold cache took 73 us with 16, 89 with 8.
struct Blocks {
  i64 m, n, tile_m, tile_n, step;
  double efficiency;               // share of the peak, with blocks enough
  i64 concurrent_blocks;           // that a unit makes at the same time
  double single_block_efficiency;  // rate of one by itself, against that
};

/// The largest first.
std::span<const Blocks> blocks_for(Dtype dtype) {
  static constexpr std::array four = {Blocks{128, 128, 8, 8, 8, 0.66, 2, 0.87}, Blocks{128, 64, 8, 8, 16, 0.47, 2, 1},
                                      Blocks{64, 64, 4, 4, 16, 0.43, 2, 0.78}, Blocks{32, 32, 4, 4, 8, 0.25, 8, 0.46}};
  static constexpr std::array eight = {Blocks{64, 64, 4, 4, 8, 0.60, 2, 0.78}, Blocks{32, 32, 2, 4, 8, 0.45, 2, 0.8}};
  static constexpr std::array sixteen = {Blocks{32, 32, 2, 2, 8, 0.40, 2, 0.8}};
  const int bytes = arithmetic_of(dtype).accumulator_bytes();
  if (bytes == 4) return four;
  if (bytes == 8) return eight;
  return sixteen;
}

// Share of a CPU's peak, whatever the block: local memory is only a detour there. 256 x 256 x 256 ran at 2 GFLOP/s on
// two cores.
constexpr double cpu_efficiency = 0.0045;

// Of a load's latency, a stage of k by itself: the load, two barriers and the products. On an H200 squares of 64, 128
// and 256 floats took 4.5, 6.8 and 11.4 us without the launch.
constexpr double step_latencies = 1.6;

// Of an output's epilogue: 982 x 10 by 10 x 2792 and 16384 x 64 by 64 x 16384 floats took an H200 0.8 to 0.9 ps for
// each beside their products, 2617 x 13 by 13 x 2664 of f16 1.0.
constexpr double output_operations = 30;

// What a split has to be worth: a second kernel, and what the prediction errs by.
constexpr double split_penalty = 1.15;

struct Shape {
  i64 m, n, tile_m, tile_n, step, strip, buffers;
  i64 vector_a, vector_b, vector_c;  // elements of an access
  i64 accumulator;                   // bytes
  Parts parts;
  i64 items() const { return m / tile_m * (n / tile_n); }
  Group group() const { return {items(), buffers * step * (m + n + 2 * strip) * accumulator}; }
};

/// Those whose rates a shape is taken to have: the first that are no larger.
const Blocks& rates_of(const Shape& shape, Dtype dtype) {
  const std::span<const Blocks> list = blocks_for(dtype);
  const auto at = std::ranges::find_if(list, [&](const Blocks& one) { return one.m * one.n <= shape.m * shape.n; });
  return at == list.end() ? list.back() : *at;
}

/// Elements of an access, when neighbours lie together and every start is aligned.
i64 vector_of(const Product& product, core::Operand operand, i64 most_bytes) {
  const Dtype dtype = operand == &core::Loop::out ? product.out : product.in;
  const i64 element = i64(size_of(dtype));
  if (!is_contiguous(product, operand) || arithmetic_of(dtype).is_complex) return 1;
  // Whole packets or single elements: what lies between would only be more kernels.
  const i64 whole = std::min({i64{16}, 4 * element, most_bytes});
  if (whole <= element) return 1;
  return aligned_bytes(product, operand, whole) == whole ? whole / element : 1;
}

void set_vectors(const Product& product, i64 access, Shape& shape) {
  shape.vector_a = vector_of(product, &core::Loop::in, access);
  shape.vector_b = vector_of(product, &core::Loop::other, access);
  const i64 c = vector_of(product, &core::Loop::out, access);
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
  Shape shape{};
  shape.m = value_or(values, "block_m", blocks.m);
  shape.n = value_or(values, "block_n", blocks.n);
  shape.tile_m = value_or(values, "tile_m", blocks.tile_m);
  shape.tile_n = value_or(values, "tile_n", blocks.tile_n);
  shape.step = value_or(values, "step_k", blocks.step);
  shape.strip = arithmetic.is_complex ? 1 : 16 / arithmetic.scalar_bytes;
  shape.strip = std::min({shape.strip, shape.tile_m, shape.tile_n});
  shape.buffers = values.at("buffers");
  shape.accumulator = arithmetic.accumulator_bytes();
  set_vectors(product, values.at("access"), shape);
  return shape;
}

/// Counts of parts worth a thought: few, and those with which the last round of blocks is nearly full.
std::vector<i64> possible_parts(const ProductProblem& problem, const Shape& shape, i64 forced,
                                const DeviceModel& device) {
  if (forced != 0) return {forced};
  constexpr i64 least_block = 64 * 64, least_k = 256, most_bytes = i64{64} << 20;
  std::vector<i64> list{1};
  if (device.is_cpu() || shape.m * shape.n < least_block) return list;
  const i64 groups = std::max<i64>(1, problem.blocks(shape.m, shape.n)), units = i64(device.units());
  for (const i64 parts : {i64{2}, i64{3}, i64{4}, i64{5}, units / groups, 2 * units / groups})
    if (parts > 1 && problem.product.k.extent / parts >= least_k && partial_bytes(problem, parts) <= most_bytes)
      list.push_back(parts);
  return list;
}

// Empty when the shape is one that the kernel can be compiled for.
std::string impossible(const Shape& shape, const DeviceModel& device) {
  if (shape.m % (4 * shape.tile_m) != 0 || shape.n % (8 * shape.tile_n) != 0)
    return "a block is not made of warps of 4 x 8 tiles";
  const i64 items = shape.items();
  const auto deals = [&](i64 side, i64 vector) {
    return shape.step % vector == 0 && side * shape.step % (vector * items) == 0;
  };
  if (!deals(shape.m, shape.vector_a) || !deals(shape.n, shape.vector_b))
    return "tiles cannot be divided evenly among " + std::to_string(items) + " work-items";
  return beyond_limits(device, shape.group());
}

/// Seconds that a compute unit takes for `count` blocks of this shape, several at a time. Each has `operations`,
/// waits for its first loads and its last stores, and takes `least` in between however few operations these are.
double unit_seconds(const Product& product, const Blocks& rates, double operations, double least, i64 count,
                    const DeviceModel& device) {
  const double rate = rates.efficiency * unit_peak(product, device), begin_and_end = block_latencies * device.latency;
  const double one = std::max(begin_and_end + least, operations / (rates.single_block_efficiency * rate));
  const double all = begin_and_end + std::max(least, operations * double(rates.concurrent_blocks) / rate);
  const i64 rounds = count / rates.concurrent_blocks, rest = count % rates.concurrent_blocks;
  const double last = rest == 0 ? 0 : one + (all - one) * double(rest - 1) / double(rates.concurrent_blocks - 1);
  return double(rounds) * all + last;
}

double predicted_seconds(const ProductProblem& problem, const Shape& shape, const DeviceModel& device) {
  const Product& product = problem.product;
  const i64 groups = problem.blocks(shape.m, shape.n) * shape.parts.count, units = i64(device.units());
  const int launches = shape.parts.count > 1 ? 2 : 1;
  const double operations = arithmetic_of(product.in).operations() *
                            double(shape.m * shape.n * std::min(shape.parts.k_per_group, product.k.extent));
  if (device.is_cpu()) {
    const double all = operations * double(std::max(groups, 2 * units));
    return product_time(compute_seconds(product, all, cpu_efficiency, device), bytes_touched(problem), launches,
                        device);
  }
  const i64 steps = ceil_div(std::min(shape.parts.k_per_group, product.k.extent), shape.step);
  const double least = double(steps) * step_latencies * device.latency;
  const double compute =
      unit_seconds(product, rates_of(shape, product.in), operations, least, ceil_div(groups, units), device);
  return product_time(compute, bytes_touched(problem), launches, device) +
         outputs_seconds(problem, output_operations, device) + partial_seconds(problem, shape.parts.count, device);
}

/// Blocks that are not square are for A by rows, and all aligned: there would be too many kernels, and of single
/// elements they are slower than others (997 x 1009 by 1009 x 1021 131 us, of 64 x 64 86).
bool worth_a_kernel(const Blocks& blocks, const Shape& shape, const Product& product) {
  if (blocks.m == blocks.n) return true;
  return shape.vector_a > 1 && shape.vector_b > 1 && product.m.in != 1;
}

Best<Shape> best_shape(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  Best<Shape> best;
  for (const Blocks& blocks : blocks_for(problem.product.in)) {
    const Shape whole = shape_of(problem, blocks, wish);
    if (!worth_a_kernel(blocks, whole, problem.product)) continue;
    best.refusal = impossible(whole, device);
    if (!best.refusal.empty()) continue;
    for (const i64 parts : possible_parts(problem, whole, wish.at("split"), device)) {
      Shape shape = whole;
      shape.parts = split(problem.product.k.extent, parts, shape.step);
      if (shape.parts.count > 1) shape.vector_c = 1;  // partial sums are stored one by one
      best.offer(shape, (parts > 1 ? split_penalty : 1) * predicted_seconds(problem, shape, device));
    }
  }
  return best;
}

// Empty when rows of both tiles lie together in memory as they will in local memory.
std::string cannot_copy(const Product& product) {
  if (product.m.in != 1 || product.n.other != 1) return "asynchronous copies need A along m and B along n";
  const bool same =
      product.in == Dtype::f32 || product.in == Dtype::f64 || product.in == Dtype::u32 || product.in == Dtype::u64;
  return same ? "" : "asynchronous copies do not convert " + std::string(name(product.in));
}

/// The wish with nothing left open but a split that its tunable does not list.
Configuration resolved(Configuration values, const Shape& shape) {
  values["block_m"] = shape.m;
  values["block_n"] = shape.n;
  values["tile_m"] = shape.tile_m;
  values["tile_n"] = shape.tile_n;
  values["step_k"] = shape.step;
  values["split"] = shape.parts.count;
  const i64 sums = shape.tile_m * shape.tile_n * shape.accumulator / 4;
  values["resident"] = resident_groups(values["resident"], shape.items(), sums);
  return values;
}

Launches launch_tile(const ProductProblem& problem, const Shape& shape, const Configuration& values,
                     const DeviceModel& device) {
  ProductLaunch main("matmul/tile", problem, shape.group());
  main.launch.kernel.resident = unsigned(values.at("resident"));
  jit::Defines& defines = main.defines();
  defines.set("BLOCK_M", shape.m).set("BLOCK_N", shape.n).set("TILE_M", shape.tile_m).set("TILE_N", shape.tile_n);
  defines.set("ELEMENT_BYTES", size_of(problem.product.in));
  defines.set("STEP_K", shape.step).set("STRIP", shape.strip).set("BUFFERS", shape.buffers);
  defines.set("VECTOR_A", shape.vector_a).set("VECTOR_B", shape.vector_b).set("VECTOR_C", shape.vector_c);
  defines.set("ASYNC", values.at("async")).set("BAND", values.at("band"));
  main.define_orientation();
  main.set_blocks(shape.m, shape.n);
  return in_parts(std::move(main), shape.parts, problem.blocks(shape.m, shape.n), device);
}

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (wish.at("async") == 1)
    if (std::string why = cannot_copy(problem.product); !why.empty()) return refuse(std::move(why));
  const Best<Shape> best = best_shape(problem, wish, device);
  if (!best.form) return refuse(best.refusal);
  const Shape& shape = *best.form;
  const Configuration values = resolved(wish, shape);
  return {.group = largest_group(shape.group(), shape.parts, device),
          .seconds = best.seconds,
          .configuration = values,
          .launches = [=, &problem, &device] { return launch_tile(problem, shape, values, device); }};
}

}  // namespace

ProductCandidate tile_product() {
  return {{.name = "tile", .summary = "outputs in registers, tiles in local memory, on a GPU", .tunables = tunables()},
          propose};
}

}  // namespace axisloom::ops
