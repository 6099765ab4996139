// Variant "gemv": a vector times a matrix, or the dot product of two vectors, each element read once and in order.
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"
#include "ops/matmul/variants.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

const std::vector<tune::Tunable>& tunables() {
  static const std::vector<tune::Tunable> list = {
      {"items", 256, {32, 64, 128, 256, 512, 1024}, "work-items", "group size on GPUs; a CPU group is one item"},
      {"wide", 0, {0, 1, 32, 64, 128, 256, 512, 1024}, "work-items", "side by side along k; 0: by k"},
      {"width", 0, {0, 1, 2, 4, 8, 16, 64, 256, 512, 1024}, "sums", "of one item; 0: by orientation and device"},
      {"part",
       0,
       {0, 256, 1024, 4096, 16384, 65536},
       "elements",
       "of k that a group takes; 0: by size, to fill the device"},
  };
  return list;
}

struct Shape {
  bool along_k;
  std::int64_t items, wide, width;
  std::int64_t blocks_n, part, parts;
};

// k's that a group of the whole problem should take: enough that a group's start does not show, and no more than leave
// several groups for every compute unit. Powers of two, so that the order of additions follows from the shape alone.
std::int64_t part_of(const ProductProblem& problem, std::int64_t blocks, std::int64_t least, const DeviceInfo& device) {
  const bool cpu = device.kind == Kind::cpu;
  const std::int64_t groups = cpu ? 64 : 1024;
  std::int64_t part = least;
  while (part < problem.product.k && blocks * ceil_div(problem.product.k, part) > groups) part *= 2;
  return part;
}

Shape shape_of(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Product& product = problem.product;
  const bool cpu = device.kind == Kind::cpu;
  Shape shape{};
  shape.along_k = product.b.n != 1 || product.n == 1;
  shape.items = cpu ? 1 : values.at("items");
  shape.wide = values.at("wide") != 0 ? values.at("wide") : product.k >= 2048 ? 256 : 32;
  shape.wide = shape.along_k ? std::min(shape.wide, shape.items) : 1;
  const std::int64_t otherwise = cpu ? (shape.along_k ? 64 : 1024) : shape.along_k ? 8 : 1;
  shape.width = values.at("width") != 0 ? values.at("width") : otherwise;
  shape.blocks_n = ceil_div(product.n, shape.along_k ? shape.items / shape.wide : shape.items * shape.width);
  const std::int64_t least = shape.along_k ? std::max<std::int64_t>(4096, shape.wide * shape.width) : 64;
  const std::int64_t blocks = shape.blocks_n * problem.batch_count();
  shape.part = values.at("part") != 0 ? values.at("part") : part_of(problem, blocks, least, device);
  shape.parts = std::max<std::int64_t>(1, ceil_div(product.k, shape.part));
  return shape;
}

std::int64_t accumulator_bytes(const ProductProblem& problem) {
  const Arithmetic arithmetic = arithmetic_of(problem.product.in);
  return arithmetic.scalar_bytes * (arithmetic.is_complex ? 2 : 1);
}

/// Items that share a sum add theirs up in local memory.
std::int64_t local_bytes(const ProductProblem& problem, const Shape& shape) {
  return shape.wide > 1 ? shape.items * accumulator_bytes(problem) : 0;
}

Verdict consider(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  if (problem.product.m != 1) return Verdict::refuse("neither operand is a vector");
  const Shape shape = shape_of(problem, values, device);
  if (std::string beyond = beyond_limits(device, shape.items, local_bytes(problem, shape)); !beyond.empty())
    return Verdict::refuse(std::move(beyond));
  const double partial = shape.parts > 1 ? 2 * static_cast<double>(partial_bytes(problem, shape.parts)) : 0;
  const double bytes = bytes_touched(problem) + partial;
  // Items that have no k or n of their own idle: so many times the work.
  const double idle =
      shape.along_k
          ? std::max(1.0, static_cast<double>(shape.wide) / std::max<double>(1, static_cast<double>(problem.product.k)))
          : static_cast<double>(shape.blocks_n * shape.items * shape.width) / static_cast<double>(problem.product.n);
  return Verdict::accept(
      product_time(problem, arithmetic_operations(problem) * idle, 0.25, bytes, shape.parts > 1 ? 2 : 1, device));
}

ProductLaunches lower(const ProductProblem& problem, const Configuration& values, const DeviceInfo& device) {
  const Product& product = problem.product;
  const Shape shape = shape_of(problem, values, device);
  Launch launch;
  launch.kernel = {"matmul/gemv.kernel", "gemv", {}, static_cast<unsigned>(shape.items), false, true};
  jit::Defines& defines = launch.kernel.defines;
  write_defines(problem, defines);
  defines.set("ALONG_K", shape.along_k ? 1 : 0).set("WIDTH", shape.width).set("SPLIT", shape.parts > 1 ? 1 : 0);
  if (shape.along_k) defines.set("WIDE", shape.wide);
  // Only a CPU's compiler makes vectors of what lies together; for GPUs one kernel serves all strides.
  const bool cpu = device.kind == Kind::cpu;
  defines.set("A_TOGETHER", cpu && product.a.k == 1 ? 1 : 0).set("B_TOGETHER", cpu && product.b.k == 1 ? 1 : 0);
  ProductParams params = params_of(problem);
  params.blocks_n = shape.blocks_n;
  params.blocks_k = shape.parts;
  params.share = shape.part;
  params.work = problem.batch_count();
  launch.geometry.items = static_cast<unsigned>(shape.items);
  launch.geometry.groups = static_cast<std::uint64_t>(shape.blocks_n * shape.parts * params.work);
  launch.geometry.local_bytes = static_cast<std::size_t>(local_bytes(problem, shape));
  launch.params = params_bytes(params);
  launch.buffers = {buffer_a(problem), buffer_b(problem)};
  if (shape.parts == 1) {
    append_results(problem, launch.buffers);
    return {{std::move(launch)}, 0};
  }
  launch.buffers.push_back(buffer_workspace(accumulator_bytes(problem)));
  const auto bytes = static_cast<std::size_t>(partial_bytes(problem, shape.parts));
  return {{std::move(launch), combine_launch(problem, shape.parts, device)}, bytes};
}

}  // namespace

ProductCandidate gemv_candidate() {
  return {{"gemv", "a vector and a matrix, or two vectors, read once and in order", tunables(), true, true},
          consider,
          lower};
}

}  // namespace axisloom::ops
