// Variant "wgmma": matrices of 16-bit floats by the warpgroups of an H100 or H200, whose tiles the tensor memory
// accelerator brings.
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"
#include "ops/matmul/variants.hpp"
#include "ops/nvidia.hpp"
#include "ops/tensor_map.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace axisloom::ops {
namespace {

constexpr std::int64_t block_m = 128;         // two warpgroups of 64 rows
constexpr std::int64_t step_k = 64;           // of 16 bits: a box is as wide as the swizzle reaches
constexpr std::int64_t element = 2;           // bytes
constexpr std::int64_t items = 3 * 128;       // one more warpgroup fetches
constexpr std::int64_t swizzle_bytes = 1024;  // after which the pattern of the swizzle repeats

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"block_n",
       0,
       {0, 128, 256},
       "columns",
       "of C a group makes at a time, beside 128 rows; 0: by size. bf16 on an H200, TFLOP/s with 256 and 128: 1024 x "
       "1024 98 and 142, 2048 x 2048 480 and 483, 4096 x 4096 647 and 633"},
      {"stages",
       0,
       {0, 2, 3, 4, 6},
       "tiles",
       "in local memory, being filled or read; 0: 4 of 256 columns, 6 of 128. 4096 x 4096: 647 with 4, 645 with 3"},
      {"band",
       8,
       {1, 2, 4, 8, 16, 32},
       "blocks",
       "rows of blocks that groups walk down before they move along n. 4096 x 4096: 648 with 4, 647 with 8, 643 with "
       "16"},
  };
  return list;
}

/// Columns of a block, stages of the ring, and operations per second of a compute unit (estimates).
struct Blocks {
  std::int64_t n, stages;
  double unit_operations;

  std::int64_t local_bytes() const {
    const std::int64_t barriers = 2 * 8 * stages;
    return swizzle_bytes + stages * (block_m + n) * tensor_box_bytes + barriers;
  }
  std::int64_t count(const ProductProblem& problem) const {
    return ceil_div(problem.product.m, block_m) * ceil_div(problem.product.n, n) * problem.batch_count();
  }
};
constexpr std::array shapes = {Blocks{256, 4, 4.7e12}, Blocks{128, 6, 3.9e12}};

constexpr double block_seconds = 3e-6;  // until the ring's first tile is there, and of storing a block (estimate)

/// An operand as the accelerator sees it: rows along its contiguous axis, matrices along the batch.
struct Side {
  std::int64_t along, across, pitch, matrices, matrix_pitch;  // pitches in elements
  bool along_k;

  std::int64_t rows_of_box(std::int64_t block) const { return along_k ? block : step_k; }
};
Side side_of(const Product& product, const ProductOperand& operand, std::int64_t BatchAxis::*batch) {
  const bool is_a = &operand == &product.a;
  const std::int64_t rows = is_a ? product.m : product.n, row_stride = is_a ? operand.m : operand.n;
  Side side{};
  side.along_k = operand.k == 1;
  side.along = side.along_k ? product.k : rows;
  side.across = side.along_k ? rows : product.k;
  side.pitch = side.along_k ? row_stride : operand.k;
  const std::int64_t stride = product.batch.empty() ? 0 : product.batch[0].*batch;
  side.matrices = stride == 0 ? 1 : product.batch[0].extent;
  side.matrix_pitch = stride == 0 ? side.pitch : stride;
  return side;
}

/// Empty when a tensor map can describe an operand.
std::string indescribable(const Product& product, const ProductOperand& operand, std::int64_t BatchAxis::*batch) {
  const Side side = side_of(product, operand, batch);
  if (aligned_bytes(product, operand, {side.across, side.pitch}, batch, element, tensor_alignment) < tensor_alignment)
    return "starts and pitches must be multiples of 16 bytes";
  if (side.pitch <= 0 || side.matrix_pitch <= 0) return "tensor maps have no rows that repeat or run backwards";
  constexpr std::int64_t most_bytes = std::int64_t{1} << 40;
  constexpr std::int64_t most_coordinate = std::numeric_limits<std::int32_t>::max() / 2;
  if (std::max(side.pitch, side.matrix_pitch) >= most_bytes / element ||
      std::max({side.along, side.across, side.matrices}) > most_coordinate)
    return "too large for a tensor map";
  return {};
}

std::string unfit(const ProductProblem& problem, const DeviceInfo& device) {
  const Product& product = problem.product;
  if (problem.checked) return "bulk copies pass by the words of the dialect, so they cannot be checked";
  if (compute_capability(device) != 90)
    return "warpgroups multiply on compute capability 9.0 alone, the device is " +
           (device.architecture.empty() ? "no NVIDIA card" : device.architecture);
  if (product.in != Dtype::f16 && product.in != Dtype::bf16)
    return "warpgroups would not sum " + std::string(name(product.in)) + " as exactly as is promised";
  if (product.m == 1 || product.k == 0) return "of a vector, or of no terms, most of a block would be empty";
  if (product.a.m != 1 && product.a.k != 1) return "A lies together neither along m nor along k";
  if (product.b.n != 1 && product.b.k != 1) return "B lies together neither along k nor along n";
  if (product.batch.size() > 1) return "walks one axis of a batch";
  for (const auto& [operand, batch] : {std::pair{&product.a, &BatchAxis::a}, std::pair{&product.b, &BatchAxis::b}})
    if (std::string why = indescribable(product, *operand, batch); !why.empty()) return why;
  return {};
}

double predicted_seconds(const ProductProblem& problem, const Blocks& blocks, const DeviceInfo& device) {
  const Product& product = problem.product;
  const std::int64_t units = std::max(1u, device.compute_units);
  const std::int64_t rounds = ceil_div(blocks.count(problem), units);
  const std::int64_t steps = ceil_div(product.k, step_k);
  const double block = 2.0 * static_cast<double>(block_m * blocks.n * steps * step_k) / blocks.unit_operations;
  const double seconds = static_cast<double>(rounds) * (block + block_seconds);
  return product_time(problem, seconds * peak_operations(product, device), 1, bytes_touched(problem), 1, device);
}

/// The blocks with the lowest predicted time, or why none are possible.
struct Best {
  std::optional<Blocks> blocks;
  double seconds = 0;
  std::string refusal;
};

Best best_blocks(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  Best best;
  for (Blocks blocks : shapes) {
    if (values.at("block_n") != 0 && values.at("block_n") != blocks.n) continue;
    if (values.at("stages") != 0) blocks.stages = values.at("stages");
    if (std::string beyond = beyond_limits(device, items, blocks.local_bytes()); !beyond.empty()) {
      best.refusal = std::move(beyond);
      continue;
    }
    const double seconds = predicted_seconds(problem, blocks, device);
    if (!best.blocks || seconds < best.seconds) best.blocks = blocks, best.seconds = seconds;
  }
  return best;
}

Verdict consider(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (std::string why = unfit(problem, device); !why.empty()) return Verdict::refuse(std::move(why));
  const Best best = best_blocks(problem, values, device);
  if (!best.blocks) return Verdict::refuse(best.refusal);
  return Verdict::accept(best.seconds);
}

LaunchBuffer mapped(LaunchBuffer buffer, const Side& side, std::int64_t block) {
  buffer.map = tensor_map(element, {side.along, side.across, side.matrices}, {side.pitch, side.matrix_pitch},
                          side.rows_of_box(block));
  return buffer;
}

/// Whether C is stored two elements at a time.
bool stores_pairs(const Product& product) {
  const auto out = static_cast<std::int64_t>(size_of(product.out));
  return product.c.n == 1 &&
         aligned_bytes(product, product.c, {product.m, product.c.m}, &BatchAxis::c, out, 2 * out) == 2 * out;
}

ProductLaunches lower(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Product& product = problem.product;
  const Blocks blocks = *best_blocks(problem, values, device).blocks;
  const Side a = side_of(product, product.a, &BatchAxis::a), b = side_of(product, product.b, &BatchAxis::b);
  Launch launch;
  launch.kernel = {"matmul/wgmma.kernel", "wgmma", {}, static_cast<unsigned>(items), false, true};
  launch.kernel.resident = 1;
  jit::Defines& defines = launch.kernel.defines;
  write_defines(problem, defines);
  defines.set("BLOCK_M", block_m).set("BLOCK_N", blocks.n).set("STAGES", blocks.stages).set("BAND", values.at("band"));
  defines.set("A_ALONG_M", a.along_k ? 0 : 1).set("B_ALONG_N", b.along_k ? 0 : 1);
  defines.set("PAIRS_C", stores_pairs(product) ? 1 : 0).set("LOCAL_BYTES", blocks.local_bytes());
  ProductParams params = params_of(problem);
  params.blocks_m = ceil_div(product.m, block_m);
  params.blocks_n = ceil_div(product.n, blocks.n);
  params.work = problem.batch_count();
  launch.geometry.items = launch.kernel.items;
  launch.geometry.groups =
      static_cast<std::uint64_t>(std::min<std::int64_t>(blocks.count(problem), std::max(1u, device.compute_units)));
  launch.geometry.local_bytes = static_cast<std::size_t>(blocks.local_bytes());
  launch.params = params_bytes(params);
  launch.buffers = {mapped(buffer_a(problem), a, block_m), mapped(buffer_b(problem), b, blocks.n)};
  append_results(problem, launch.buffers);
  return {{std::move(launch)}, 0};
}

}  // namespace

ProductCandidate wgmma_candidate() {
  return {{"wgmma", "16-bit floats by warpgroups, on CUDA of compute capability 9.0", tunables(), false, true},
          consider,
          lower};
}

}  // namespace axisloom::ops
