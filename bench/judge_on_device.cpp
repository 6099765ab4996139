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

std::vector<u64> folded_on_device(const Workload& workload, const Reduction& reduction, Fold fold, bool places) {
  const i64 count = reduction.count();
  const i64 most_parts = std::clamp<i64>(wanted_tasks / reduction.results(), 1, ceil_div(count, least_share));
  JudgeParams params{};
  params.offset = reduction.in_offset;
  params.results = reduction.results();
  params.reduced = reduction.reduced;
  params.inner = reduction.inner;
  params.count = count;
  params.share = ceil_div(count, most_parts);
  const i64 parts = ceil_div(count, params.share);
  params.tasks = params.results * parts;
  const int components = core::components_of(reduction.in);
  jit::Defines defines;
  defines.set("COMPONENTS", components).set("IN_ONE", reduction.in == Dtype::c64);
  defines.set("FOLD", i64(fold)).set("PLACES", places);

  // No more than what is wanted is fetched and gone over: of millions of results that takes longer than to work them
  // out.
  const int words = places ? 2 : 1;
  std::vector<u64> fetched(params.tasks * components * words);
  const auto bytes = std::as_writable_bytes(std::span(fetched));
  const Buffer buffers[] = {workload.device().allocate(bytes.size())};
  launch_judge(workload, "fold", workload.data(0), {reduction.in, fraction_bits(reduction.kind, reduction.in)}, defines,
               params, buffers, bytes);
  if (parts == 1 && !places) return fetched;
  const size_t results = params.results * components;
  std::vector<u64> wanted(results);
  for (size_t i = 0; i < results; ++i) {
    Folded all;
    for (size_t from = i * words; from < fetched.size(); from += results * words)
      merge(fold, all, {fetched[from], places ? i64(fetched[from + 1]) : 0});
    wanted[i] = places ? u64(all.at) : all.value;
  }
  return wanted;
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
