// Launches the kernels of judge.kernel.
#include "bench/judge_on_device.hpp"

#include "bench/judge.hpp"
#include "bench/launch.hpp"

#include "core/number.hpp"

#include <algorithm>
#include <type_traits>

namespace axisloom::bench {
namespace {

using f32 = float;
#include "bench/judge.params.h"

constexpr i64 wanted_tasks = i64{1} << 18;  // more than an H200 runs items at a time
constexpr i64 least_share = 64;             // elements, long against writing down what became of them

JudgeParams judge_params(const Data& data, const WholeNumbers& numbers) {
  JudgeParams params{};
  params.seed = data.seed;
  params.keep = data.keep;
  params.set = data.set;
  params.unit = float(numbers.unit);
  return params;
}

jit::Defines judge_defines(const WholeNumbers& numbers) {
  jit::Defines defines;
  defines.set("FLOATING", numbers.floating).set("SIGNED", numbers.is_signed).set("UNUSED", numbers.unused);
  defines.set("SIGN_BIT", numbers.sign_bit).set("FRACTION_SHIFT", numbers.fraction_shift);
  return defines.set("FRACTION_MASK", i64(numbers.fraction_mask));
}

}  // namespace

std::vector<Folded> folded_on_device(const Device& device, const Queue& queue, const Data& data,
                                     const Reduction& reduction, Fold fold) {
  const WholeNumbers numbers(reduction.in, fraction_bits(reduction.kind, reduction.in));
  const i64 parts = std::clamp<i64>(wanted_tasks / reduction.results(), 1, ceil_div(reduction.reduced, least_share));
  JudgeParams params = judge_params(data, numbers);
  params.offset = reduction.in_offset;
  params.results = reduction.results();
  params.reduced = reduction.reduced;
  params.inner = reduction.inner;
  params.share = ceil_div(reduction.reduced, parts);
  params.tasks = params.results * ceil_div(reduction.reduced, params.share);
  const int components = core::components_of(reduction.in);
  jit::Defines defines = judge_defines(numbers);
  defines.set("COMPONENTS", components).set("IN_ONE", reduction.in == Dtype::c64);
  defines.set("FOLD", fold == Fold::sum ? FOLD_SUM : fold == Fold::least ? FOLD_LEAST : FOLD_GREATEST);

  std::vector<Folded> parts_of_all(size_t(params.tasks * components));
  const auto bytes = std::as_writable_bytes(std::span(parts_of_all));
  const Buffer buffers[] = {device.allocate(bytes.size())};
  launch_check(device, queue, "judge", "fold", defines, params.tasks, buffers, std::as_bytes(std::span(&params, 1)));
  queue.read(buffers[0], 0, bytes).wait();

  const auto results = size_t(params.results * components);
  std::vector<Folded> folded(parts_of_all.begin(), parts_of_all.begin() + std::ptrdiff_t(results));
  for (size_t i = results; i < parts_of_all.size(); ++i) merge(fold, folded[i % results], parts_of_all[i]);
  return folded;
}

template <class Number>
std::vector<Number> thin_product_on_device(const Device& device, const Queue& queue, const HashedMatrix& matrix,
                                           i64 rows, i64 k, i64 width, const std::vector<Number>& packed) {
  JudgeParams params = judge_params(matrix.data, matrix.numbers);
  params.offset = matrix.offset;
  params.row = matrix.row;
  params.column = matrix.column;
  params.k = k;
  params.width = width;
  params.tasks = rows * ceil_div(width, THIN_COLUMNS);
  jit::Defines defines = judge_defines(matrix.numbers);
  defines.set("NUMBER", std::is_floating_point_v<Number> ? "f64" : "u64");

  std::vector<Number> result(size_t(rows * width));
  const auto from = std::as_bytes(std::span(packed));
  const auto to = std::as_writable_bytes(std::span(result));
  const Buffer buffers[] = {device.allocate(from.size()), device.allocate(to.size())};
  queue.write(buffers[0], 0, from).wait();
  launch_check(device, queue, "judge", "thin", defines, params.tasks, buffers, std::as_bytes(std::span(&params, 1)));
  queue.read(buffers[1], 0, to).wait();
  return result;
}

template std::vector<double> thin_product_on_device(const Device&, const Queue&, const HashedMatrix&, i64, i64, i64,
                                                    const std::vector<double>&);
template std::vector<u64> thin_product_on_device(const Device&, const Queue&, const HashedMatrix&, i64, i64, i64,
                                                 const std::vector<u64>&);

}  // namespace axisloom::bench
