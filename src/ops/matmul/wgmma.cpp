// Variant "wgmma": matrices of 16-bit floats by the warpgroups of an H100 or H200, whose tiles the tensor memory
// accelerator brings.
#include "core/integers.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"
#include "ops/nvidia/nvidia.hpp"
#include "ops/nvidia/tensor_map.hpp"
#include "planner/choose.hpp"

#include <algorithm>
#include <array>
#include <limits>

namespace axisloom::ops {
namespace {

constexpr i64 block_m = 128;         // two warpgroups of 64 rows
constexpr i64 step_k = 64;           // of 16 bits: a box is as wide as the swizzle reaches
constexpr i64 element = 2;           // bytes
constexpr i64 items = 3 * 128;       // one more warpgroup fetches
constexpr i64 swizzle_bytes = 1024;  // after which the pattern of the swizzle repeats

std::vector<Tunable> tunables() {
  return {
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
}

/// Columns of a block, stages of the ring, and the share of the tensor cores' rate that a block reaches: of what the
/// tunables say was measured, less the start.
struct Blocks {
  i64 n, stages;
  double efficiency;

  Group group() const {
    const i64 barriers = 2 * 8 * stages;
    return {items, swizzle_bytes + stages * (block_m + n) * tensor_box_bytes + barriers};
  }
  i64 count(const ProductProblem& problem) const {
    return ceil_div(problem.product.m.extent, block_m) * ceil_div(problem.product.n.extent, n) * problem.batch_count();
  }
};
constexpr std::array shapes = {Blocks{256, 4, 0.70}, Blocks{128, 6, 0.68}};

// Until the ring's first tile is there, and of storing the last block: once, for between blocks the ring is filled on.
constexpr double start_seconds = 5.5e-6;

constexpr core::Operand of_a = &core::Loop::in, of_b = &core::Loop::other;

/// An operand as the accelerator sees it: rows along its contiguous axis, matrices along the batch.
struct MappedArray {
  i64 along, across, pitch, matrices, matrix_pitch;  // pitches in elements
  bool along_k;

  i64 rows_of_box(i64 block) const { return along_k ? block : step_k; }
};
MappedArray mapped_array(const Product& product, core::Operand operand) {
  const core::Loop *along = operand == of_a ? &product.m : &product.n, *across = &product.k;
  MappedArray array{};
  array.along_k = product.k.*operand == 1;
  if (array.along_k) std::swap(along, across);
  array.along = along->extent;
  array.across = across->extent;
  array.pitch = across->*operand;
  const i64 stride = product.batch.empty() ? 0 : product.batch[0].*operand;
  array.matrices = stride == 0 ? 1 : product.batch[0].extent;
  array.matrix_pitch = stride == 0 ? array.pitch : stride;
  return array;
}

/// Empty when a tensor map can describe an operand.
std::string indescribable(const Product& product, core::Operand operand) {
  const MappedArray array = mapped_array(product, operand);
  const core::Loop& rows = array.along_k ? operand == of_a ? product.m : product.n : product.k;
  if (aligned_bytes(product, operand, rows, element, tensor_alignment) < tensor_alignment)
    return "starts and pitches must be multiples of 16 bytes";
  if (array.pitch <= 0 || array.matrix_pitch <= 0) return "tensor maps have no rows that repeat or run backwards";
  constexpr i64 most_bytes = i64{1} << 40;
  constexpr i64 most_coordinate = std::numeric_limits<i32>::max() / 2;
  if (std::max(array.pitch, array.matrix_pitch) >= most_bytes / element ||
      std::max({array.along, array.across, array.matrices}) > most_coordinate)
    return "too large for a tensor map";
  return {};
}

std::string unfit(const Product& product, const DeviceModel& device) {
  if (compute_capability(device) != 90)
    return "warpgroup products need compute capability 9.0, the device is " +
           (device.architecture.empty() ? "no NVIDIA card" : device.architecture);
  if (product.in != Dtype::f16 && product.in != Dtype::bf16)
    return "warpgroups would not sum " + std::string(name(product.in)) + " as exactly as is promised";
  if (product.m.extent == 1 || product.k.extent == 0)
    return "for a vector, or for no terms, most of a block would be empty";
  if (product.m.in != 1 && product.k.in != 1) return "A is contiguous neither along m nor along k";
  if (product.n.other != 1 && product.k.other != 1) return "B is contiguous neither along k nor along n";
  if (product.batch.size() > 1) return "takes at most one batch axis";
  for (const core::Operand operand : {of_a, of_b})
    if (std::string why = indescribable(product, operand); !why.empty()) return why;
  return {};
}

double predicted_seconds(const ProductProblem& problem, const Blocks& blocks, const DeviceModel& device) {
  const i64 rounds = ceil_div(blocks.count(problem), i64(device.units()));
  const i64 steps = ceil_div(problem.product.k.extent, step_k);
  const double block = 2.0 * double(block_m * blocks.n * steps * step_k) / (blocks.efficiency * device.tensor_16_rate);
  return product_time(start_seconds + double(rounds) * block, bytes_touched(problem), 1, device);
}

Best<Blocks> best_blocks(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  Best<Blocks> best;
  for (Blocks blocks : shapes) {
    if (wish.at("block_n") != 0 && wish.at("block_n") != blocks.n) continue;
    if (wish.at("stages") != 0) blocks.stages = wish.at("stages");
    std::string beyond = beyond_limits(device, blocks.group());
    if (beyond.empty())
      best.offer(blocks, predicted_seconds(problem, blocks, device));
    else
      best.refusal = std::move(beyond);
  }
  return best;
}

void map(LaunchBuffer& buffer, const MappedArray& array, i64 block) {
  buffer.map = tensor_map(element, {array.along, array.across, array.matrices}, {array.pitch, array.matrix_pitch},
                          array.rows_of_box(block));
}

Launches launch_wgmma(const ProductProblem& problem, const Blocks& blocks, i64 band, const DeviceModel& device) {
  const Product& product = problem.product;
  const MappedArray a = mapped_array(product, of_a), b = mapped_array(product, of_b);
  ProductLaunch main(problem, "wgmma", "wgmma", blocks.group());
  main.launch.kernel.resident = 1;
  jit::Defines& defines = main.defines();
  defines.set("BLOCK_M", block_m).set("BLOCK_N", blocks.n).set("STAGES", blocks.stages).set("BAND", band);
  defines.set("A_ALONG_M", !a.along_k).set("B_ALONG_N", !b.along_k);
  defines.set("PAIRS_C", stores_pairs(product)).set("LOCAL_BYTES", blocks.group().local_bytes);
  main.params.blocks_m = ceil_div(product.m.extent, block_m);
  main.params.blocks_n = ceil_div(product.n.extent, blocks.n);
  map(main.launch.buffers[0], a, block_m);
  map(main.launch.buffers[1], b, blocks.n);
  return {{main.into_result(problem, std::min(blocks.count(problem), i64(device.units())))}};
}

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = unfit(problem.product, device); !why.empty()) return refuse(std::move(why));
  const Best<Blocks> best = best_blocks(problem, wish, device);
  if (!best.form) return refuse(best.refusal);
  const Blocks& blocks = *best.form;
  const i64 band = wish.at("band");
  Configuration values = wish;
  values["block_n"] = blocks.n;
  values["stages"] = blocks.stages;
  return {
      .group = blocks.group(), .seconds = best.seconds, .configuration = values, .launches = [=, &problem, &device] {
        return launch_wgmma(problem, blocks, band, device);
      }};
}

}  // namespace

ProductCandidate wgmma_product() {
  return {{.name = "wgmma",
           .summary = "16-bit floats by warpgroups, on CUDA of compute capability 9.0",
           .tunables = tunables(),
           .runtimes = {Api::cuda},
           .checkable = false},
          propose};
}

}  // namespace axisloom::ops
