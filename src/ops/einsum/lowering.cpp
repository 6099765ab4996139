// Which axes of two arrays become m, n, k and batch of their product.
#include "ops/einsum/lowering.hpp"

#include "core/integers.hpp"
#include "core/text.hpp"
#include "planner/candidate.hpp"

#include <algorithm>
#include <cstdlib>
#include <functional>
#include <limits>
#include <tuple>
#include <utility>

namespace axisloom::ops {
namespace {

Loops loops_over(const Contraction& problem, const ProductStep& step, AxisSet axes) {
  return loops_over(problem, axes, step.left, step.out, &step.right, step.addend);
}

/// Whether a term walks these axes, slowest first, as one loop.
bool is_one_loop(const Contraction& problem, const Term& term, const AxisList& order) {
  const auto loop = [&](int axis) { return Loop{problem.extent(axis), term.strides[axis]}; };
  for (size_t i = 1; i < order.size(); ++i)
    if (!core::continues(loop(order[i - 1]), loop(order[i]))) return false;
  return true;
}

/// A copy's axes, slowest first, with the summed ones together in their order and the fastest axis kept where it is.
AxisList order_of_copy(const Term& term, const AxisList& summed) {
  AxisList order = by_stride(term, term.axes);
  const auto is_summed = [&](int axis) { return core::contains(summed, axis); };
  const bool ends_summed = is_summed(order.back());
  std::erase_if(order, is_summed);
  order.insert(ends_summed || order.empty() ? order.end() : order.end() - 1, summed.begin(), summed.end());
  return order;
}

/// The loop that ranks first, taken out of the list; a single step where there is none.
template <class Rank>
Loop take_first(Loops& loops, const Rank& rank) {
  if (loops.empty()) return {};
  const auto first = std::ranges::min_element(loops, {}, rank);
  const Loop taken = *first;
  loops.erase(first);
  return taken;
}

/// What becomes n: of the loops with room for vectors the one with the output's smallest steps, else the longest.
Loop take_columns(Loops& loops) {
  static constexpr i64 a_vector = 16;
  return take_first(loops, [](const Loop& loop) {
    const i64 room = std::min(loop.extent, a_vector);
    return std::tuple(-room, std::abs(loop.out), -loop.extent);
  });
}

Loop take_longest(Loops& loops) {
  return take_first(loops, [](const Loop& loop) { return -loop.extent; });
}

i64 smallest_step(const Loops& loops) {
  i64 least = std::numeric_limits<i64>::max();
  for (const Loop& loop : loops) least = std::min(least, std::abs(loop.out));
  return least;
}

/// A is the right array and B the left one: loops change sides.
void swap_sides(Loops& loops) {
  for (Loop& loop : loops) std::swap(loop.in, loop.other);
}

}  // namespace

Loops loops_over(const Contraction& problem, AxisSet axes, const Term& in, const Term& out, const Term* other,
                 const Term* addend) {
  Loops loops;
  for (const int axis : axes_of(axes))
    loops.push_back({problem.extent(axis), in.strides[axis], out.strides[axis], other ? other->strides[axis] : 0,
                     addend ? addend->strides[axis] : 0});
  core::merge(loops);
  core::order_by_output(loops);
  return loops;
}

Orders orders_needed(const Contraction& problem, const ProductStep& step) {
  const AxisSet summed = step.left.axes & step.right.axes & ~step.out.axes;
  if (loops_over(problem, step, summed).size() <= 1) return {};
  const AxisList of_left = by_stride(step.left, summed), of_right = by_stride(step.right, summed);
  const bool left_leads = is_one_loop(problem, step.left, of_left),
             right_leads = is_one_loop(problem, step.right, of_right);
  const bool left_is_smaller = problem.points(step.left.axes) < problem.points(step.right.axes);
  if (right_leads && (left_is_smaller || !left_leads)) return {order_of_copy(step.left, of_right), {}};
  if (left_leads) return {{}, order_of_copy(step.right, of_left)};
  return {order_of_copy(step.left, of_left), order_of_copy(step.right, of_left)};
}

LoweredProduct lower_product(const Contraction& problem, const ProductStep& step) {
  const AxisSet both = step.left.axes & step.right.axes, kept = step.out.axes;
  Loops rows = loops_over(problem, step, step.left.axes & ~step.right.axes),
        columns = loops_over(problem, step, step.right.axes & ~step.left.axes),
        batch = loops_over(problem, step, (both & kept) | (kept & ~step.left.axes & ~step.right.axes)),
        summed = loops_over(problem, step, both & ~kept);
  if (summed.size() > 1)
    throw Error(Errc::unsupported, "the summed axes of a product are more than one loop", "copy its arrays first");
  LoweredProduct lowered;
  lowered.swapped = !rows.empty() && !columns.empty() && smallest_step(rows) < smallest_step(columns);
  if (lowered.swapped) {
    std::swap(rows, columns);
    for (Loops* loops : {&rows, &columns, &batch, &summed}) swap_sides(*loops);
  }
  Product& product = lowered.product;
  product.m = take_longest(rows);
  product.n = take_columns(columns);
  if (!summed.empty()) product.k = summed[0];
  for (const Loops* rest : {&rows, &columns}) batch.insert(batch.end(), rest->begin(), rest->end());
  core::merge(batch);
  core::order_by_output(batch);
  product.batch = std::move(batch);
  product.a = start_of(lowered.swapped ? step.right : step.left);
  product.b = start_of(lowered.swapped ? step.left : step.right);
  product.c = start_of(step.out);
  if (step.addend) product.d = start_of(*step.addend);
  return lowered;
}

std::vector<std::vector<Place>> take_repeats(Product& product, size_t most, std::span<const Walked> arrays) {
  const size_t axes = product.batch.size();
  const Loops outer = core::take_shortest(product.batch, most);
  if (core::count(outer) > most_repeats) throw_too_many_axes("product", axes, most);
  std::vector<std::vector<Place>> places;
  for (const Loop& at : core::points_of(outer)) {
    std::vector<Place>& point = places.emplace_back();
    for (const auto& [step, element, start] : arrays) point.push_back({int(point.size()), at.*step * element});
  }
  for (const auto& [step, element, start] : arrays)  // each launch begins where all may
    for (const Loop& loop : outer) start->align = core::common_alignment(start->align, loop.*step * element);
  places.erase(places.begin());
  return places;
}

AxisList by_stride(const Term& term, AxisSet axes) {
  AxisList order = axes_of(axes & term.axes);
  std::ranges::stable_sort(order, std::greater(), [&](int axis) { return std::abs(term.strides[axis]); });
  return order;
}

AxisList result_order(const Term& left, const Term& right, AxisSet axes) {
  AxisList order = by_stride(left, axes & right.axes);
  for (const int axis : by_stride(left, axes & ~right.axes)) order.push_back(axis);
  for (const int axis : by_stride(right, axes & ~left.axes)) order.push_back(axis);
  return order;
}

}  // namespace axisloom::ops
