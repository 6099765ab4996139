// Variant "mma": matrices of f64 and of 16-bit floats by the tensor cores of NVIDIA's cards.
#include "core/integers.hpp"
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"
#include "ops/nvidia/nvidia.hpp"
#include "planner/choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>

namespace axisloom::ops {
namespace {

constexpr i64 warp_items = 32;

std::vector<Tunable> tunables() {
  return {
      {"block_m", 0, {0, 32, 64, 128, 256}, "rows", "of C a group makes; 0: by type and size"},
      {"block_n", 0, {0, 32, 64, 128, 256}, "columns", "of C a group makes; 0: by type and size"},
      {"warp_m", 0, {0, 16, 32, 64}, "rows", "of C in a warp's registers; 0: by type and size"},
      {"warp_n", 0, {0, 16, 32, 64}, "columns", "of C in a warp's registers; 0: by type and size"},
      {"step_k",
       0,
       {0, 8, 16, 32, 64},
       "elements",
       "of k in a stage of local memory; 0: 64 or 32 of 16 bits, 16 or 8 of f64"},
      {"stages", 0, {0, 2, 3, 4}, "tiles", "in local memory, all but one under way; 0: 3, or 2 where 3 do not fit"},
      {"depth",
       0,
       {0, 4, 8, 16},
       "elements",
       "of k an instruction takes; 0: 16, or as many as a step has; of f64 before sm_90 4"},
      {"access", 16, {2, 4, 8, 16}, "bytes", "widest piece copied; the widest that alignment allows is taken"},
      {"band", 8, {1, 2, 4, 8, 16, 32}, "blocks", "rows of blocks that groups walk down before they move along n"},
      {"resident", 0, {0, 1, 2, 3, 4}, "groups", "of a compute unit that registers are fitted to; 0: by block"},
      split_tunable(),
  };
}

/// What is compiled for a type, and the share of `unit_operations` that it is predicted to reach: measured of blocks of
/// 128 x 128 with 3 stages, an estimate of others.
struct Blocks {
  i64 m, n, warp_m, warp_n, step, stages, resident;
  double efficiency;
};

/// Tunables, and what they say of a block.
constexpr std::pair<const char*, i64 Blocks::*> tunables_of_blocks[] = {
    {"block_m", &Blocks::m},   {"block_n", &Blocks::n},     {"warp_m", &Blocks::warp_m},    {"warp_n", &Blocks::warp_n},
    {"step_k", &Blocks::step}, {"stages", &Blocks::stages}, {"resident", &Blocks::resident}};

std::span<const Blocks> blocks_for(Dtype dtype) {
  // An H200 multiplies 4096 x 4096 of bf16 at 343 TFLOP/s with steps of 64, of 32 at 320, with 4 stages 325; of f16
  // through OpenCL, which has less local memory, at 331 with 2 stages of 64, at 318 with 3 of 32.
  static constexpr std::array two = {Blocks{128, 128, 64, 64, 64, 3, 2, 1.07}, Blocks{128, 128, 64, 64, 64, 2, 2, 1.04},
                                     Blocks{128, 128, 64, 64, 32, 3, 2, 1.0},  Blocks{128, 128, 64, 64, 32, 2, 2, 0.85},
                                     Blocks{64, 64, 32, 32, 32, 3, 4, 0.6},    Blocks{64, 64, 32, 32, 32, 2, 4, 0.5}};
  static constexpr std::array eight = {Blocks{128, 128, 64, 32, 16, 3, 1, 1.0}, Blocks{128, 128, 64, 32, 8, 2, 1, 0.8},
                                       Blocks{64, 64, 32, 32, 16, 3, 3, 0.8}, Blocks{64, 64, 32, 32, 16, 2, 3, 0.7}};
  if (dtype == Dtype::f64) return eight;
  return two;
}

// Share of the tensor cores' rate that this kernel reaches beside its outputs: an H200 multiplied 4096 x 4096 of f64 at
// 45 of 67 TFLOP/s, and of 16-bit floats, which it does not bring fast enough, at 320 of 989.
constexpr double efficiency_64 = 0.68, efficiency_16 = 0.322;

double unit_operations(Dtype dtype, const DeviceModel& device) {
  return dtype == Dtype::f64 ? efficiency_64 * device.tensor_64_rate : efficiency_16 * device.tensor_16_rate;
}

struct Shape {
  Blocks blocks;
  i64 element, depth;    // bytes; k's of an instruction
  i64 bytes_a, bytes_b;  // of a piece
  bool pairs_c;          // C is stored two elements at a time
  Parts parts;

  i64 items() const { return warp_items * (blocks.m / blocks.warp_m) * (blocks.n / blocks.warp_n); }
  i64 tile_bytes(i64 block, bool along_x) const {
    const i64 pad = element == 8 ? 4 : 8;
    return element * (along_x ? blocks.step * (block + pad) : block * (blocks.step + pad));
  }
  Group group(const Product& product) const {
    return {items(),
            blocks.stages * (tile_bytes(blocks.m, product.m.in == 1) + tile_bytes(blocks.n, product.n.other == 1))};
  }
};

Shape shape_of(const ProductProblem& problem, Blocks blocks, const Configuration& wish, const DeviceModel& device) {
  const Product& product = problem.product;
  for (const auto& [name, member] : tunables_of_blocks) blocks.*member = value_or(wish, name, blocks.*member);
  const i64 element = i64(size_of(product.in));
  const i64 depth = element == 8 && compute_capability(device) < 90 ? 4 : std::min<i64>(16, blocks.step);
  Shape shape{blocks, element, value_or(wish, "depth", depth), 0, 0, false, {}};
  const i64 widest = std::max(element, wish.at("access"));
  shape.bytes_a = aligned_bytes(product, &core::Loop::in, widest);
  shape.bytes_b = aligned_bytes(product, &core::Loop::other, widest);
  shape.parts = parts_of(problem, problem.blocks(blocks.m, blocks.n), blocks.step, wish.at("split"), device);
  shape.pairs_c = shape.parts.count == 1 && stores_pairs(product);
  return shape;
}

/// Why no block of this variant takes the product; empty when one may.
std::string unfit(const Product& product, const DeviceModel& device) {
  const bool two_bytes = product.in == Dtype::f16 || product.in == Dtype::bf16;
  if (device.platform != "NVIDIA CUDA" || compute_capability(device) < 80)
    return "tensor cores for f64 and bf16 need an NVIDIA card of compute capability 8.0 or later";
  if (product.in != Dtype::f64 && !two_bytes)
    return "tensor cores would not sum " + std::string(name(product.in)) + " as exactly as is promised";
  if (product.m.extent == 1) return "for a vector, most of a fragment would be empty";
  return lies_apart(product);
}

/// Empty when the shape is one that the kernel can be compiled for.
std::string impossible(const Product& product, const Shape& shape, const DeviceModel& device) {
  const Blocks& blocks = shape.blocks;
  if (blocks.m % blocks.warp_m != 0 || blocks.n % blocks.warp_n != 0) return "a block is not made of whole warps";
  if (shape.element == 2 ? shape.depth != 16 : shape.depth > 4 && compute_capability(device) < 90)
    return "no instruction takes " + std::to_string(shape.depth) + " k's of " + std::string(name(product.in)) + " on " +
           device.architecture;
  if (blocks.step % shape.depth != 0) return "a step is not made of whole instructions";
  const i64 items = shape.items();
  for (const auto& [block, bytes] : {std::pair{blocks.m, shape.bytes_a}, std::pair{blocks.n, shape.bytes_b}})
    if (block * blocks.step * shape.element % (bytes * items) != 0)
      return "tiles cannot be divided evenly among " + std::to_string(items) + " work-items";
  return beyond_limits(device, shape.group(product));
}

/// No more resident groups than registers are for, of a shape that is possible.
void fit_registers(const Product& product, Shape& shape) {
  Blocks& blocks = shape.blocks;
  const i64 sums = blocks.warp_m * blocks.warp_n / warp_items * arithmetic_of(product.in).scalar_bytes / 4;
  blocks.resident = std::max<i64>(1, resident_groups(blocks.resident, shape.items(), sums));
}

/// Share of a block's rate that is left by pieces of less than 16 bytes, which are more instructions (an estimate).
double piece_efficiency(const Shape& shape) {
  constexpr double narrow = 0.6;
  return std::min(shape.bytes_a, shape.bytes_b) == 16 ? 1 : narrow;
}

/// Latencies of a load that a step takes by itself. No copy is asynchronous of less than 4 bytes: single elements of 16
/// bits pass through registers, and the loads of five of an item's wait together.
double step_latencies(const Shape& shape) {
  // As of "tile"; and 2569 x 1011 by 1011 x 4, 1003 x 1153 by 1153 x 25 and 20 x 3049 by 3049 x 3452 of f16, which took
  // an H200 31, 35 and 37 us.
  constexpr double whole = 1.6, singles_in_flight = 5;
  constexpr i64 least_copy = 4;  // bytes
  const Blocks& blocks = shape.blocks;
  const i64 singles = (shape.bytes_a < least_copy ? blocks.m : 0) + (shape.bytes_b < least_copy ? blocks.n : 0);
  return whole + double(singles * blocks.step / shape.items()) / singles_in_flight;
}

// Of an output's epilogue, whose stores are pairs in eight rows at a time: 2617 x 13 by 13 x 2664 of f16 took an H200
// 25 to 30 us, where memory takes 3.
constexpr double output_operations = 50;

/// The same where local memory holds fewer groups of a compute unit than registers do, which hides less (an estimate).
double resident_efficiency(const Product& product, const Shape& shape, const DeviceModel& device) {
  constexpr double too_few = 0.6;
  const i64 wanted = shape.blocks.resident * shape.group(product).local_bytes;
  return std::size_t(wanted) > device.local_memory_max ? too_few : 1;
}

double predicted_seconds(const ProductProblem& problem, const Shape& shape, const DeviceModel& device) {
  const Product& product = problem.product;
  const Blocks& blocks = shape.blocks;
  const i64 parts = shape.parts.count, groups = problem.blocks(blocks.m, blocks.n) * parts;
  // Fewer groups than a compute unit holds share its rate among fewer.
  const double held = std::min(double(blocks.resident), std::ceil(double(groups) / device.units()));
  const double rounds = std::max(1.0, double(groups) / (held * device.units()));
  const i64 steps = ceil_div(std::min(shape.parts.k_per_group, product.k.extent), blocks.step);
  const double operations = 2.0 * held * double(blocks.m * blocks.n * steps * blocks.step);
  const double rate = unit_operations(product.in, device) * blocks.efficiency * piece_efficiency(shape) *
                      resident_efficiency(product, shape, device);
  const double waits = (block_latencies + double(steps) * step_latencies(shape)) * device.latency;
  return product_time(rounds * std::max(operations / rate, waits), bytes_touched(problem), parts > 1 ? 2 : 1, device) +
         outputs_seconds(problem, output_operations, device) + partial_seconds(problem, parts, device);
}

Best<Shape> best_shape(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  Best<Shape> best;
  for (const Blocks& blocks : blocks_for(problem.product.in)) {
    Shape shape = shape_of(problem, blocks, wish, device);
    best.refusal = impossible(problem.product, shape, device);
    if (!best.refusal.empty()) continue;
    fit_registers(problem.product, shape);
    best.offer(shape, predicted_seconds(problem, shape, device));
  }
  return best;
}

/// The wish with nothing left open but a split that its tunable does not list.
Configuration resolved(Configuration values, const Shape& shape) {
  for (const auto& [name, member] : tunables_of_blocks) values[name] = shape.blocks.*member;
  values["depth"] = shape.depth;
  values["split"] = shape.parts.count;
  return values;
}

Launches launch_mma(const ProductProblem& problem, const Shape& shape, i64 band, const DeviceModel& device) {
  const Blocks& blocks = shape.blocks;
  ProductLaunch main("matmul/mma", problem, shape.group(problem.product));
  main.launch.kernel.resident = unsigned(blocks.resident);
  jit::Defines& defines = main.defines();
  defines.set("BLOCK_M", blocks.m).set("BLOCK_N", blocks.n).set("WARP_M", blocks.warp_m).set("WARP_N", blocks.warp_n);
  defines.set("STEP_K", blocks.step).set("STAGES", blocks.stages).set("DEPTH", shape.depth).set("BAND", band);
  defines.set("BYTES_A", shape.bytes_a).set("BYTES_B", shape.bytes_b).set("PAIRS_C", shape.pairs_c);
  main.define_orientation();
  main.set_blocks(blocks.m, blocks.n);
  return in_parts(std::move(main), shape.parts, problem.blocks(blocks.m, blocks.n), device);
}

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = unfit(problem.product, device); !why.empty()) return refuse(std::move(why));
  const Best<Shape> best = best_shape(problem, wish, device);
  if (!best.form) return refuse(best.refusal);
  const Shape& shape = *best.form;
  const i64 band = wish.at("band");
  return {.group = largest_group(shape.group(problem.product), shape.parts, device),
          .seconds = best.seconds,
          .configuration = resolved(wish, shape),
          .launches = [=, &problem, &device] { return launch_mma(problem, shape, band, device); }};
}

}  // namespace

ProductCandidate mma_product() {
  return {{.name = "mma", .summary = "f64 and 16-bit floats by NVIDIA's tensor cores", .tunables = tunables()},
          propose};
}

}  // namespace axisloom::ops
