// Variant "tile": a square of outputs in the registers of every item, tiles of A and B in local memory. For GPUs.
#include "core/integers.hpp"
#include "core/text.hpp"
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"
#include "planner/choose.hpp"

#include <algorithm>
#include <array>
#include <utility>

namespace axisloom::ops {
namespace {

/// Blocks that are compiled for a type of sums, and how fast a compute unit makes them. Measured of f32 on an H200, ns
/// for each k of one block and of two at a time: 128 x 128 112 and 195, 128 x 64 69 and 138, 64 x 64 48 and 75, 32 x 32
/// 42 and of eight 86, which with few k's, for which these are chosen, is more like 130 (500 products of 32 x 32 x 32:
/// 9.6 us); of c64 64 x 64 138 for one, 32 x 32 72 for two. Steps are so long that memory keeps up with one
/// block: with 128 x 64, 1024 x 1024 from a cold cache took 73 us with 16, 89 with 8; with 32 x 32, 32 x 4096 by 4096 x
/// 4224 took 174 us with 16, 288 with 8.
struct Blocks {
  i64 m, n, tile_m, tile_n, step;
  double efficiency;               // share of the peak, with blocks enough
  i64 concurrent_blocks;           // that a unit makes at the same time
  double single_block_efficiency;  // rate of one by itself, against that
};

/// The largest first.
std::span<const Blocks> blocks_for(Dtype dtype) {
  static constexpr std::array four = {Blocks{128, 128, 8, 8, 8, 0.66, 2, 0.87}, Blocks{128, 64, 8, 8, 16, 0.47, 2, 1},
                                      Blocks{64, 64, 4, 4, 16, 0.43, 2, 0.78}, Blocks{32, 32, 4, 4, 16, 0.25, 8, 0.4}};
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

/// Tunables, and what they say of a block.
constexpr std::pair<const char*, i64 Blocks::*> tunables_of_blocks[] = {{"block_m", &Blocks::m},
                                                                        {"block_n", &Blocks::n},
                                                                        {"tile_m", &Blocks::tile_m},
                                                                        {"tile_n", &Blocks::tile_n},
                                                                        {"step_k", &Blocks::step}};

/// Elements of an access, when neighbours lie together and every start is aligned.
i64 vector_of(const Product& product, Operand operand, i64 most_bytes) {
  const Dtype dtype = operand == &Loop::out ? product.out : product.in;
  const i64 element = size_of(dtype);
  if (!is_contiguous(product, operand) || arithmetic_of(dtype).is_complex) return 1;
  // Whole packets or single elements: what lies between would only be more kernels.
  const i64 whole = std::min({i64{16}, 4 * element, most_bytes});
  if (whole <= element) return 1;
  return aligned_bytes(product, operand, whole) == whole ? whole / element : 1;
}

/// A product cut into such blocks.
struct Form : Blocks {
  const ProductProblem& problem;
  const DeviceModel& device;
  Configuration values;
  Arithmetic arithmetic = arithmetic_of(problem.in);
  i64 strip;
  i64 vector_a, vector_b, vector_c;  // elements of an access
  Parts parts;

  Form(const Blocks& blocks, const ProductProblem& problem, const Configuration& wish, const DeviceModel& device)
      : Blocks(blocks), problem(problem), device(device), values(wish) {
    for (const auto& [name, member] : tunables_of_blocks) this->*member = value_or(wish, name, blocks.*member);
    strip = std::min<i64>({arithmetic.is_complex ? 1 : 16 / arithmetic.scalar_bytes, tile_m, tile_n});
    set_vectors();
  }

  void set_vectors() {
    const auto widest = [&](Operand operand) { return vector_of(problem, operand, values.at("access")); };
    vector_a = widest(&Loop::in);
    vector_b = widest(&Loop::other);
    // Where B comes by single elements, C would only be one more kernel.
    vector_c = widest(&Loop::out) >= strip && (vector_b > 1 || strip == 1) ? strip : 1;
    // Of small products, which the smallest blocks are for, little is gained by half of it.
    if (m * n > 32 * 32) return;
    vector_c = 1;
    if (vector_a == 1 || vector_b == 1) vector_a = vector_b = 1;
  }

  i64 items() const { return m / tile_m * (n / tile_n); }

  Group group() const {
    return {items(), values.at("buffers") * step * (m + n + 2 * strip) * arithmetic.accumulator_bytes()};
  }

  /// Blocks that are not square are for A by rows, and all aligned: there would be too many kernels, and of single
  /// elements they are slower than others (997 x 1009 by 1009 x 1021 131 us, of 64 x 64 86).
  bool worth_a_kernel(const Blocks& blocks) const {
    return blocks.m == blocks.n || (vector_a > 1 && vector_b > 1 && problem.m.in != 1);
  }

  /// Empty when it is one that the kernel can be compiled for.
  std::string impossible() const {
    if (m % (4 * tile_m) != 0 || n % (8 * tile_n) != 0) return "a block is not made of warps of 4 x 8 tiles";
    const auto deals = [&](i64 side, i64 vector) {
      return step % vector == 0 && side * step % (vector * items()) == 0;
    };
    if (!deals(m, vector_a) || !deals(n, vector_b))
      return concat("tiles cannot be divided evenly among ", items(), " work-items");
    return beyond_limits(device, group());
  }

  /// Counts of parts worth a thought: few, and those with which the last round of blocks is nearly full.
  std::vector<i64> possible_parts() const {
    if (const i64 forced = values.at("split"); forced != 0) return {forced};
    constexpr i64 least_block = 64 * 64, least_k = 256, most_bytes = i64{64} << 20;  // outputs, k's; estimates
    std::vector<i64> list{1};
    if (device.is_cpu() || m * n < least_block) return list;
    const i64 groups = std::max<i64>(1, problem.blocks(m, n)), units = device.units();
    for (const i64 count : {i64{2}, i64{3}, i64{4}, i64{5}, units / groups, 2 * units / groups})
      if (count > 1 && problem.k.extent / count >= least_k && partial_bytes(problem, count) <= most_bytes)
        list.push_back(count);
    return list;
  }

  /// Those whose rates it is taken to have: the first that are no larger.
  const Blocks& rates() const {
    const std::span<const Blocks> list = blocks_for(problem.in);
    const auto at = std::ranges::find_if(list, [&](const Blocks& one) { return one.m * one.n <= m * n; });
    return at == list.end() ? list.back() : *at;
  }

  /// Seconds that a compute unit takes for `count` blocks, several at a time. Each has `operations`, waits for its
  /// first loads and its last stores, and takes `least` in between however few operations these are.
  double unit_seconds(double operations, double least, i64 count) const {
    const Blocks& blocks = rates();
    const i64 together = blocks.concurrent_blocks;
    const double rate = blocks.efficiency * unit_peak(problem, device), ends = block_latencies * device.latency;
    const double one = std::max(ends + least, operations / (blocks.single_block_efficiency * rate));
    const double all = ends + std::max(least, operations * together / rate);
    const i64 rounds = count / together, rest = count % together;
    const double last = rest == 0 ? 0 : one + (all - one) * (rest - 1) / (together - 1);
    return rounds * all + last;
  }

  double seconds() const {
    const i64 groups = problem.blocks(m, n) * parts.count, units = device.units();
    const i64 k = std::min(parts.k_per_group, problem.k.extent);
    const double operations = arithmetic.operations() * double(m * n * k), bytes = bytes_touched(problem);
    const int launches = parts.count > 1 ? 2 : 1;
    if (device.is_cpu()) {
      const double all = operations * std::max(groups, 2 * units);
      return product_time(compute_seconds(problem, all, cpu_efficiency, device), bytes, launches, device);
    }
    const double least = ceil_div(k, step) * step_latencies * device.latency;
    return product_time(unit_seconds(operations, least, ceil_div(groups, units)), bytes, launches, device) +
           outputs_seconds(problem, output_operations, device) + partial_seconds(problem, parts.count, device);
  }

  /// Leaves nothing open but a split that its tunable does not list.
  void resolve() {
    for (const auto& [name, member] : tunables_of_blocks) values[name] = this->*member;
    values["split"] = parts.count;
    i64& resident = values["resident"];
    resident = resident_groups(resident, items(), tile_m * tile_n * arithmetic.accumulator_bytes() / 4);
  }

  Launches launches() const {
    ProductLaunch main("matmul/tile", problem, group());
    main.launch.kernel.resident = values.at("resident");
    main.defines()
        .set("TILE_M", tile_m)
        .set("TILE_N", tile_n)
        .set("ELEMENT_BYTES", size_of(problem.in))
        .set("STEP_K", step)
        .set("STRIP", strip)
        .set("BUFFERS", values.at("buffers"))
        .set("VECTOR_A", vector_a)
        .set("VECTOR_B", vector_b)
        .set("ASYNC", values.at("async"))
        .set("BAND", values.at("band"))
        .set("VECTOR_C", parts.count > 1 ? 1 : vector_c);  // partial sums are stored one by one
    return in_blocks(std::move(main), m, n, parts, device);
  }
};

/// Empty when rows of both tiles lie together in memory as they will in local memory.
std::string cannot_copy(const Product& product) {
  if (product.m.in != 1 || product.n.other != 1) return "asynchronous copies need A along m and B along n";
  for (const Dtype dtype : {Dtype::f32, Dtype::f64, Dtype::u32, Dtype::u64})
    if (product.in == dtype) return {};
  return concat("asynchronous copies do not convert ", name(product.in));
}

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (wish.at("async") == 1)
    if (std::string why = cannot_copy(problem); !why.empty()) return refuse(std::move(why));
  Best<Form> best;
  for (const Blocks& blocks : blocks_for(problem.in)) {
    Form form(blocks, problem, wish, device);
    if (!form.worth_a_kernel(blocks)) continue;
    best.refusal = form.impossible();
    if (!best.refusal.empty()) continue;
    for (const i64 count : form.possible_parts()) {
      form.parts = split(problem.k.extent, count, form.step);
      best.offer(form, (count > 1 ? split_penalty : 1) * form.seconds());
    }
  }
  if (!best.form) return refuse(best.refusal);
  Form& form = *best.form;
  form.resolve();
  return {.group = largest_group(form.group(), form.parts, device),
          .seconds = best.seconds,
          .configuration = form.values,
          .launches = [form] { return form.launches(); }};
}

}  // namespace

ProductCandidate tile_product() {
  return {
      {.name = "tile",
       .summary = "outputs in registers, tiles in local memory, on a GPU",
       .tunables = {{"block_m", 0, zero_or_doublings(16, 256), "rows", "of C a group makes; 0: by type and size"},
                    {"block_n", 0, zero_or_doublings(16, 256), "columns", "of C a group makes; 0: by type and size"},
                    {"tile_m", 0, zero_or_doublings(1, 16), "rows", "of C in an item's registers; 0: by type"},
                    {"tile_n", 0, zero_or_doublings(1, 16), "columns", "of C in an item's registers; 0: by type"},
                    {"step_k", 0, zero_or_doublings(4, 32), "elements", "of k in local memory at a time; 0: by type"},
                    {"buffers", 2, {1, 2}, "tiles", "in local memory: with 2 one barrier a step is enough"},
                    {"access", 16, doublings(1, 16), "bytes",
                     "widest global access; the widest that alignment allows is taken"},
                    {"band", 8, doublings(1, 32), "blocks",
                     "rows of blocks that groups walk down before they move along n"},
                    {"resident",
                     2,
                     {0, 1, 2, 3, 4},
                     "groups",
                     "of a compute unit that NVIDIA's compilers fit registers to; 0: they are not told"},
                    {"async", 0, {0, 1}, "", "1: tiles by asynchronous copies; both operands then lie along m and n"},
                    split_tunable()}},
      propose};
}

}  // namespace axisloom::ops
