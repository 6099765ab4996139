// Variant "gemv": a vector times a matrix, or the dot product of two vectors, each element read once and in order.
#include "core/integers.hpp"
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

std::vector<Tunable> tunables() {
  return {
      {"items", 256, {1, 32, 64, 128, 256, 512, 1024}, "work-items", "group size on GPUs; a CPU group is one item"},
      {"wide", 0, {0, 1, 32, 64, 128, 256, 512, 1024}, "work-items", "side by side along k; 0: by k"},
      {"width", 0, {0, 1, 2, 4, 8, 16, 64, 256, 512, 1024}, "sums", "of one item; 0: by orientation and device"},
      {"part",
       0,
       {0, 256, 1024, 4096, 16384, 65536, i64{1} << 40},
       "elements",
       "of k that a group takes; 0: by size, to fill the device",
       true},
  };
}

// Estimates, all of them. k's of a group at least, where neighbours lie together along k, and where along n:
constexpr i64 least_along_k = 4096, least_across_k = 64;
// k's from which sums are long, and how many items share a long one and a short one:
constexpr i64 long_k = 2048, long_k_items = 256, short_k_items = 32;
// Sums of an item:
constexpr i64 cpu_sums_along_k = 64, cpu_sums_across_k = 1024, gpu_sums_along_k = 8, gpu_sums_across_k = 1;
// Groups of the whole problem, at most where k is cut:
constexpr i64 cpu_groups = 64, gpu_groups = 1024;

// Of the peak, where arithmetic and not memory bounds (an estimate).
constexpr double efficiency = 0.25;

struct Shape {
  bool along_k;
  i64 items, wide, width;
  i64 blocks_n;
  Parts parts;
};

// k's that a group of the whole problem should take: enough that a group's start does not show, and no more than leave
// several groups for every compute unit. Powers of two, so that the order of additions follows from the shape alone.
i64 k_of_group(const ProductProblem& problem, i64 blocks, i64 least, const DeviceModel& device) {
  const i64 groups = device.is_cpu() ? cpu_groups : gpu_groups;
  i64 part = least;
  while (part < problem.product.k.extent && blocks * ceil_div(problem.product.k.extent, part) > groups) part *= 2;
  return part;
}

Shape shape_of(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  const Product& product = problem.product;
  const bool cpu = device.is_cpu();
  Shape shape{};
  shape.along_k = product.n.other != 1 || product.n.extent == 1;
  shape.items = cpu ? 1 : wish.at("items");
  const i64 wide = value_or(wish, "wide", product.k.extent >= long_k ? long_k_items : short_k_items);
  shape.wide = shape.along_k ? std::min(wide, shape.items) : 1;
  const i64 along_k = cpu ? cpu_sums_along_k : gpu_sums_along_k, across_k = cpu ? cpu_sums_across_k : gpu_sums_across_k;
  shape.width = value_or(wish, "width", shape.along_k ? along_k : across_k);
  shape.blocks_n = ceil_div(product.n.extent, shape.along_k ? shape.items / shape.wide : shape.items * shape.width);
  const i64 least = shape.along_k ? std::max(least_along_k, shape.wide * shape.width) : least_across_k;
  const i64 k = value_or(wish, "part", k_of_group(problem, shape.blocks_n * problem.batch_count(), least, device));
  shape.parts = {std::max<i64>(1, ceil_div(product.k.extent, k)), k};
  return shape;
}

/// Items that share a sum add theirs up in local memory.
Group group_of(const ProductProblem& problem, const Shape& shape) {
  return {shape.items, shape.wide > 1 ? shape.items * arithmetic_of(problem.product.in).accumulator_bytes() : 0};
}

double predicted_seconds(const ProductProblem& problem, const Shape& shape, const DeviceModel& device) {
  const Product& product = problem.product;
  const bool in_parts = shape.parts.count > 1;
  const double partial = in_parts ? 2 * double(partial_bytes(problem, shape.parts.count)) : 0;
  // Items that have no k or n of their own idle: so many times the work.
  const double idle = shape.along_k ? std::max(1.0, double(shape.wide) / std::max<double>(1, double(product.k.extent)))
                                    : double(shape.blocks_n * shape.items * shape.width) / double(product.n.extent);
  const double compute = compute_seconds(product, arithmetic_operations(problem) * idle, efficiency, device);
  return product_time(compute, bytes_touched(problem) + partial, in_parts ? 2 : 1, device);
}

Launches launch_gemv(const ProductProblem& problem, const Shape& shape, const DeviceModel& device) {
  const Product& product = problem.product;
  ProductLaunch main("matmul/gemv", problem, group_of(problem, shape));
  main.defines().set("ALONG_K", shape.along_k).set("WIDTH", shape.width);
  if (shape.along_k) main.defines().set("WIDE", shape.wide);
  // Only a CPU's compiler makes vectors of what lies together; for GPUs one kernel serves all strides.
  const bool cpu = device.is_cpu();
  main.defines().set("A_CONTIGUOUS", cpu && product.k.in == 1).set("B_CONTIGUOUS", cpu && product.k.other == 1);
  main.params.blocks_n = shape.blocks_n;
  return in_parts(std::move(main), shape.parts, shape.blocks_n * problem.batch_count(), device);
}

Proposal propose(const ProductProblem& problem, const Configuration& wish, const DeviceModel& device) {
  if (problem.product.m.extent != 1) return refuse("neither operand is a vector");
  const Shape shape = shape_of(problem, wish, device);
  if (shape.items == 1 && !device.is_cpu()) return refuse(single_items);
  Configuration values = wish;
  values["items"] = shape.items;
  values["wide"] = shape.wide;
  values["part"] = shape.parts.k_per_group;
  values["width"] = shape.width;
  return {.group = largest_group(group_of(problem, shape), shape.parts, device),
          .seconds = predicted_seconds(problem, shape, device),
          .configuration = values,
          .launches = [=, &problem, &device] { return launch_gemv(problem, shape, device); }};
}

}  // namespace

ProductCandidate gemv_product() {
  return {{.name = "gemv",
           .summary = "a vector and a matrix, or two vectors, read once and in order",
           .tunables = tunables()},
          propose};
}

}  // namespace axisloom::ops
