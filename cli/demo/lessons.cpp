// The arrays of the lessons, and what must come of them.
#include "cli/demo/lessons.hpp"

#include "cli/demo/card.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace axisloom::cli {
namespace {

using io::HostArray;

constexpr i64 side = 768;
constexpr float factor = 1.5f, light = 0.5f;

float* floats(const HostArray& array) {
  return reinterpret_cast<float*>(array.memory.get());
}

HostArray square_of_zeros(Dtype dtype) {
  HostArray array = HostArray::allocate(View::contiguous(dtype, {side, side}));
  std::memset(array.memory.get(), 0, array.bytes);
  return array;
}

HostArray scaled_identity() {
  HostArray array = square_of_zeros(Dtype::f32);
  for (i64 i = 0; i < side; ++i) floats(array)[i * side + i] = factor;
  return array;
}

/// `light` everywhere but in the letters, which are 0.
HostArray picture_of_a_word() {
  HostArray mask = square_of_zeros(Dtype::u8);
  constexpr int scale = 28;  // three letters of 8 pixels fill seven eighths of the width
  draw_text(mask, (int(side) - 8 * scale) / 2, (int(side) - 3 * 8 * scale) / 2, scale, 1, "IOU");
  HostArray picture = square_of_zeros(Dtype::f32);
  for (i64 i = 0; i < side * side; ++i) floats(picture)[i] = mask.memory.get()[i] == std::byte{0} ? light : 0.0f;
  return picture;
}

HostArray brightened(const HostArray& picture) {
  HostArray result = square_of_zeros(Dtype::f32);
  for (i64 i = 0; i < side * side; ++i) floats(result)[i] = factor * floats(picture)[i];
  return result;
}

/// 0 ... 1 as 0 ... 255.
HostArray as_grey(const HostArray& picture) {
  HostArray grey = square_of_zeros(Dtype::u8);
  for (i64 i = 0; i < side * side; ++i) grey.memory.get()[i] = std::byte(std::lround(255 * floats(picture)[i]));
  return grey;
}

PlanOptions forced(const char* candidate) {
  PlanOptions options;
  options.candidate = candidate;
  return options;
}

HostArray numbers(i64 count) {
  HostArray array = HostArray::allocate(View::contiguous(Dtype::u32, {count}));
  auto* const values = reinterpret_cast<u32*>(array.memory.get());
  for (i64 i = 0; i < count; ++i) values[i] = u32(i * 2654435761);
  return array;
}

HostArray sum_on_host(const HostArray& array) {
  const auto* const values = reinterpret_cast<const u32*>(array.memory.get());
  u64 sum = 0;
  for (i64 i = 0; i < array.view.count(); ++i) sum += values[i];
  HostArray result = HostArray::allocate(View::contiguous(Dtype::u64, {}));
  std::memcpy(result.memory.get(), &sum, sizeof sum);
  return result;
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
