// The arrays of the lessons, and what must come of them.
#include "cli/demo/lessons.hpp"

#include "cli/demo/card.hpp"

#include <array>
#include <cmath>
#include <numeric>

namespace axisloom::cli {
namespace {

using io::HostArray;

constexpr i64 side = 768;
constexpr float factor = 1.5f, light = 0.5f;

template <class Value>
Value* values(const HostArray& array) {
  return reinterpret_cast<Value*>(array.memory.get());
}

/// The array whose elements are value_at(number of the element, in order).
template <class Value, class ValueAt>
HostArray filled(Dtype dtype, const Dims& shape, const ValueAt& value_at) {
  HostArray array = HostArray::allocate(View::contiguous(dtype, shape));
  for (i64 i = 0, count = array.view.count(); i < count; ++i) values<Value>(array)[i] = value_at(i);
  return array;
}

template <class ValueAt>
HostArray square_of_floats(const ValueAt& value_at) {
  return filled<float>(Dtype::f32, {side, side}, value_at);
}

template <class ValueAt>
HostArray square_of_bytes(const ValueAt& value_at) {
  return filled<u8>(Dtype::u8, {side, side}, value_at);
}

HostArray scaled_identity() {
  return square_of_floats([](i64 i) { return i / side == i % side ? factor : 0; });
}

/// `light` everywhere but in the letters, which are 0.
HostArray picture_of_a_word() {
  HostArray mask = square_of_bytes([](i64) { return 0; });
  constexpr int scale = 28;  // three letters of 8 pixels fill seven eighths of the width
  draw_text(mask, (side - 8 * scale) / 2, (side - 3 * 8 * scale) / 2, scale, 1, "IOU");
  return square_of_floats([&](i64 i) { return values<u8>(mask)[i] == 0 ? light : 0; });
}

HostArray brightened(const HostArray& picture) {
  return square_of_floats([&](i64 i) { return factor * values<float>(picture)[i]; });
}

/// 0 ... 1 as 0 ... 255.
HostArray as_grey(const HostArray& picture) {
  return square_of_bytes([&](i64 i) { return std::lround(255 * values<float>(picture)[i]); });
}

PlanOptions forced(const char* candidate) {
  PlanOptions options;
  options.candidate = candidate;
  return options;
}

HostArray numbers(i64 count) {
  return filled<u32>(Dtype::u32, {count}, [](i64 i) { return u32(i * 2654435761); });
}

HostArray sum_on_host(const HostArray& array) {
  const std::span terms(values<u32>(array), array.view.count());
  return filled<u64>(Dtype::u64, {}, [&](i64) { return std::accumulate(terms.begin(), terms.end(), u64{0}); });
}

}  // namespace

void show_product(Show& show) {
  const HostArray picture = picture_of_a_word(), known = brightened(picture);
  const std::array inputs{scaled_identity(), picture};
  const Operation product = matmul();
  show.step_to("product, an item per element", product, inputs, known, forced("plain"));
  show.step_to("product, tiles of 16 x 16", product, inputs, known, forced("local16"));
  const HostArray result = show.step_to("product, tuned", product, inputs, known);
  show.save(as_grey(picture), "iou.png");
  show.save(as_grey(result), "iou-product.png");
}

void show_sum(Show& show) {
  for (const i64 count : {i64{4096}, (i64{1} << 24) + 1}) {
    const HostArray array = numbers(count), known = sum_on_host(array);
    show.step_to("sum, the textbook's way", {"sum"}, std::span(&array, 1), known, forced("lesson"));
    show.step_to("sum, tuned", {"sum"}, std::span(&array, 1), known);
  }
}

}  // namespace axisloom::cli
