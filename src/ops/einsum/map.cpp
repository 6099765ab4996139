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

constexpr std::int64_t segment = 1024;  // elements that a CPU item takes at a time
constexpr std::int64_t share_elements = 1
                                        << 15;  // of a CPU group: long against its start, short against a core's share
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
    product.batch.push_back({loop.extent, loop.in, loop.other, loop.out, loop.addend});
  }
  product.a = {.k = row.in, .offset = map.in_offset};
  product.b = {.n = row.other, .offset = map.other_offset};
  product.c = {.n = row.out, .offset = map.out_offset};
  if (map.adds) product.d = {.n = row.addend, .offset = map.addend_offset};
  product.alpha = map.alpha;
  product.beta = map.beta;
  product.relu = map.relu;
  return product;
}

bool fits_32_bits(const Map& map) {
  double in = 0, other = 0, out = 0, addend = 0, points = gpu_items;
  for (const MapLoop& loop : map.loops) {
    const auto extent = static_cast<double>(loop.extent);
    in += extent * std::abs(static_cast<double>(loop.in));
    other += extent * std::abs(static_cast<double>(loop.other));
    out += extent * std::abs(static_cast<double>(loop.out));
    addend += extent * std::abs(static_cast<double>(loop.addend));
    points *= extent;
  }
  return std::max({in, other, out, addend, points}) < static_cast<double>(std::numeric_limits<std::int32_t>::max());
}

double bytes_moved(const Map& map) {
  double in = static_cast<double>(size_of(map.from)), other = in, out = static_cast<double>(size_of(map.to)),
         addend = out;
  for (const MapLoop& loop : map.loops) {
    const auto extent = static_cast<double>(loop.extent);
    if (loop.in != 0) in *= extent;
    if (loop.other != 0) other *= extent;
    if (loop.addend != 0) addend *= extent;
    out *= extent;
  }
  return in + (map.multiplies ? other : 0) + out + (map.adds ? addend : 0);
}

void write_from(const Map& map, jit::Defines& defines) {
  const bool is_complex = core::components_of(map.from) == 2;
  defines.set("FROM", memory_type(map.from)).set("FROM_COMPLEX", is_complex ? 1 : 0);
  defines.set("FROM_FORM", map.from == Dtype::f16       ? "FORM_F16"
                           : map.from == Dtype::bf16    ? "FORM_BF16"
                           : map.from == Dtype::boolean ? "FORM_BOOL"
                                                        : "FORM_CAST");
}

/// Steps along a row are constants where they are 0 or 1 and the row is long enough for vectors.
void write_steps(const Map& map, jit::Defines& defines) {
  constexpr std::int64_t long_row = 64;
  const MapLoop row = map.loops.empty() ? MapLoop{} : map.loops.back();
  const auto set = [&](const char* name, bool present, std::int64_t stride, const char* parameter) {
    const bool constant = !present || (row.extent >= long_row && (stride == 0 || stride == 1));
    defines.set(name, constant ? std::to_string(stride) : "((index_t)p." + std::string(parameter) + ")");
  };
  set("STEP_IN", true, row.in, "a_k");
  set("STEP_OTHER", map.multiplies, map.multiplies ? row.other : 0, "b_n");
  set("STEP_OUT", true, row.out, "c_n");
  set("STEP_ADDEND", map.adds, map.adds ? row.addend : 0, "d_n");
  defines.set("MULTIPLY", map.multiplies ? 1 : 0);
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

std::vector<LaunchBuffer> buffers_of(const Map& map, bool reads_addend) {
  const auto from = static_cast<std::int64_t>(size_of(map.from)), to = static_cast<std::int64_t>(size_of(map.to));
  std::vector<LaunchBuffer> buffers{{0, map.in_offset, from}};
  int view = 1;
  if (map.multiplies) buffers.push_back({view++, map.other_offset, from});
  if (map.adds && reads_addend) buffers.push_back({view, map.addend_offset, to});
  buffers.push_back({view + (map.adds ? 1 : 0), map.out_offset, to});
  return buffers;
}

}  // namespace

std::shared_ptr<PlanImpl> plan_map(const Map& map, const Device& device, const PlanOptions& options) {
  for (const Dtype dtype : {map.from, map.to})
    if (core::component_of(dtype) == Dtype::f64 && !device.info().f64)
      throw Error(Errc::unsupported, "the device has no f64, which " + std::string(name(dtype)) + " needs",
                  "use f32 or c64, or another device");
  if (map.loops.size() > max_rank)
    throw Error(Errc::unsupported,
                "arrays are multiplied or converted over " + std::to_string(map.loops.size()) +
                    " axes that cannot be merged, and kernels walk at most " + std::to_string(max_rank),
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
  write_steps(map, launch.kernel.defines);
  ProductParams params = params_of(problem);
  share_out(device.info(), problem.batch_count(), params, launch);
  launch.params = params_bytes(params);
  launch.buffers = buffers_of(map, adds_d(problem.product));
  plan->launches.push_back(std::move(launch));
  compile(*plan);
  return plan;
}

}  // namespace axisloom::ops
