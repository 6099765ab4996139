// Variant "wgmma": matrices of 16-bit floats by the warpgroups of an H100 or H200, whose tiles the tensor memory
// accelerator brings.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/params.hpp"
#include "ops/nvidia/nvidia.hpp"
#include "ops/nvidia/tensor_map.hpp"
#include "planner/choose.hpp"

#include <algorithm>
#include <array>

namespace axisloom::ops {
namespace {

constexpr i64 block_m = 128;         // two warpgroups of 64 rows
constexpr i64 step_k = 64;           // of 16 bits: a box is as wide as the swizzle reaches
constexpr i64 element = 2;           // bytes
constexpr i64 items = 3 * 128;       // one more warpgroup fetches
constexpr i64 swizzle_bytes = 1024;  // after which the pattern of the swizzle repeats

/// Columns of a block, stages of the ring, and the share of the tensor cores' rate that a block reaches: of what the
/// tunables say was measured, less the start.
struct Blocks {
  i64 n, stages;
  double efficiency;

  Group group() const {
    const i64 barriers = 2 * 8 * stages;
    return {items, swizzle_bytes + stages * (block_m + n) * tensor_box_bytes + barriers};
  }
};
constexpr std::array shapes = {Blocks{256, 4, 0.70}, Blocks{128, 6, 0.68}};

// Until the ring's first tile is there, and of storing the last block: once, for between blocks the ring is filled on.
constexpr double start_seconds = 5.5e-6;

constexpr Operand of_a = &Loop::in, of_b = &Loop::other;

bool lies_along_k(const Product& product, Operand operand) {
  return product.k.*operand == 1;
}

/// An operand, its matrices along the batch.
MappedArray mapped_array(const Product& product, Operand operand) {
  const Loop *along = operand == of_a ? &product.m : &product.n, *across = &product.k;
  if (lies_along_k(product, operand)) std::swap(along, across);
  const i64 pitch = across->*operand, stride = product.batch.empty() ? 0 : product.batch[0].*operand;
  if (stride == 0) return {along->extent, across->extent, 1, pitch, pitch};
  return {along->extent, across->extent, product.batch[0].extent, pitch, stride};
}

/// Empty when a tensor map can describe an operand.
std::string indescribable(const Product& product, Operand operand) {
  const MappedArray array = mapped_array(product, operand);
  if (aligned_bytes(product, operand, tensor_alignment) < tensor_alignment)
    return "starts and pitches must be multiples of 16 bytes";
  if (array.pitch <= 0 || array.matrix_pitch <= 0) return "tensor maps have no rows that repeat or run backwards";
  return array.is_too_large(element, 0) ? too_large_for_maps : "";
}

std::string unfit(const Product& product, const DeviceModel& device) {
  if (compute_capability(device) != 90)
    return "warpgroup products need compute capability 9.0, the device is " + card_name(device);
  if (product.in != Dtype::f16 && product.in != Dtype::bf16)
    return concat("warpgroups would not sum ", name(product.in), " as exactly as is promised");
  if (product.m.extent == 1 || product.k.extent == 0)
    return "for a vector, or for no terms, most of a block would be empty";
  if (std::string why = lies_apart(product); !why.empty()) return why;
  if (product.batch.size() > 1) return "takes at most one batch axis";
  for (const Operand operand : {of_a, of_b})
    if (std::string why = indescribable(product, operand); !why.empty()) return why;
  return {};
}

double predicted_seconds(const ProductProblem& problem, const Blocks& blocks, const DeviceModel& device) {
  const i64 rounds = ceil_div(problem.blocks(block_m, blocks.n), device.units());
  const i64 steps = ceil_div(problem.k.extent, step_k);
  const double rate = device::is_host(device) ? device.f32_rate : device.tensor_16_rate;
  const double block = 2.0 * (block_m * blocks.n * steps * step_k) / (blocks.efficiency * rate);
  return product_time(start_seconds + rounds * block, bytes_touched(problem), 1, device);
}

Launches launch_wgmma(const ProductProblem& problem, const Blocks& blocks, i64 band, const DeviceModel& device) {
  ProductLaunch main("matmul/wgmma", problem, blocks.group());
  main.launch.kernel.resident = 1;
  main.defines()
      .set("BLOCK_M", block_m)
      .set("BLOCK_N", blocks.n)
      .set("STAGES", blocks.stages)
      .set("BAND", band)
      .set("A_ALONG_M", !lies_along_k(problem, of_a))
      .set("B_ALONG_N", !lies_along_k(problem, of_b))
      .set("PAIRS_C", stores_pairs(problem))
      .set("LOCAL_BYTES", blocks.group().local_bytes);
  main.set_blocks(block_m, blocks.n);
  const auto map = [&](Operand operand, i64 block) {
    return tensor_map(mapped_array(problem, operand), element, lies_along_k(problem, operand) ? block : step_k);
  };
  main.launch.buffers[0].map = map(of_a, block_m);
  main.launch.buffers[1].map = map(of_b, blocks.n);
  return {{main.into_result(std::min<i64>(problem.blocks(block_m, blocks.n), device.units()))}};
}

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = unfit(problem, device); !why.empty()) return refuse(std::move(why));
  Best<Blocks> best;
  for (Blocks blocks : shapes) {
    if (value_or(wish, "block_n", blocks.n) != blocks.n) continue;
    blocks.stages = value_or(wish, "stages", blocks.stages);
    best.refusal = beyond_limits(device, blocks.group());
    if (best.refusal.empty()) best.offer(blocks, predicted_seconds(problem, blocks, device));
  }
  if (!best.form) return refuse(best.refusal);
  const Blocks& blocks = *best.form;
  const i64 band = wish.at("band");
  return {.group = blocks.group(),
          .seconds = best.seconds,
          .configuration = {{"block_n", blocks.n}, {"stages", blocks.stages}, {"band", band}},
          .launches = [=, &problem, &device] { return launch_wgmma(problem, blocks, band, device); }};
}

}  // namespace

ProductCandidate wgmma_product() {
  return {{.name = "wgmma",
           .summary = "16-bit floats by warpgroups, on CUDA of compute capability 9.0",
           .tunables = {{"block_n",
                         0,
                         {0, 128, 256},
                         "columns",
                         "of C a group makes at a time, beside 128 rows; 0: by size. bf16 on an H200, TFLOP/s with 256 "
                         "and 128: 1024 x "
                         "1024 98 and 142, 2048 x 2048 480 and 483, 4096 x 4096 647 and 633"},
                        {"stages",
                         0,
                         {0, 2, 3, 4, 6},
                         "tiles",
                         "in local memory, being filled or read; 0: 4 of 256 columns, 6 of 128. 4096 x 4096: 647 with "
                         "4, 645 with 3"},
                        {"band", 8, doublings(1, 32), "blocks",
                         "rows of blocks that groups walk down before they move along n. 4096 x 4096: 648 with 4, 647 "
                         "with 8, 643 with "
                         "16"}},
           .runtimes = {Api::cuda, Api::host},
           .chosen_on = gpus,
           .checkable = false},
          propose};
}

}  // namespace axisloom::ops
