// Variant "mma": matrices of f64 and of 16-bit floats by the tensor cores of NVIDIA's cards.
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/variants.hpp"
#include "ops/nvidia.hpp"

#include <algorithm>
#include <array>

namespace axisloom::ops {
namespace {

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
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
  return list;
}

/// What is compiled for a type, and the share of `unit_operations` that it is predicted to reach (estimates).
struct Blocks {
  std::int64_t m, n, warp_m, warp_n, step, stages, resident;
  double share;
};

std::span<const Blocks> blocks_for(Dtype dtype) {
  // An H200 multiplies 4096 x 4096 of bf16 at 343 TFLOP/s with steps of 64, of 32 at 320, with 4 stages 325.
  static constexpr std::array two = {Blocks{128, 128, 64, 64, 64, 3, 2, 1.07}, Blocks{128, 128, 64, 64, 32, 3, 2, 1.0},
                                     Blocks{128, 128, 64, 64, 32, 2, 2, 0.85}, Blocks{64, 64, 32, 32, 32, 3, 4, 0.6},
                                     Blocks{64, 64, 32, 32, 32, 2, 4, 0.5}};
  static constexpr std::array eight = {Blocks{128, 128, 64, 32, 16, 3, 1, 1.0}, Blocks{128, 128, 64, 32, 8, 2, 1, 0.8},
                                       Blocks{64, 64, 32, 32, 16, 3, 3, 0.8}, Blocks{64, 64, 32, 32, 16, 2, 3, 0.7}};
  if (dtype == Dtype::f64) return eight;
  return two;
}

// Operations per second of a compute unit's tensor cores as this kernel is expected to drive them: estimates.
// Predictions are there to be compared, and those of the other variants take every card for an H200 (model.cpp); so
// these are about two thirds of its data sheet for f64 and a third for 16 bits (measured there at 4096: 45 and 320
// TFLOP/s), times how much more or less than there tensor cores are ahead of other arithmetic. Beside the A100, H200,
// B200 and their kin, cards have f64 for compatibility's sake alone.
double unit_operations(Dtype dtype, int capability) {
  const bool wide = dtype == Dtype::f64;
  if (capability == 80 || capability == 90) return wide ? 300e9 : 2270e9;
  if (capability == 100 || capability == 103) return wide ? 170e9 : 2500e9;
  return wide ? 5e9 : 600e9;
}

struct Shape {
  Blocks blocks;
  std::int64_t element, depth;    // bytes; k's of an instruction
  std::int64_t bytes_a, bytes_b;  // of a piece
  bool pairs_c;                   // C is stored two elements at a time
  Parts parts;

  std::int64_t items() const { return 32 * (blocks.m / blocks.warp_m) * (blocks.n / blocks.warp_n); }
  std::int64_t groups(const Product& product) const {
    return ceil_div(product.m, blocks.m) * ceil_div(product.n, blocks.n);
  }
  std::int64_t tile_bytes(std::int64_t block, bool along_x) const {
    const std::int64_t pad = element == 8 ? 4 : 8;
    return element * (along_x ? blocks.step * (block + pad) : block * (blocks.step + pad));
  }
  std::int64_t local_bytes(const Product& product) const {
    return blocks.stages * (tile_bytes(blocks.m, product.a.m == 1) + tile_bytes(blocks.n, product.b.n == 1));
  }
};

Shape shape_of(const ProductProblem& problem, Blocks blocks, const Configuration& values, const DeviceInfo& device) {
  const Product& product = problem.product;
  const auto take = [&](const char* name, std::int64_t& value) {
    if (values.at(name) != 0) value = values.at(name);
  };
  take("block_m", blocks.m);
  take("block_n", blocks.n);
  take("warp_m", blocks.warp_m);
  take("warp_n", blocks.warp_n);
  take("step_k", blocks.step);
  take("stages", blocks.stages);
  take("resident", blocks.resident);
  const auto element = static_cast<std::int64_t>(size_of(product.in)),
             out = static_cast<std::int64_t>(size_of(product.out));
  const std::int64_t depth =
      element == 8 && compute_capability(device) < 90 ? 4 : std::min<std::int64_t>(16, blocks.step);
  Shape shape{blocks, element, depth, 0, 0, false, {}};
  take("depth", shape.depth);
  const std::int64_t sums = blocks.warp_m * blocks.warp_n / 32 * arithmetic_of(product.in).scalar_bytes / 4;
  shape.blocks.resident = std::max<std::int64_t>(1, resident_groups(blocks.resident, shape.items(), sums));
  const std::int64_t widest = std::max(element, values.at("access"));
  const AlignedAxis a_rows =
      product.a.m == 1 ? AlignedAxis{product.k, product.a.k} : AlignedAxis{product.m, product.a.m};
  const AlignedAxis b_rows =
      product.b.n == 1 ? AlignedAxis{product.k, product.b.k} : AlignedAxis{product.n, product.b.n};
  shape.bytes_a = aligned_bytes(product, product.a, a_rows, &BatchAxis::a, element, widest);
  shape.bytes_b = aligned_bytes(product, product.b, b_rows, &BatchAxis::b, element, widest);
  shape.parts = parts_of(problem, shape.groups(product), blocks.step, values.at("split"), device);
  shape.pairs_c = shape.parts.count == 1 && product.c.n == 1 &&
                  aligned_bytes(product, product.c, {product.m, product.c.m}, &BatchAxis::c, out, 2 * out) == 2 * out;
  return shape;
}

/// Why no block of this variant takes the product; empty when one may.
std::string unfit(const Product& product, const DeviceInfo& device) {
  const bool two_bytes = product.in == Dtype::f16 || product.in == Dtype::bf16;
  if (device.platform != "NVIDIA CUDA" || compute_capability(device) < 80)
    return "tensor cores of f64 and bf16 are those of NVIDIA's cards from compute capability 8.0 on";
  if (product.in != Dtype::f64 && !two_bytes)
    return "tensor cores would not sum " + std::string(name(product.in)) + " as exactly as is promised";
  if (product.m == 1) return "of a vector most of a fragment would be empty";
  if (product.a.m != 1 && product.a.k != 1) return "A lies together neither along m nor along k";
  if (product.b.n != 1 && product.b.k != 1) return "B lies together neither along k nor along n";
  return {};
}

/// Empty when the shape is one that the kernel can be compiled for.
std::string impossible(const Product& product, const Shape& shape, const DeviceInfo& device) {
  const Blocks& blocks = shape.blocks;
  if (blocks.m % blocks.warp_m != 0 || blocks.n % blocks.warp_n != 0) return "a block is not made of whole warps";
  if (shape.element == 2 ? shape.depth != 16 : shape.depth > 4 && compute_capability(device) < 90)
    return "no instruction takes " + std::to_string(shape.depth) + " k's of " + std::string(name(product.in)) + " on " +
           device.architecture;
  if (blocks.step % shape.depth != 0) return "a step is not made of whole instructions";
  const std::int64_t items = shape.items();
  for (const auto& [block, bytes] : {std::pair{blocks.m, shape.bytes_a}, std::pair{blocks.n, shape.bytes_b}})
    if (block * blocks.step * shape.element % (bytes * items) != 0)
      return "tiles cannot be dealt evenly to " + std::to_string(items) + " work-items";
  return beyond_limits(device, items, shape.local_bytes(product));
}

// Pieces of less than 16 bytes are more instructions, and single elements of 16 bits pass through registers
// (estimates).
double share_of_pieces(const Shape& shape) {
  const std::int64_t narrowest = std::min(shape.bytes_a, shape.bytes_b);
  return narrowest == 16 ? 1 : narrowest >= 4 ? 0.6 : 0.2;
}

// A compute unit whose local memory holds fewer groups than registers do hides less (an estimate).
double share_of_residents(const Product& product, const Shape& shape, const DeviceInfo& device) {
  const std::int64_t wanted = shape.blocks.resident * shape.local_bytes(product);
  return static_cast<std::size_t>(wanted) > device.local_memory_max ? 0.6 : 1;
}

double predicted_seconds(const ProductProblem& problem, const Shape& shape, const DeviceInfo& device) {
  const Product& product = problem.product;
  const Blocks& blocks = shape.blocks;
  const std::int64_t groups = shape.groups(product) * problem.batch_count() * shape.parts.count;
  const double units = std::max(1u, device.compute_units);
  // Fewer groups than a compute unit holds do not hide each other's latencies: it takes all of them for its full rate.
  const double full = static_cast<double>(blocks.resident) * units;
  const double rounds = std::max(1.0, static_cast<double>(groups) / full);
  const double group = 2.0 * static_cast<double>(blocks.m * blocks.n * std::min(shape.parts.k, product.k));
  const bool split = shape.parts.count > 1;
  const double bytes =
      bytes_touched(problem) + (split ? 2.0 * static_cast<double>(partial_bytes(problem, shape.parts.count)) : 0.0);
  const double rate = units * unit_operations(product.in, compute_capability(device)) * blocks.share;
  const double share =
      rate * share_of_pieces(shape) * share_of_residents(product, shape, device) / peak_operations(product, device);
  return product_time(problem, rounds * full * group, share, bytes, split ? 2 : 1, device);
}

/// The shape with the lowest predicted time, or why none is possible.
struct Best {
  std::optional<Shape> shape;
  double seconds = 0;
  std::string refusal;
};

Best best_shape(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  Best best;
  for (const Blocks& blocks : blocks_for(problem.product.in)) {
    const Shape shape = shape_of(problem, blocks, values, device);
    if (std::string why = impossible(problem.product, shape, device); !why.empty()) {
      best.refusal = why;
      continue;
    }
    const double seconds = predicted_seconds(problem, shape, device);
    if (!best.shape || seconds < best.seconds) best.shape = shape, best.seconds = seconds;
  }
  return best;
}

Verdict consider(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (std::string why = unfit(problem.product, device); !why.empty()) return Verdict::refuse(std::move(why));
  const Best best = best_shape(problem, values, device);
  if (!best.shape) return Verdict::refuse(best.refusal);
  return Verdict::accept(best.seconds);
}

void write_shape(const Product& product, const Shape& shape, std::int64_t band, jit::Defines& defines) {
  const Blocks& blocks = shape.blocks;
  defines.set("BLOCK_M", blocks.m).set("BLOCK_N", blocks.n).set("WARP_M", blocks.warp_m).set("WARP_N", blocks.warp_n);
  defines.set("STEP_K", blocks.step).set("STAGES", blocks.stages).set("DEPTH", shape.depth).set("BAND", band);
  defines.set("BYTES_A", shape.bytes_a).set("BYTES_B", shape.bytes_b).set("PAIRS_C", shape.pairs_c ? 1 : 0);
  defines.set("A_ALONG_M", product.a.m == 1 ? 1 : 0).set("B_ALONG_N", product.b.n == 1 ? 1 : 0);
  defines.set("SPLIT", shape.parts.count > 1 ? 1 : 0);
}

ProductLaunches lower(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Product& product = problem.product;
  const Shape shape = *best_shape(problem, values, device).shape;
  Launch launch;
  launch.kernel = {"matmul/mma.kernel", "mma", {}, static_cast<unsigned>(shape.items()), false, true};
  launch.kernel.resident = static_cast<unsigned>(shape.blocks.resident);
  write_defines(problem, launch.kernel.defines);
  write_shape(product, shape, values.at("band"), launch.kernel.defines);
  ProductParams params = params_of(problem);
  params.blocks_m = ceil_div(product.m, shape.blocks.m);
  params.blocks_n = ceil_div(product.n, shape.blocks.n);
  params.blocks_k = shape.parts.count;
  params.share = shape.parts.k;
  params.work = problem.batch_count();
  launch.geometry.items = launch.kernel.items;
  launch.geometry.groups = static_cast<std::uint64_t>(shape.groups(product) * params.work * shape.parts.count);
  launch.geometry.local_bytes = static_cast<std::size_t>(shape.local_bytes(product));
  launch.params = params_bytes(params);
  launch.buffers = {buffer_a(problem), buffer_b(problem)};
  if (shape.parts.count == 1) {
    append_results(problem, launch.buffers);
    return {{std::move(launch)}, 0};
  }
  launch.buffers.push_back(buffer_workspace(arithmetic_of(product.in).scalar_bytes));
  const auto bytes = static_cast<std::size_t>(partial_bytes(problem, shape.parts.count));
  return {{std::move(launch), combine_launch(problem, shape.parts.count, device)}, bytes};
}

}  // namespace

ProductCandidate mma_candidate() {
  return {{"mma", "f64 and 16-bit floats by NVIDIA's tensor cores", tunables(), true, true}, consider, lower};
}

}  // namespace axisloom::ops
