// What can be done with loops, and proved about them, whatever the operation.
#include "core/nest.hpp"

#include "core/checked.hpp"

#include <algorithm>
#include <bit>
#include <cstdlib>
#include <limits>
#include <utility>

namespace axisloom::core {
namespace {

constexpr const char* offset_name = "an element offset";
constexpr const char* count_name = "the number of elements";
constexpr Operand operands[] = {&Loop::in, &Loop::out, &Loop::other, &Loop::addend};

bool fits(i64 value) {
  return value > std::numeric_limits<i32>::min() && value <= std::numeric_limits<i32>::max();
}

u64 magnitude(i64 value) {
  return value < 0 ? 0 - u64(value) : u64(value);
}

bool merge_one_pair(Loops& loops, bool neighbours_only) {
  for (size_t i = 0; i < loops.size(); ++i) {
    for (size_t k = 0; k < loops.size(); ++k) {
      if (i == k || (neighbours_only && k != i + 1) || !continues(loops[i], loops[k])) continue;
      loops[k].extent = checked_mul(loops[i].extent, loops[k].extent, count_name);
      loops.erase(loops.begin() + i64(i));
      return true;
    }
  }
  return false;
}

void order(Loops& loops, std::initializer_list<Operand> operands) {
  std::ranges::stable_sort(loops, [&](const Loop& a, const Loop& b) {
    for (const Operand x : operands)
      if (magnitude(a.*x) != magnitude(b.*x)) return magnitude(a.*x) > magnitude(b.*x);
    return false;
  });
}

}  // namespace

i64 count(Nest nest) {
  if (std::ranges::count(nest, 0, &Loop::extent) > 0) return 0;
  i64 product = 1;
  for (const Loop& loop : nest) product = checked_mul(product, loop.extent, count_name);
  return product;
}

i64 distinct(Nest nest, Operand operand) {
  i64 product = 1;
  for (const Loop& loop : nest)
    if (loop.*operand != 0) product = checked_mul(product, loop.extent, count_name);
  return product;
}

Bounds reach(Nest nest, Operand operand, i64 start) {
  Bounds bounds{start, start};
  for (const Loop& loop : nest) {
    const i64 far = checked_mul(std::max<i64>(loop.extent - 1, 0), loop.*operand, offset_name);
    i64& side = far < 0 ? bounds.low : bounds.high;
    side = checked_add(side, far, offset_name);
  }
  return bounds;
}

double reach_beyond(Nest nest, double steps) {
  double furthest = 0;
  for (const Operand x : operands) {
    double reach = 0;
    for (const Loop& loop : nest) reach += (double(loop.extent) + steps) * std::abs(double(loop.*x));
    furthest = std::max(furthest, reach);
  }
  return furthest;
}

bool fits_32_bits(Nest nest, Operand operand, i64 start) {
  const auto reaches = [&](i64 from) {
    const Bounds bounds = reach(nest, operand, from);
    return fits(bounds.low) && fits(bounds.high);
  };
  return std::ranges::all_of(nest, [&](const Loop& loop) { return fits(loop.*operand); }) && reaches(0) &&
         reaches(start);
}

bool fits_32_bits(i64 count) {
  constexpr i64 slack = 1 << 20;  // the last group's items count on past the end by less than this
  return fits(count) && fits(count + slack);
}

i64 proven_alignment(Nest nest, Operand operand, const Start& start, i64 element, i64 limit) {
  // Of the sum of several multiples, the fewest trailing zero bits are certain.
  const auto zeros = [](i64 value) { return value == 0 ? 62 : std::countr_zero(u64(value)); };
  int certain = std::min(zeros(start.align), zeros(start.offset) + zeros(element));
  for (const Loop& loop : nest)
    if (loop.extent > 1) certain = std::min(certain, zeros(loop.*operand) + zeros(element));
  return std::min(i64{1} << std::min(certain, 62), i64(std::bit_floor(u64(std::max<i64>(limit, 1)))));
}

i64 common_alignment(i64 align, i64 bytes) {
  return bytes == 0 ? align : std::min(align, i64{1} << std::min(62, std::countr_zero(u64(bytes))));
}

Loops without(Nest nest, int first, int second) {
  Loops rest;
  for (int d = 0; d < int(nest.size()); ++d)
    if (d != first && d != second) rest.push_back(nest[d]);
  return rest;
}

Loop over_blocks(const Loop& loop, i64 steps) {
  return {ceil_div(loop.extent, steps), steps * loop.in, steps * loop.out, steps * loop.other, steps * loop.addend};
}

Loops take_shortest(Loops& loops, size_t most) {
  Loops taken;
  while (loops.size() > most) {
    const auto shortest = std::ranges::min_element(loops, {}, &Loop::extent);
    taken.push_back(*shortest);
    loops.erase(shortest);
  }
  return taken;
}

Loops points_of(Nest nest) {
  Loops points{{}};
  for (const Loop& loop : nest) {
    const Loops before = std::exchange(points, {});
    for (Loop at : before)
      for (i64 step = 0; step < loop.extent; ++step) {
        points.push_back(at);
        for (const Operand x : operands) at.*x += loop.*x;
      }
  }
  return points;
}

void drop_single_steps(Loops& loops) {
  std::erase_if(loops, [](const Loop& loop) { return loop.extent == 1; });
}

void reverse_loop(Loop& loop, i64& in_offset, i64& out_offset) {
  for (auto [offset, stride] : {std::pair{&in_offset, &loop.in}, {&out_offset, &loop.out}}) {
    *offset = checked_add(*offset, checked_mul(loop.extent - 1, *stride, offset_name), offset_name);
    *stride = checked_mul(*stride, -1, offset_name);
  }
}

bool continues(const Loop& outer, const Loop& inner) {
  i64 run;
  for (const Operand x : operands)
    if (__builtin_mul_overflow(inner.*x, inner.extent, &run) || run != outer.*x) return false;
  return true;
}

void merge(Loops& loops, bool neighbours_only) {
  while (merge_one_pair(loops, neighbours_only)) {
  }
}

void order_by_output(Loops& loops) {
  order(loops, {&Loop::out, &Loop::in, &Loop::other});
}

void order_by_input(Loops& loops) {
  order(loops, {&Loop::in, &Loop::out});
  std::stable_partition(loops.begin(), loops.end(), [](const Loop& loop) { return loop.in == 0; });
}

}  // namespace axisloom::core
