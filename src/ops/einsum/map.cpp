// The launch of map.kernel.
#include "ops/einsum/map.hpp"

#include "core/number.hpp"
#include "ops/matmul/params.hpp"
#include "ops/rearrange/cost.hpp"

#include <axisloom/error.hpp>

#include <algorithm>
#include <cmath>
#include <limits>

namespace axisloom::ops {
namespace {

constexpr std::int64_t segment = 1024;         // elements that a CPU item takes at a time
constexpr std::int64_t share_elements = 1 << 15;  // of a CPU group: long against its start, short against a core's share
constexpr std::int64_t gpu_items = 256;

/// The product that shares the map's walk, arithmetic and epilogue: rows of n elements over a batch, and no sums.
Product product_of(const Map& map) {
  const MapLoop row = map.loops.empty() ? MapLoop{} : map.loops.back();
  Product product;
  product.in = product.out = map.to;
  product.n = row.extent;
  product.k = 0;
  for (std::size_t i = 0; i + 1 < map.loops.size(); ++i) {
    const MapLoop& loop = map.loops[i];
    product.batch.push_back({loop.extent, loop.in, 0, loop.out, loop.addend});
  }
  product.a = {.k = row.in, .offset = map.in_offset};
  product.c = {.n = row.out, .offset = map.out_offset};
  if (map.adds) product.d = {.n = row.addend, .offset = map.addend_offset};
  product.alpha = map.alpha;
  product.beta = map.beta;
  product.relu = map.relu;
  return product;
}

bool fits_32_bits(const Map& map) {
  double in = 0, out = 0, addend = 0, points = gpu_items;
  for (const MapLoop& loop : map.loops) {
    const auto extent = static_cast<double>(loop.extent);
    in += extent * std::abs(static_cast<double>(loop.in));
    out += extent * std::abs(static_cast<double>(loop.out));
    addend += extent * std::abs(static_cast<double>(loop.addend));
    points *= extent;
  }
  return std::max({in, out, addend, points}) < static_cast<double>(std::numeric_limits<std::int32_t>::max());
}

double bytes_moved(const Map& map) {
  double in = static_cast<double>(size_of(map.from)), out = static_cast<double>(size_of(map.to)), addend = out;
  for (const MapLoop& loop : map.loops) {
    const auto extent = static_cast<double>(loop.extent);
    if (loop.in != 0) in *= extent;
    if (loop.addend != 0) addend *= extent;
    out *= extent;
  }
  return in + out + (map.adds ? addend : 0);
}

void write_from(const Map& map, jit::Defines& defines) {
  const bool is_complex = core::components_of(map.from) == 2;
  defines.set("FROM", memory_type(map.from)).set("FROM_COMPLEX", is_complex ? 1 : 0);
  defines.set("FROM_FORM", map.from == Dtype::f16       ? "FORM_F16"
                           : map.from == Dtype::bf16    ? "FORM_BF16"
                           : map.from == Dtype::boolean ? "FORM_BOOL"
                                                        : "FORM_CAST");
}

bool unit_steps(const Map& map) {
  return !map.loops.empty() && map.loops.back().in == 1 && map.loops.back().out == 1 &&
         (!map.adds || map.loops.back().addend == 1);
}

/// How the work is dealt out: an element per item on GPUs, pieces of rows per group on CPUs.
void share_out(const DeviceInfo& device, std::int64_t rows, ProductParams& params, Launch& launch) {
  if (device.kind == Kind::gpu) {
    params.work = rows * params.n;
    launch.geometry.items = static_cast<unsigned>(gpu_items);
    launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(params.work, gpu_items));
  } else {
    params.blocks_n = ceil_div(params.n, segment);
    params.work = rows * params.blocks_n;
    params.share = std::max<std::int64_t>(1, share_elements / std::min(params.n, segment));
    launch.geometry.items = 1;
    launch.geometry.groups = static_cast<std::uint64_t>(ceil_div(params.work, params.share));
    launch.kernel.defines.set("SEGMENT", segment);
  }
  launch.kernel.items = launch.geometry.items;
}

}  // namespace

std::shared_ptr<PlanImpl> plan_map(const Map& map, const Device& device, const PlanOptions& options) {
  for (const Dtype dtype : {map.from, map.to})
    if (core::component_of(dtype) == Dtype::f64 && !device.info().f64)
      throw Error(Errc::unsupported, "the device has no f64, which " + std::string(name(dtype)) + " needs",
                  "use f32 or c64, or another device");
  if (map.loops.size() > most_batch_axes)
    throw Error(Errc::unsupported, "an array of more than " + std::to_string(most_batch_axes) + " separate axes",
                "rearrange the arrays first");
  const bool wide = options.index == IndexWidth::bits64 || !fits_32_bits(map);
  const ProductProblem problem{product_of(map), wide ? 64 : 32};
  auto plan = std::make_shared<PlanImpl>();
  plan->device = device;
  plan->checked = options.checked;
  plan->report.candidate = "map";
  plan->report.index = wide ? IndexWidth::bits64 : IndexWidth::bits32;
  plan->report.expected_seconds = transfer_seconds(bytes_moved(map), device.info());
  Launch launch;
  launch.kernel.file = "einsum/map.kernel";
  launch.kernel.kernel = "map";
  write_defines(problem, launch.kernel.defines);
  write_from(map, launch.kernel.defines);
  launch.kernel.defines.set("UNIT", unit_steps(map) ? 1 : 0);
  ProductParams params = params_of(problem);
  share_out(device.info(), problem.batch_count(), params, launch);
  launch.params = params_bytes(params);
  launch.buffers = {{0, map.in_offset, static_cast<std::int64_t>(size_of(map.from))}};
  const auto size = static_cast<std::int64_t>(size_of(map.to));
  if (adds_d(problem.product)) launch.buffers.push_back({1, map.addend_offset, size});
  launch.buffers.push_back({map.adds ? 2 : 1, map.out_offset, size});
  plan->launches.push_back(std::move(launch));
  compile(*plan);
  return plan;
}

}  // namespace axisloom::ops
