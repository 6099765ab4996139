// Variant "gemv": a vector times a matrix, or the dot product of two vectors, each element read once and in order.
#include "core/integers.hpp"
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

// Those of CPUs are estimates.
// k's of a group at least, where neighbours lie together along k, and where along n; so few across that they stay in
// one group. 1 x 1024 by 1024 x 1024 floats, cold, took an H200 26 us with 64, 21 with 32, 60 with 256.
constexpr i64 least_along_k = 4096, cpu_least_across_k = 64, gpu_least_across_k = 32, uncut_across_k = 64;
// Sums of an item. With 8 instead of 4, 4096 x 4096 by 4096 x 1 floats took an H200 29 us, not 26, and 512 x 65536 by
// 65536 x 1 59, not 47; with 1 instead of 2, 1 x 4096 by 4096 x 4096 41, not 34.
constexpr i64 cpu_sums_along_k = 64, cpu_sums_across_k = 1024, gpu_sums_along_k = 4, gpu_sums_across_k = 2;
// Groups of the whole problem, at most where k is cut: with twice as many or half as many, 1 x 16777216 by 16777216 x 1
// floats took an H200 1.4 and 1.1 times as long.
constexpr i64 cpu_groups = 64, gpu_groups_along_k = 1024, gpu_groups_across_k = 512;

/// How many items of a GPU share a sum of k products. Floats on an H200, us: 100000 x 48 by 48 x 1 15 with 8 items, 34
/// with 32; 3000 x 500 by 500 x 1 17 with 8, 11 with 32; 777 x 1500 by 1500 x 1 10 with 128, 19 with 32.
i64 items_along(i64 k) {
  constexpr i64 short_k = 256, long_k = 1024;
  return k < short_k ? 8 : k < long_k ? 32 : 128;
}

// Of the peak, where arithmetic and not memory bounds (an estimate).
constexpr double efficiency = 0.25;

/// How sums are dealt out to items, and k to groups.
struct Form {
  const ProductProblem& problem;
  const DeviceModel& device;
  bool cpu = device.is_cpu(), along_k = problem.n.other != 1 || problem.n.extent == 1;
  i64 items, wide, width, blocks_n;
  Parts parts;

  Form(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device)
      : problem(problem), device(device) {
    items = cpu ? 1 : wish.at("items");
    const i64 k = problem.k.extent, sums_along_k = cpu ? cpu_sums_along_k : gpu_sums_along_k,
              sums_across_k = cpu ? cpu_sums_across_k : gpu_sums_across_k;
    wide = along_k ? std::min(value_or(wish, "wide", items_along(k)), items) : 1;
    width = value_or(wish, "width", along_k ? sums_along_k : sums_across_k);
    blocks_n = ceil_div(problem.n.extent, along_k ? items / wide : items * width);
    parts.k_per_group = value_or(wish, "part", k_of_group());
    parts.count = std::max<i64>(1, ceil_div(k, parts.k_per_group));
  }

  /// Of the whole batch.
  i64 blocks() const { return blocks_n * problem.batch_count(); }

  /// k's that a group should take: enough that a group's start does not show, and no more than leave several groups for
  /// every compute unit. Powers of two, so that the order of additions follows from the shape alone.
  i64 k_of_group() const {
    const i64 groups = cpu ? cpu_groups : along_k ? gpu_groups_along_k : gpu_groups_across_k, k = problem.k.extent;
    const i64 across = k <= uncut_across_k ? uncut_across_k : cpu ? cpu_least_across_k : gpu_least_across_k;
    i64 part = along_k ? std::max(least_along_k, wide * width) : across;
    while (part < k && blocks() * ceil_div(k, part) > groups) part *= 2;
    return part;
  }

  /// Items that share a sum add theirs up in local memory.
  Group group() const { return {items, wide > 1 ? items * arithmetic_of(problem.in).accumulator_bytes() : 0}; }

  double seconds() const {
    const bool in_parts = parts.count > 1;
    const double partial = in_parts ? 2.0 * partial_bytes(problem, parts.count) : 0;
    // Items that have no k or n of their own idle: so many times the work.
    const double idle = along_k ? std::max(1.0, wide / std::max<double>(1, problem.k.extent))
                                : double(blocks_n * items * width) / problem.n.extent;
    const double compute = compute_seconds(problem, arithmetic_operations(problem) * idle, efficiency, device);
    return product_time(compute, bytes_touched(problem) + partial, in_parts ? 2 : 1, device);
  }

  Launches launches() const {
    ProductLaunch main("matmul/gemv", problem, group());
    main.defines().set("ALONG_K", along_k).set("WIDTH", width);
    if (along_k) main.defines().set("WIDE", wide);
    // Only a CPU's compiler makes vectors of what lies together; for GPUs one kernel serves all strides.
    main.defines().set("A_CONTIGUOUS", cpu && problem.k.in == 1).set("B_CONTIGUOUS", cpu && problem.k.other == 1);
    main.params.blocks_n = blocks_n;
    return in_parts(std::move(main), parts, blocks(), device);
  }
};

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (problem.m.extent != 1) return refuse("neither operand is a vector");
  const Form form(problem, wish, device);
  if (form.items == 1 && !form.cpu) return refuse(single_items);
  Configuration values = wish;
  values["items"] = form.items;
  values["wide"] = form.wide;
  values["part"] = form.parts.k_per_group;
  values["width"] = form.width;
  return {.by_name_only = device::is_host(device) ? "gemv_cpu does the same there, compiled with the library" : "",
          .group = largest_group(form.group(), form.parts, device),
          .seconds = form.seconds(),
          .configuration = values,
          .launches = [form] { return form.launches(); }};
}

}  // namespace

ProductCandidate gemv_product() {
  return {
      {.name = "gemv",
       .summary = "a vector and a matrix, or two vectors, read once and in order",
       .tunables =
           {{"items",
             256,
             {1, 32, 64, 128, 256, 512, 1024},
             "work-items",
             "group size on GPUs; a CPU group is one item"},
            {"wide", 0, {0, 1, 8, 32, 64, 128, 256, 512, 1024}, "work-items", "side by side along k; 0: by k"},
            {"width", 0, {0, 1, 2, 4, 8, 16, 64, 256, 512, 1024}, "sums", "of one item; 0: by orientation and device"},
            {"part",
             0,
             {0, 256, 1024, 4096, 16384, 65536, i64{1} << 40},
             "elements",
             "of k that a group takes; 0: by size, to fill the device",
             true}}},
      propose};
}

}  // namespace axisloom::ops
