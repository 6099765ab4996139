// The arrays of the lessons, and what must come of them.
#include "cli/demo/lessons.hpp"

#include "cli/demo/card.hpp"

#include <array>
#include <cmath>
#include <cstring>

namespace axisloom::cli {
namespace {

constexpr std::int64_t side = 768;
constexpr float factor = 1.5f, light = 0.5f;

float* floats(const io::HostArray& array) {
  return reinterpret_cast<float*>(array.memory.get());
}

io::HostArray square_of_zeros(Dtype dtype) {
  io::HostArray array = io::HostArray::allocate(View::contiguous(dtype, {side, side}));
  std::memset(array.memory.get(), 0, array.bytes);
  return array;
}

io::HostArray scaled_identity() {
  io::HostArray array = square_of_zeros(Dtype::f32);
  for (std::int64_t i = 0; i < side; ++i) floats(array)[i * side + i] = factor;
  return array;
}

/// `light` everywhere but in the letters, which are 0.
io::HostArray picture_of_a_word() {
  io::HostArray mask = square_of_zeros(Dtype::u8);
  constexpr int scale = 28;  // three letters of 8 pixels fill seven eighths of the width
  draw_text(mask, (static_cast<int>(side) - 8 * scale) / 2, (static_cast<int>(side) - 3 * 8 * scale) / 2, scale, 1,
            "IOU");
  io::HostArray picture = square_of_zeros(Dtype::f32);
  for (std::int64_t i = 0; i < side * side; ++i)
    floats(picture)[i] = mask.memory.get()[i] == std::byte{0} ? light : 0.0f;
  return picture;
}

io::HostArray brightened(const io::HostArray& picture) {
  io::HostArray result = square_of_zeros(Dtype::f32);
  for (std::int64_t i = 0; i < side * side; ++i) floats(result)[i] = factor * floats(picture)[i];
  return result;
}

/// 0 ... 1 as 0 ... 255.
io::HostArray as_grey(const io::HostArray& picture) {
  io::HostArray grey = square_of_zeros(Dtype::u8);
  for (std::int64_t i = 0; i < side * side; ++i)
    grey.memory.get()[i] = static_cast<std::byte>(std::lround(255 * floats(picture)[i]));
  return grey;
}

PlanOptions forced(const char* candidate) {
  PlanOptions options;
  options.candidate = candidate;
  return options;
}

io::HostArray numbers(std::int64_t count) {
  io::HostArray array = io::HostArray::allocate(View::contiguous(Dtype::u32, {count}));
  auto* const values = reinterpret_cast<std::uint32_t*>(array.memory.get());
  for (std::int64_t i = 0; i < count; ++i) values[i] = static_cast<std::uint32_t>(i * 2654435761);
  return array;
}

io::HostArray sum_on_host(const io::HostArray& array) {
  const auto* const values = reinterpret_cast<const std::uint32_t*>(array.memory.get());
  std::uint64_t sum = 0;
  for (std::int64_t i = 0; i < array.view.count(); ++i) sum += values[i];
  io::HostArray result = io::HostArray::allocate(View::contiguous(Dtype::u64, {}));
  std::memcpy(result.memory.get(), &sum, sizeof sum);
  return result;
}

}  // namespace

void show_product(Show& show) {
  const io::HostArray picture = picture_of_a_word(), known = brightened(picture);
  const std::array inputs{scaled_identity(), picture};
  const Operation product = matmul();
  show.step_to("product, an item per element", product, inputs, known, forced("plain"));
  show.step_to("product, tiles of 16 x 16", product, inputs, known, forced("local16"));
  const io::HostArray result = show.step_to("product, tuned", product, inputs, known);
  show.save(as_grey(picture), "iou.png");
  show.save(as_grey(result), "iou-product.png");
}

void show_sum(Show& show) {
  for (const std::int64_t count : {std::int64_t{4096}, (std::int64_t{1} << 24) + 1}) {
    const io::HostArray array = numbers(count), known = sum_on_host(array);
    show.step_to("sum, the textbook's way", {"sum"}, std::span(&array, 1), known, forced("lesson"));
    show.step_to("sum, tuned", {"sum"}, std::span(&array, 1), known);
  }
}

}  // namespace axisloom::cli
