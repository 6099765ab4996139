// Which axes of two arrays become m, n, k and batch of their product.
#include "ops/einsum/lowering.hpp"

#include "core/checked.hpp"

#include <algorithm>
#include <cstdlib>
#include <limits>
#include <tuple>
#include <utility>

namespace axisloom::ops {
namespace {

std::int64_t magnitude(std::int64_t stride) {
  return std::abs(stride);
}

bool continues(std::int64_t outer, std::int64_t inner, std::int64_t extent) {
  std::int64_t run;
  return !__builtin_mul_overflow(inner, extent, &run) && run == outer;
}

bool mergeable(const StepLoop& outer, const StepLoop& inner) {
  return continues(outer.left, inner.left, inner.extent) && continues(outer.right, inner.right, inner.extent) &&
         continues(outer.out, inner.out, inner.extent) && continues(outer.addend, inner.addend, inner.extent);
}

bool merge_one_pair(std::vector<StepLoop>& loops) {
  for (std::size_t i = 0; i < loops.size(); ++i)
    for (std::size_t k = 0; k < loops.size(); ++k) {
      if (i == k || !mergeable(loops[i], loops[k])) continue;
      loops[k].extent = core::checked_mul(loops[i].extent, loops[k].extent, "the number of products of an einsum");
      loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(i));
      return true;
    }
  return false;
}

std::int64_t stride_of(const Term& term, int axis) {
  return term.strides[static_cast<std::size_t>(axis)];
}

std::vector<StepLoop> loops_over(const Contraction& problem, const ProductStep& step, AxisSet axes) {
  std::vector<StepLoop> loops;
  for (const int axis : axes_of(axes))
    loops.push_back({problem.extent(axis), stride_of(step.left, axis), stride_of(step.right, axis),
                     stride_of(step.out, axis), step.addend ? stride_of(*step.addend, axis) : 0});
  return merged(std::move(loops));
}

/// The axes of a set as a term has them, slowest first.
std::vector<int> by_stride(const Term& term, AxisSet axes) {
  std::vector<int> order = axes_of(axes);
  std::stable_sort(order.begin(), order.end(),
                   [&](int a, int b) { return magnitude(stride_of(term, a)) > magnitude(stride_of(term, b)); });
  return order;
}

/// Whether a term walks these axes, slowest first, as one loop.
bool is_one_loop(const Contraction& problem, const Term& term, const std::vector<int>& order) {
  for (std::size_t i = 1; i < order.size(); ++i)
    if (!continues(stride_of(term, order[i - 1]), stride_of(term, order[i]), problem.extent(order[i]))) return false;
  return true;
}

/// A copy's axes, slowest first, with the summed ones together in their order and the fastest axis kept where it is.
std::vector<int> order_of_copy(const Term& term, const std::vector<int>& summed) {
  AxisSet summed_set = 0;
  for (const int axis : summed) summed_set |= AxisSet{1} << axis;
  std::vector<int> order = by_stride(term, term.axes & ~summed_set);
  const bool ends_summed = has(summed_set, by_stride(term, term.axes).back());
  order.insert(ends_summed || order.empty() ? order.end() : order.end() - 1, summed.begin(), summed.end());
  return order;
}

/// The loop that becomes n (or m): of those with room for vectors the one with the output's smallest steps, else the
/// longest. It is taken out of the list.
StepLoop take_columns(std::vector<StepLoop>& loops) {
  static constexpr std::int64_t a_vector = 16;
  if (loops.empty()) return {};
  const auto rank = [](const StepLoop& loop) {
    const std::int64_t room = std::min(loop.extent, a_vector);
    return std::tuple(-room, magnitude(loop.out), -loop.extent);
  };
  const auto best = std::min_element(loops.begin(), loops.end(),
                                     [&](const StepLoop& a, const StepLoop& b) { return rank(a) < rank(b); });
  const StepLoop taken = *best;
  loops.erase(best);
  return taken;
}

StepLoop take_longest(std::vector<StepLoop>& loops) {
  if (loops.empty()) return {};
  const auto best = std::max_element(loops.begin(), loops.end(),
                                     [](const StepLoop& a, const StepLoop& b) { return a.extent < b.extent; });
  const StepLoop taken = *best;
  loops.erase(best);
  return taken;
}

std::int64_t smallest_step(const std::vector<StepLoop>& loops) {
  std::int64_t least = std::numeric_limits<std::int64_t>::max();
  for (const StepLoop& loop : loops) least = std::min(least, magnitude(loop.out));
  return least;
}

/// A is the right array and B the left one: loops change sides.
void swap_sides(std::vector<StepLoop>& loops) {
  for (StepLoop& loop : loops) std::swap(loop.left, loop.right);
}

}  // namespace

std::vector<StepLoop> merged(std::vector<StepLoop> loops) {
  while (merge_one_pair(loops)) {
  }
  const auto key = [](const StepLoop& loop) {
    return std::tuple(magnitude(loop.out), magnitude(loop.left), magnitude(loop.right));
  };
  std::stable_sort(loops.begin(), loops.end(), [&](const StepLoop& a, const StepLoop& b) { return key(a) > key(b); });
  return loops;
}

Orders orders_needed(const Contraction& problem, const ProductStep& step) {
  const AxisSet summed = step.left.axes & step.right.axes & ~step.out.axes;
  if (loops_over(problem, step, summed).size() <= 1) return {};
  const std::vector<int> of_left = by_stride(step.left, summed), of_right = by_stride(step.right, summed);
  const bool left_leads = is_one_loop(problem, step.left, of_left),
             right_leads = is_one_loop(problem, step.right, of_right);
  const bool left_is_smaller = problem.points(step.left.axes) < problem.points(step.right.axes);
  if (right_leads && (left_is_smaller || !left_leads)) return {order_of_copy(step.left, of_right), {}};
  if (left_leads) return {{}, order_of_copy(step.right, of_left)};
  return {order_of_copy(step.left, of_left), order_of_copy(step.right, of_left)};
}

LoweredProduct lower_product(const Contraction& problem, const ProductStep& step) {
  const AxisSet both = step.left.axes & step.right.axes, kept = step.out.axes;
  std::vector<StepLoop> rows = loops_over(problem, step, step.left.axes & ~step.right.axes),
                        columns = loops_over(problem, step, step.right.axes & ~step.left.axes),
                        batch = loops_over(problem, step, (both & kept) | (kept & ~step.left.axes & ~step.right.axes)),
                        summed = loops_over(problem, step, both & ~kept);
  if (summed.size() > 1)
    throw Error(Errc::unsupported, "the summed axes of a product are more than one loop", "copy its arrays first");
  LoweredProduct lowered;
  lowered.swapped = !rows.empty() && !columns.empty() && smallest_step(rows) < smallest_step(columns);
  if (lowered.swapped) {
    std::swap(rows, columns);
    for (std::vector<StepLoop>* loops : {&rows, &columns, &batch, &summed}) swap_sides(*loops);
  }
  const StepLoop n = take_columns(columns), m = take_longest(rows), k = summed.empty() ? StepLoop{} : summed[0];
  for (const std::vector<StepLoop>* rest : {&rows, &columns}) batch.insert(batch.end(), rest->begin(), rest->end());
  batch = merged(std::move(batch));

  Product& product = lowered.product;
  product.m = m.extent;
  product.n = n.extent;
  product.k = k.extent;
  for (const StepLoop& loop : batch)
    product.batch.push_back({loop.extent, loop.left, loop.right, loop.out, loop.addend});
  const Term &a = lowered.swapped ? step.right : step.left, &b = lowered.swapped ? step.left : step.right;
  product.a = {.m = m.left, .k = k.left, .offset = a.offset, .align = a.align};
  product.b = {.n = n.right, .k = k.right, .offset = b.offset, .align = b.align};
  product.c = {.m = m.out, .n = n.out, .offset = step.out.offset, .align = step.out.align};
  if (step.addend)
    product.d = {.m = m.addend, .n = n.addend, .offset = step.addend->offset, .align = step.addend->align};
  return lowered;
}

std::vector<int> result_order(const Term& left, const Term& right, AxisSet axes) {
  std::vector<int> order = by_stride(left, axes & left.axes & right.axes);
  for (const int axis : by_stride(left, axes & left.axes & ~right.axes)) order.push_back(axis);
  for (const int axis : by_stride(right, axes & right.axes & ~left.axes)) order.push_back(axis);
  return order;
}

}  // namespace axisloom::ops
