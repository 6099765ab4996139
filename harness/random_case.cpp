// Drawing where the arrays of a random case lie, and spelling it out.
#include "harness/random_case.hpp"

#include "harness/draft.hpp"

#include <algorithm>
#include <functional>

namespace axisloom::harness {
namespace {

constexpr i64 cases_of_class = 8;
constexpr i64 classes_at_a_time = 64;

constexpr i64 page = 4096;
constexpr i64 most_span = 1 << 20;  // elements between the first and the last of an array
constexpr i64 most_offset = 37;     // elements; no multiple of any packet
constexpr i64 largest_buffers[] = {1000, 4096, 10000, 1 << 15, 1 << 17, 1 << 19};
constexpr i64 most_slices = 16;  // of the largest array: each is planned, which takes a millisecond

/// Where the arrays of a case lie.
enum class Memory { apart, one_buffer, slices };

/// How an array's strides are drawn.
struct Spread {
  bool strided = false;   // else contiguous
  bool pages = false;     // strides that are multiples of a page
  bool reversed = false;  // some below zero
  bool repeated = false;  // one of zero
  bool windows = false;   // elements that belong to several places, as those of a sliding window do
};

/// Of what an array is to the operation.
enum class Role { input, output, both };

// In place strides are above zero, or the move is refused.
Spread draw_spread(Random& kind, Role role) {
  return {.strided = kind.percent(55),
          .pages = kind.percent(8),
          .reversed = role != Role::both && kind.percent(30),
          .repeated = role == Role::input && kind.percent(15),
          .windows = role == Role::input && kind.percent(6)};
}

// Strides of an array whose axes lie in some order, with gaps between them: no two elements at one address.
Dims apart_strides(Dice& dice, const Dims& shape, i64 element, bool pages) {
  auto& [kind, own] = dice;
  Dims strides = Dims::filled(shape.size(), 0);
  std::vector<int> order = random_order(own, shape.size());
  if (kind.percent(50)) std::ranges::sort(order, std::greater<>());
  const bool pads = kind.percent(60);
  i64 stride = kind.percent(80) ? 1 : own.between(2, 3);
  i64 slower = extents_above_zero(shape);  // elements of the axes that have no stride yet
  for (int axis : order) {
    const i64 extent = std::max<i64>(shape[axis], 1);
    strides[axis] = stride;
    stride *= extent;
    slower /= extent;
    const i64 in_page = page / element;
    const i64 to_page = ceil_div(stride, in_page) * in_page;
    if (pages && to_page <= most_span / 4 / slower)
      stride = to_page;
    else if (pads && stride < most_span / 4 / slower)
      stride += own.between(0, 5);
  }
  return strides;
}

Dims draw_strides(Dice& dice, const Dims& shape, i64 element, const Spread& spread) {
  Dims strides = apart_strides(dice, shape, element, spread.pages);
  if (spread.reversed)
    for (i64& stride : strides)
      if (dice.own.percent(40)) stride = -stride;
  i64& some = strides[dice.own.below(shape.size())];
  if (spread.windows) some = dice.own.between(-3, 3);
  if (spread.repeated) some = 0;
  return strides;
}

Placement draw_placement(Dice& dice, const Dims& shape, Dtype dtype, Role role) {
  auto& [kind, own] = dice;
  Placement placement;
  const i64 element = size_of(dtype);
  const Spread spread = draw_spread(kind, role);
  const bool offset = kind.percent(30);
  if (spread.strided && !shape.empty()) placement.strides = draw_strides(dice, shape, element, spread);
  if (offset) placement.offset = own.between(1, most_offset);
  if (kind.percent(25)) {
    placement.align = element;
    while (placement.align < 64 && kind.percent(60)) placement.align *= 2;
  }
  return placement;
}

i64 span_of(const Dims& shape, const Placement& placement) {
  const View view{Dtype::u8, shape, placement.strides.value_or(contiguous_strides(shape)), 0, 1};
  const Bounds bounds = view.bounds();
  return bounds.high - bounds.low;
}

/// The arrays of a case with their placements, inputs first.
struct Array {
  Dims shape;
  i64 element;
  Placement* placement;
};

// One after the other; or each element of one beside one of the other; or anywhere, so that they may meet.
void place_in_one_buffer(Dice& dice, std::vector<Array>& arrays) {
  auto& [kind, own] = dice;
  const i64 way = kind.below(3);
  const bool alike = arrays.size() == 2 && arrays[0].element == arrays[1].element;
  i64 end = 0;  // bytes
  const i64 largest = std::ranges::max(arrays, {}, &Array::element).element;
  for (const Array& array : arrays) array.placement->align = std::max(array.placement->align, largest);
  for (size_t i = 0; i < arrays.size(); ++i) {
    const auto& [shape, element, placement] = arrays[i];
    if (way == 0 && alike && !shape.empty()) {
      placement->strides = contiguous_strides(shape);
      for (i64& stride : *placement->strides) stride *= 2;
      placement->offset = i;
    } else if (way == 1) {
      placement->offset = ceil_div(end, element) + own.between(0, 5);
    } else {
      placement->offset = own.between(0, 1 + end / element);
    }
    end = std::max(end, (placement->offset + span_of(shape, *placement)) * element);
  }
}

// Of few sizes, since a device with small buffers compiles its own programs.
i64 draw_largest_buffer(Random& kind, const std::vector<Array>& arrays) {
  i64 bytes = 0;
  for (const Array& array : arrays) bytes = std::max(bytes, span_of(array.shape, *array.placement) * array.element);
  size_t size = kind.percent(30) ? 1 : 0;
  while (size + 1 < std::size(largest_buffers) && largest_buffers[size] * most_slices < bytes) ++size;
  return largest_buffers[size];
}

Memory draw_memory(Random& kind, const Case& c) {
  const bool one_dtype = std::equal(c.dtypes.begin() + 1, c.dtypes.end(), c.dtypes.begin());
  const i64 draw = kind.below(100);
  if (draw < 8 && one_dtype) return Memory::one_buffer;
  return draw >= 86 ? Memory::slices : Memory::apart;
}

void place(Dice& dice, const View& result, Case& c) {
  const Memory memory = c.in_place ? Memory::apart : draw_memory(dice.kind, c);
  std::vector<Array> arrays;
  for (size_t i = 0; i < c.shapes.size(); ++i) {
    c.inputs[i] = draw_placement(dice, c.shapes[i], c.dtypes[i], c.in_place ? Role::both : Role::input);
    arrays.push_back({c.shapes[i], i64(size_of(c.dtypes[i])), &c.inputs[i]});
  }
  if (c.in_place) return;
  c.output = draw_placement(dice, result.shape, result.dtype, Role::output);
  arrays.push_back({result.shape, i64(size_of(result.dtype)), &c.output});
  if (memory == Memory::one_buffer) {
    c.one_buffer = true;
    place_in_one_buffer(dice, arrays);
  } else if (memory == Memory::slices) {
    c.largest_buffer = draw_largest_buffer(dice.kind, arrays);
  }
}

/// The operation of a class: of each entry's shares one after the other, in an order of the seed's own.
const ops::OpEntry& entry_of_class(u64 seed, i64 number) {
  static const std::vector<const ops::OpEntry*> entries = entries_by_share();
  Random random(seed, "order of operations");
  const std::vector<int> order = random_order(random, entries.size());
  return *entries[order[number % order.size()]];
}

}  // namespace

std::string random_case(u64 seed, i64 index) {
  const i64 number = index % classes_at_a_time + index / (classes_at_a_time * cases_of_class) * classes_at_a_time;
  Dice dice{Random(seed, concat("class ", number)), Random(seed, concat("case ", index))};
  const ops::OpEntry& entry = entry_of_class(seed, number);
  Case c = draft_of(entry, dice);
  c.inputs.resize(c.shapes.size());
  try {
    place(dice, entry.result(c.op, contiguous_views(c)), c);
  } catch (const Error& error) {
    c.expect = error.code();  // a plan has to refuse it likewise
  }
  return text_of(c);
}

}  // namespace axisloom::harness
