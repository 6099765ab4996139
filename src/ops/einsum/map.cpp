// The launch of map.kernel.
#include "ops/einsum/map.hpp"

#include "core/integers.hpp"
#include "core/number.hpp"
#include "core/text.hpp"
#include "model/cost.hpp"
#include "ops/matmul/params.hpp"
#include "ops/scalar_type.hpp"
#include "planner/choose.hpp"

#include <axisloom/error.hpp>

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
  const auto fits = [&](Operand operand) { return core::reach_beyond(map.batch, operand, 0) < most; };
  return points < most && fits(&Loop::in) && fits(&Loop::other) && fits(&Loop::out) && fits(&Loop::addend);
}

double bytes_moved(const Map& map) {
  const auto bytes = [&](Dtype dtype, Operand operand) {
    return double(size_of(dtype)) * core::distinct(map.batch, operand);
  };
  const double read = bytes(map.in, &Loop::in) + (map.multiplies ? bytes(map.in, &Loop::other) : 0) +
                      (map.d ? bytes(map.out, &Loop::addend) : 0);
  return read + double(size_of(map.out)) * core::count(map.batch);
}

void write_from(const Map& map, jit::Defines& defines) {
  const bool is_complex = core::components_of(map.in) == 2;
  defines.set("FROM", memory_type(map.in)).set("FROM_COMPLEX", is_complex);
  defines.set("FROM_FORM", core::is_small_float(map.in) ? "FORM" + form_suffix(map.in)
                           : map.in == Dtype::boolean   ? "FORM_BOOL"
                                                        : "FORM_CAST");
}

/// Steps along a row are constants where they are 0 or 1 and the row is long enough for vectors.
void write_steps(const Map& map, jit::Defines& defines) {
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
  defines.set("MULTIPLY", map.multiplies);
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

std::vector<LaunchBuffer> buffers_of(const Map& map, bool reads_addend) {
  const i64 from = size_of(map.in), to = size_of(map.out);
  std::vector<LaunchBuffer> buffers{{0, map.a.offset, from}};
  int view = 1;
  if (map.multiplies) buffers.push_back({view++, map.b.offset, from});
  if (reads_addend) buffers.push_back({view, map.d->offset, to});
  buffers.push_back({view + (map.d ? 1 : 0), map.c.offset, to});
  return buffers;
}

}  // namespace

SharedPlan plan_map(const Map& map, const Device& device, const PlanOptions& options) {
  for (const Dtype dtype : {map.in, map.out})
    if (core::component_of(dtype) == Dtype::f64 && !device.info().f64)
      throw Error(Errc::unsupported, concat("the device has no f64, which ", name(dtype), " needs"),
                  "use f32 or c64, or another device");
  if (map.batch.size() > max_rank)
    throw Error(Errc::unsupported,
                concat("arrays are multiplied or converted over ", map.batch.size(),
                       " axes that cannot be merged, and kernels walk at most ", max_rank),
                "rearrange the arrays first");
  const bool wide = options.index == IndexWidth::bits64 || !fits_32_bits(map);
  const ProductProblem problem{product_of(map), wide ? 64 : 32};
  const DeviceModel model = model::model_of(device.info());
  auto plan = empty_plan({}, device, options);
  plan->report.candidate = "map";
  plan->report.index = wide ? IndexWidth::bits64 : IndexWidth::bits32;
  plan->report.expected_seconds = transfer_seconds(bytes_moved(map), model);
  Launch launch = launch_of("einsum/map", {model.is_cpu() ? 1 : gpu_items});
  write_defines(problem, launch.kernel.defines);
  write_from(map, launch.kernel.defines);
  write_steps(map, launch.kernel.defines);
  ProductParams params = params_of(problem);
  params.a_n = problem.n.in;
  split_into_groups(model, problem.batch_count(), params, launch);
  launch.params = params_bytes(params);
  launch.buffers = buffers_of(map, adds_d(problem));
  plan->launches.push_back(std::move(launch));
  compile(*plan);
  return plan;
}

}  // namespace axisloom::ops
