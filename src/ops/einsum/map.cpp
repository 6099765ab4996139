// The launch of map.kernel.
#include "ops/einsum/map.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "model/cost.hpp"
#include "ops/einsum/lowering.hpp"
#include "ops/matmul/params.hpp"
#include "ops/scalar_type.hpp"
#include "planner/choose.hpp"

#include <algorithm>
#include <limits>
#include <utility>

namespace axisloom::ops {
namespace {

// As the moves' "plain" has them, whose groups take 128 KiB: of floats as many. Not measured for maps.
constexpr i64 segment = 1024;            // elements that a CPU item takes at a time
constexpr i64 group_elements = 1 << 15;  // of a CPU group: long against its start, short against a core's share
constexpr i64 gpu_items = 256;

/// The product that shares the map's walk, arithmetic and epilogue: rows of n elements over a batch.
Product product_of(const Map& map) {
  Product product = map;
  product.in = map.out;
  if (!map.batch.empty()) {
    product.n = map.batch.back();
    product.batch.pop_back();
  }
  product.k.extent = 0;
  return product;
}

bool fits_32_bits(const Map& map) {
  constexpr auto most = double(std::numeric_limits<i32>::max());
  double points = gpu_items;
  for (const Loop& loop : map.batch) points *= loop.extent;
  return points < most && core::reach_beyond(map.batch, 0) < most;
}

double bytes_moved(const Map& map) {
  const auto bytes = [&](Dtype dtype, Operand operand) {
    return double(size_of(dtype)) * core::distinct(map.batch, operand);
  };
  const double read = bytes(map.in, &Loop::in) + (map.multiplies ? bytes(map.in, &Loop::other) : 0) +
                      (map.d ? bytes(map.out, &Loop::addend) : 0);
  return read + double(size_of(map.out)) * core::count(map.batch);
}

void write_from(const Map& map, bool on_host, jit::Defines& defines) {
  const bool is_complex = core::components_of(map.in) == 2;
  if (on_host) {
    const std::string kind = form_suffix(core::component_of(map.in)).substr(1);
    defines.set("ANY_FROM", 1).set("KIND", kind).set("PAIRS", is_complex);
    return;
  }
  defines.set("FROM", memory_type(map.in)).set("FROM_COMPLEX", is_complex);
  defines.set("FROM_FORM", core::is_small_float(map.in) ? "FORM" + form_suffix(map.in)
                           : map.in == Dtype::boolean   ? "FORM_BOOL"
                                                        : "FORM_CAST");
}

/// Steps along a row are constants where they are 0 or 1 and the row is long enough for vectors.
void write_steps(const Map& map, bool on_host, jit::Defines& defines) {
  constexpr i64 long_row = 64;
  const Loop row = map.batch.empty() ? Loop{} : map.batch.back();
  const auto set = [&](const char* name, bool present, i64 stride) {
    const bool constant = !present || (row.extent >= long_row && (stride == 0 || stride == 1));
    defines.set(name, constant ? std::to_string(present ? stride : 0) : "GIVEN");
  };
  set("STEP_X", true, row.in);
  set("STEP_Y", map.multiplies, row.other);
  set("STEP_C", true, row.out);
  set("STEP_D", map.d.has_value(), row.addend);
  defines.set("MULTIPLY", map.multiplies).set("WITH_Y", map.multiplies || on_host);
}

/// How the work is dealt out: an element per item on GPUs, pieces of rows per group on CPUs.
void split_into_groups(const DeviceModel& device, i64 rows, ProductParams& params, Launch& launch) {
  if (!device.is_cpu()) {
    params.work = rows * params.n;
    launch.geometry.groups = ceil_div(params.work, gpu_items);
  } else {
    params.blocks_n = ceil_div(params.n, segment);
    params.work = rows * params.blocks_n;
    params.per_group = std::max<i64>(1, group_elements / std::min(params.n, segment));
    launch.geometry.groups = ceil_div(params.work, params.per_group);
    launch.kernel.defines.set("SEGMENT", segment);
  }
}

/// The host's kernels, which serve all maps, read factors as bytes and are handed what does not count as well.
std::vector<LaunchBuffer> buffers_of(const Map& map, const ProductProblem& problem) {
  const bool on_host = problem.on_host;
  const i64 from = size_of(map.in), to = size_of(map.out);
  const auto factor = [&](int view, const core::Start& start) {
    return on_host ? LaunchBuffer{view, start.offset * from, 1} : LaunchBuffer{view, start.offset, from};
  };
  const int view_d = map.multiplies ? 2 : 1;
  const LaunchBuffer x = factor(0, map.a), c{view_d + (map.d ? 1 : 0), map.c.offset, to};
  std::vector<LaunchBuffer> buffers{x};
  if (map.multiplies || on_host) buffers.push_back(map.multiplies ? factor(1, map.b) : x);
  if (passes_d(problem)) buffers.push_back(adds_d(problem) ? LaunchBuffer{view_d, map.d->offset, to} : c);
  buffers.push_back(c);
  return buffers;
}

/// More axes than the kernel walks: some of them become a loop over launches.
SharedPlan plan_in_launches(Map map, const Device& device, const PlanOptions& options) {
  const i64 from = size_of(map.in), to = size_of(map.out);
  std::vector<Walked> arrays{{&Loop::in, from, &map.a}};
  if (map.multiplies) arrays.push_back({&Loop::other, from, &map.b});
  if (map.d) arrays.push_back({&Loop::addend, to, &*map.d});
  arrays.push_back({&Loop::out, to, &map.c});
  const auto others = take_repeats(map, max_rank, arrays);
  auto plan = plan_map(map, device, options);
  repeat(*plan, others);
  return plan;
}

}  // namespace

SharedPlan plan_map(const Map& map, const Device& device, const PlanOptions& options) {
  require_f64(device.info(), "product", {map.in, map.out});
  if (map.batch.size() > max_rank) return plan_in_launches(map, device, options);
  const ProductProblem problem{product_of(map), index_bits(fits_32_bits(map), options.index, "product"),
                               device::is_host(device.info())};
  const DeviceModel model = model::model_of(device.info());
  Launch launch = launch_of("einsum/map", {model.is_cpu() ? 1 : gpu_items});
  write_defines(problem, Stage::whole, launch.kernel.defines);
  write_from(map, problem.on_host, launch.kernel.defines);
  write_steps(map, problem.on_host, launch.kernel.defines);
  ProductParams params = params_of(problem);
  params.a_n = problem.n.in;
  split_into_groups(model, problem.batch_count(), params, launch);
  launch.params = params_bytes(params);
  launch.buffers = buffers_of(map, problem);
  auto plan = plan_of(std::move(launch), {}, device, options);
  plan->report.candidate = "map";
  plan->report.index = width_of(problem.index_bits);
  plan->report.expected_seconds = transfer_seconds(bytes_moved(map), model);
  return plan;
}

}  // namespace axisloom::ops
