// Launches the kernels of judge.kernel.
#include "bench/judge_on_device.hpp"

#include "bench/launch.hpp"
#include "bench/workload.hpp"

#include "core/number.hpp"

#include <algorithm>

namespace axisloom::bench {
namespace {

using f32 = float;
#include "bench/judge.params.h"

constexpr i64 wanted_tasks = i64{1} << 18;  // more than an H200 runs items at a time
constexpr i64 least_share = 64;             // elements, long against writing down what became of them

void launch_judge(const Workload& workload, const char* kernel, const Data& data, const WholeNumbers& numbers,
                  jit::Defines defines, JudgeParams params, std::span<const Buffer> buffers,
                  std::span<std::byte> result) {
  defines.set("FLOATING", numbers.floating).set("SIGNED", numbers.is_signed).set("UNUSED", numbers.unused);
  defines.set("SIGN_BIT", numbers.sign_bit).set("FRACTION_SHIFT", numbers.fraction_shift);
  defines.set("FRACTION_BITS", numbers.fraction_bits);
  params.seed = data.seed;
  params.keep = data.keep;
  params.set = data.set;
  params.unit = float(numbers.unit);
  launch_check(workload.device(), workload.queue(), "judge", kernel, defines, params.tasks, buffers,
               std::as_bytes(std::span(&params, 1)));
  workload.queue().read(buffers.back(), 0, result).wait();
}

}  // namespace

std::vector<Folded> folded_on_device(const Workload& workload, const Reduction& reduction, Fold fold) {
  const i64 parts = std::clamp<i64>(wanted_tasks / reduction.results(), 1, ceil_div(reduction.reduced, least_share));
  JudgeParams params{};
  params.offset = reduction.in_offset;
  params.results = reduction.results();
  params.reduced = reduction.reduced;
  params.inner = reduction.inner;
  params.share = ceil_div(reduction.reduced, parts);
  params.tasks = params.results * ceil_div(reduction.reduced, params.share);
  const int components = core::components_of(reduction.in);
  jit::Defines defines;
  defines.set("COMPONENTS", components).set("IN_ONE", reduction.in == Dtype::c64).set("FOLD", i64(fold));

  std::vector<Folded> folded(params.tasks * components);
  const auto bytes = std::as_writable_bytes(std::span(folded));
  const Buffer buffers[] = {workload.device().allocate(bytes.size())};
  launch_judge(workload, "fold", workload.data(0), {reduction.in, fraction_bits(reduction.kind, reduction.in)}, defines,
               params, buffers, bytes);
  const size_t results = params.results * components;
  for (size_t i = results; i < folded.size(); ++i) merge(fold, folded[i % results], folded[i]);
  folded.resize(results);
  return folded;
}

void thin_product_on_device(const Workload& workload, const HashedMatrix& matrix, i64 rows, i64 k, i64 width,
                            const char* number, std::span<const std::byte> packed, std::span<std::byte> result) {
  JudgeParams params{};
  params.offset = matrix.offset;
  params.row = matrix.row;
  params.column = matrix.column;
  params.k = k;
  params.width = width;
  params.tasks = rows * ceil_div(width, THIN_COLUMNS);
  const Buffer buffers[] = {workload.device().allocate(packed.size()), workload.device().allocate(result.size())};
  workload.queue().write(buffers[0], 0, packed).wait();
  launch_judge(workload, "thin", matrix.data, matrix.whole, jit::Defines().set("NUMBER", number), params, buffers,
               result);
}

}  // namespace axisloom::bench
