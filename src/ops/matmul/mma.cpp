// Variant "mma": matrices of f64 and of 16-bit floats by the tensor cores of NVIDIA's cards.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"
#include "ops/nvidia/nvidia.hpp"
#include "planner/choose.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

namespace axisloom::ops {
namespace {

constexpr i64 warp_items = 32;

/// What is compiled for a type, and its speed relative to `unit_operations`, measured with 4096 x 4096 on an H200.
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
                                     Blocks{128, 128, 64, 64, 32, 3, 2, 1.0},  Blocks{128, 128, 64, 64, 32, 2, 2, 0.89},
                                     Blocks{64, 64, 32, 32, 32, 3, 4, 0.56},   Blocks{64, 64, 32, 32, 32, 2, 4, 0.53}};
  // With blocks of 128 x 128, f64 took an H200 1.07 to 1.7 times as long for every shape tried: 512 to 8192 square,
  // odd, tall and thin.
  static constexpr std::array eight = {Blocks{64, 64, 32, 32, 16, 3, 3, 1.0}, Blocks{64, 64, 32, 32, 16, 2, 3, 0.98}};
  if (dtype == Dtype::f64) return eight;
  return two;
}

// Share of the tensor cores' rate that this kernel reaches beside its outputs: an H200 multiplied 4096 x 4096 of f64 at
// 50 of 67 TFLOP/s, and of 16-bit floats, which it does not bring fast enough, at 320 of 989.
constexpr double efficiency_64 = 0.75, efficiency_16 = 0.322;

double unit_operations(Dtype dtype, const DeviceModel& device) {
  if (device::is_host(device)) return dtype == Dtype::f64 ? device.f64_rate : device.f32_rate;
  return dtype == Dtype::f64 ? efficiency_64 * device.tensor_64_rate : efficiency_16 * device.tensor_16_rate;
}

/// Why no block of this variant takes the product; empty when one may.
std::string unfit(const Product& product, const DeviceModel& device) {
  const bool two_bytes = product.in == Dtype::f16 || product.in == Dtype::bf16;
  if (!has_warps(device) || compute_capability(device) < 80)
    return "tensor cores for f64 and bf16 need an NVIDIA card of compute capability 8.0 or later";
  if (product.in != Dtype::f64 && !two_bytes)
    return concat("tensor cores would not sum ", name(product.in), " as exactly as is promised");
  if (product.m.extent == 1) return "for a vector, most of a fragment would be empty";
  return lies_apart(product);
}

// Of an output's epilogue, whose stores are pairs in eight rows at a time: 2617 x 13 by 13 x 2664 of f16 took an H200
// 25 to 30 us, where memory takes 3.
constexpr double output_operations = 50;

/// A product cut into such blocks.
struct Form : Blocks {
  const ProductProblem& problem;
  const DeviceModel& device;
  i64 element = size_of(problem.in), depth;  // bytes; k's of an instruction
  i64 bytes_a, bytes_b;                      // of a piece
  bool pairs_c;                              // C is stored two elements at a time
  Parts parts;

  Form(const Blocks& blocks, const ProductProblem& problem, const Configuration& wish, const DeviceModel& device)
      : Blocks(blocks), problem(problem), device(device) {
    for (const auto& [name, member] : tunables_of_blocks) this->*member = value_or(wish, name, blocks.*member);
    const bool old = element == 8 && compute_capability(device) < 90;
    depth = value_or(wish, "depth", old ? 4 : std::min<i64>(16, step));
    const i64 widest = std::max(element, wish.at("access"));
    bytes_a = aligned_bytes(problem, &Loop::in, widest);
    bytes_b = aligned_bytes(problem, &Loop::other, widest);
    parts = parts_of(problem, problem.blocks(m, n), step, wish.at("split"), device);
    pairs_c = parts.count == 1 && stores_pairs(problem);
  }

  i64 items() const { return warp_items * (m / warp_m) * (n / warp_n); }

  i64 tile_bytes(i64 block, bool along_x) const {
    const i64 pad = element == 8 ? 4 : 8;
    return element * (along_x ? step * (block + pad) : block * (step + pad));
  }

  Group group() const {
    return {items(), stages * (tile_bytes(m, problem.m.in == 1) + tile_bytes(n, problem.n.other == 1))};
  }

  /// Empty when it is one that the kernel can be compiled for.
  std::string impossible() const {
    if (m % warp_m != 0 || n % warp_n != 0) return "a block is not made of whole warps";
    if (element == 2 ? depth != 16 : depth > 4 && compute_capability(device) < 90)
      return concat("no instruction takes ", depth, " k's of ", name(problem.in), " on ", device.architecture);
    if (step % depth != 0) return "a step is not made of whole instructions";
    for (const auto& [block, bytes] : {std::pair{m, bytes_a}, std::pair{n, bytes_b}})
      if (block * step * element % (bytes * items()) != 0)
        return concat("tiles cannot be divided evenly among ", items(), " work-items");
    return beyond_limits(device, group());
  }

  /// No more resident groups than registers are for, where it is possible.
  void fit_registers() {
    const i64 sums = warp_m * warp_n / warp_items * arithmetic_of(problem.in).scalar_bytes / 4;
    resident = std::max<i64>(1, resident_groups(resident, items(), sums));
  }

  /// Share of the rate that pieces of less than 16 bytes leave, which are more instructions: 4096 x 4096 of f16 took an
  /// H200 419 us, with rows apart by a multiple of 8 bytes 456, of 4 bytes 533. That of 2 bytes is fitted with what
  /// step_latencies says of them.
  double share_of_pieces() const {
    const i64 bytes = std::min(bytes_a, bytes_b);
    return bytes == 16 ? 1 : bytes == 8 ? 0.92 : bytes == 4 ? 0.79 : 0.6;
  }

  /// Operations of a unit: fewer where local memory holds fewer groups of a compute unit than registers do. With one
  /// for two, in 4 stages of 64, 4096 x 4096 of f16 took an H200 529 us, not 417.
  double rate() const {
    constexpr double too_few = 0.79;
    const bool held = size_t(resident * group().local_bytes) <= device.local_memory_max;
    return unit_operations(problem.in, device) * efficiency * share_of_pieces() * (held ? 1 : too_few);
  }

  /// Latencies of a load that a step takes by itself. No copy is asynchronous of less than 4 bytes: single elements of
  /// 16 bits pass through registers, and the loads of five of an item's wait together.
  double step_latencies() const {
    // As of "tile"; and 2569 x 1011 by 1011 x 4, 1003 x 1153 by 1153 x 25 and 20 x 3049 by 3049 x 3452 of f16, which
    // took an H200 31, 35 and 37 us.
    constexpr double whole = 1.6, singles_in_flight = 5;
    constexpr i64 least_copy = 4;  // bytes
    const i64 singles = (bytes_a < least_copy ? m : 0) + (bytes_b < least_copy ? n : 0);
    const i64 of_item = singles * step / items();
    return whole + of_item / singles_in_flight;
  }

  double seconds() const {
    const i64 groups = problem.blocks(m, n) * parts.count;
    // Fewer groups than a compute unit holds share its rate among fewer.
    const double held = std::min<double>(resident, std::ceil(groups / device.units()));
    const double rounds = std::max(1.0, groups / (held * device.units()));
    const i64 steps = ceil_div(std::min(parts.k_per_group, problem.k.extent), step);
    const double operations = 2 * held * (m * n * steps * step);
    const double waits = (block_latencies + steps * step_latencies()) * device.latency;
    const double round = std::max(operations / rate(), waits);
    return product_time(rounds * round, bytes_touched(problem), parts.count > 1 ? 2 : 1, device) +
           outputs_seconds(problem, output_operations, device) + partial_seconds(problem, parts.count, device);
  }

  /// The wish with nothing left open but a split that its tunable does not list.
  Configuration resolved(Configuration values) const {
    for (const auto& [name, member] : tunables_of_blocks) values[name] = this->*member;
    values["depth"] = depth;
    values["split"] = parts.count;
    return values;
  }

  Launches launches(i64 band) const {
    ProductLaunch main("matmul/mma", problem, group());
    main.launch.kernel.resident = resident;
    main.defines()
        .set("WARP_M", warp_m)
        .set("WARP_N", warp_n)
        .set("STEP_K", step)
        .set("STAGES", stages)
        .set("DEPTH", depth)
        .set("BAND", band)
        .set("BYTES_A", bytes_a)
        .set("BYTES_B", bytes_b)
        .set("PAIRS_C", pairs_c);
    return in_blocks(std::move(main), m, n, parts, device);
  }
};

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (std::string why = unfit(problem, device); !why.empty()) return refuse(std::move(why));
  Best<Form> best;
  for (const Blocks& blocks : blocks_for(problem.in)) {
    Form form(blocks, problem, wish, device);
    best.refusal = form.impossible();
    if (!best.refusal.empty()) continue;
    form.fit_registers();
    best.offer(form, form.seconds());
  }
  if (!best.form) return refuse(best.refusal);
  const Form& form = *best.form;
  return {.group = largest_group(form.group(), form.parts, device),
          .seconds = best.seconds,
          .configuration = form.resolved(wish),
          .launches = [=, band = wish.at("band")] { return form.launches(band); }};
}

}  // namespace

ProductCandidate mma_product() {
  return {
      {.name = "mma",
       .summary = "f64 and 16-bit floats by NVIDIA's tensor cores",
       .tunables =
           {{"block_m", 0, zero_or_doublings(32, 256), "rows", "of C a group makes; 0: by type and size"},
            {"block_n", 0, zero_or_doublings(32, 256), "columns", "of C a group makes; 0: by type and size"},
            {"warp_m", 0, {0, 16, 32, 64}, "rows", "of C in a warp's registers; 0: by type and size"},
            {"warp_n", 0, {0, 16, 32, 64}, "columns", "of C in a warp's registers; 0: by type and size"},
            {"step_k", 0, zero_or_doublings(8, 64), "elements",
             "of k in a stage of local memory; 0: 64 or 32 of 16 bits, 16 of f64"},
            {"stages",
             0,
             {0, 2, 3, 4},
             "tiles",
             "in local memory, all but one under way; 0: 3, or 2 where 3 do not fit"},
            {"depth",
             0,
             {0, 4, 8, 16},
             "elements",
             "of k an instruction takes; 0: 16, or as many as a step has; of f64 before sm_90 4"},
            {"access", 16, doublings(2, 16), "bytes", "widest piece copied; the widest that alignment allows is taken"},
            {"band", 8, doublings(1, 32), "blocks", "rows of blocks that groups walk down before they move along n"},
            {"resident", 0, {0, 1, 2, 3, 4}, "groups", "of a compute unit that registers are fitted to; 0: by block"},
            split_tunable()},
       .chosen_on = gpus},
      propose};
}

}  // namespace axisloom::ops
