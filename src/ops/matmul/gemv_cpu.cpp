// Variant "gemv_cpu": a vector times a matrix, or the dot product of two vectors, of floats on the host.
#include "core/integers.hpp"
#include "core/number.hpp"
#include "model/cost.hpp"
#include "ops/matmul/combine.hpp"
#include "ops/matmul/model.hpp"

#include <algorithm>

namespace axisloom::ops {
namespace {

// Elements of B that a group takes, where there are enough: long against its start, a copy of x among it.
constexpr i64 group_elements = 1 << 16;
constexpr i64 groups_per_unit = 4;  // at least where there is so much to do; an estimate

/// How columns and k are dealt out to groups.
struct Form {
  const ProductProblem& problem;
  bool along_k = problem.n.other != 1 || problem.n.extent == 1;
  i64 per_group, blocks_n;
  Parts parts;

  Form(const ProductProblem& problem, const DeviceModel& device) : problem(problem) {
    const i64 n = problem.n.extent, k = std::max<i64>(1, problem.k.extent), batch = problem.batch_count();
    const i64 line = along_k ? GEMV_ABREAST : 64;  // columns: whole lines of memory, or those side by side
    const i64 wanted = std::max<i64>(1, groups_per_unit * i64(device.units()) / batch);
    const i64 whole = ceil_div(group_elements, k);
    const i64 most = std::clamp(std::max(ceil_div(n, wanted), whole), line, i64{GEMV_SUMS});
    const i64 even = ceil_div(n, ceil_div(n, most));
    per_group = std::min(n, ceil_div(even, line) * line);
    blocks_n = ceil_div(n, per_group);
    const i64 count = std::min(wanted / blocks_n, n * k / group_elements);
    parts = split(problem.k.extent, std::max<i64>(1, count), GEMV_SLICE);
  }

  i64 groups() const { return blocks_n * problem.batch_count(); }

  double seconds(const DeviceModel& device) const {
    // Of a core: a group, a sum, and what it takes of B from a near cache. Estimates.
    constexpr double group_seconds = 100e-9, sum_seconds = 15e-9, byte_seconds = 0.012e-9;
    const double bytes = double(problem.k.extent) * problem.outputs() * arithmetic_of(problem.in).scalar_bytes;
    const double each = groups() * parts.count * group_seconds + problem.outputs() * parts.count * sum_seconds;
    return product_time(device.on_cores(each + bytes * byte_seconds), bytes_touched(problem), parts.count > 1 ? 2 : 1,
                        device);
  }

  Launches launches(const DeviceModel& device) const {
    const CpuTile tile = cpu_tile(problem.in, device);
    ProductLaunch main("matmul/gemv_cpu", problem,
                       {1, (GEMV_SLICE + GEMV_SUMS) * arithmetic_of(problem.in).scalar_bytes},
                       parts.count > 1 ? Stage::to_sums : Stage::whole);
    main.defines().set("ALONG_K", along_k).set("LANES", tile.lanes);
    main.params.blocks_n = blocks_n;
    main.params.per_group = per_group;
    return in_parts(std::move(main), parts, groups(), device);
  }
};

Proposal propose(const ProductProblem& problem, const Configuration&, const DeviceModel& device) {
  if (problem.m.extent != 1) return refuse("neither operand is a vector");
  const Arithmetic arithmetic = arithmetic_of(problem.in);
  if (arithmetic.is_complex || core::float_format(problem.in) == nullptr)
    return refuse("its kernel is for real floats");
  const Form form(problem, device);
  if (form.along_k && problem.k.other != 1 && problem.k.extent != 1) return refuse("B's elements lie apart");
  const Group group = {1, (GEMV_SLICE + GEMV_SUMS) * arithmetic.scalar_bytes};
  return {.group = largest_group(group, form.parts, device),
          .seconds = form.seconds(device),
          .launches = [form, &device] { return form.launches(device); }};
}

}  // namespace

ProductCandidate gemv_cpu_product() {
  return {{.name = "gemv_cpu",
           .summary = "a vector and a matrix, or two vectors, of floats on the host",
           .tunables = {},
           .runtimes = {Api::host},
           .runs_on = cpus},
          propose};
}

}  // namespace axisloom::ops
