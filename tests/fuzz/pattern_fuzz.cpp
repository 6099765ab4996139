// Any text as a pattern and any small numbers as shapes and lengths: a binding that counts the same elements on both
// sides, or an Error of usage. The input is the pattern, a NUL, which side may have axes of its own or whether it is
// einsum's, per operand a rank and extents, then pairs of a one-letter name and a length.
#include <axisloom/error.hpp>
#include <cstdlib>
#include <span>
#include <string>

#include "core/pattern.hpp"

#include "numbers.hpp"

namespace {

using axisloom::Dims;
using axisloom::core::BoundPattern;
using axisloom::core::Broadcast;
using axisloom::core::OneSided;

/// Numbers of which small ones are likelier, since axes of a pattern have few elements.
class Numbers : public axisloom::fuzz::Numbers {
 public:
  using axisloom::fuzz::Numbers::Numbers;
  std::int64_t extent() {
    const int value = byte();
    if (value < 192) return value;
    return value == 255 ? 0 : std::int64_t{1} << (value - 192);
  }
  /// An extent, or one of the negative lengths that users may type.
  std::int64_t length() {
    const std::int64_t value = extent();
    return value == 191 ? -1 : value;
  }
};

/// Every axis of `shape` must be the product of the elementary axes that make it up, or broadcast.
void require_products(const BoundPattern& bound, const std::vector<std::vector<int>>& side, const Dims& shape,
                      Broadcast broadcast = Broadcast::no) {
  if (side.size() != static_cast<std::size_t>(shape.size())) std::abort();
  for (std::size_t i = 0; i < side.size(); ++i) {
    if (broadcast == Broadcast::yes && side[i].size() == 1 && shape[static_cast<int>(i)] == 1) continue;
    std::int64_t product = 1;
    for (const int axis : side[i]) {
      const std::int64_t extent = bound.axes.at(static_cast<std::size_t>(axis)).extent;
      if (extent < 0 || __builtin_mul_overflow(product, extent, &product)) std::abort();
    }
    if (product != shape[static_cast<int>(i)]) std::abort();
  }
}

std::vector<Dims> shapes_from(Numbers& numbers, std::size_t count) {
  std::vector<Dims> shapes;
  for (std::size_t i = 0; i < count; ++i) {
    Dims shape;
    for (int rank = numbers.byte() % 6; rank > 0; --rank) shape.push_back(numbers.extent());
    shapes.push_back(shape);
  }
  return shapes;
}

void check(const std::string& text, Numbers numbers) {
  const int mode = numbers.byte() % 4;
  const bool einsum = mode == 3;
  const auto broadcast = einsum ? Broadcast::yes : Broadcast::no;
  const auto allowed = einsum ? OneSided::left : static_cast<OneSided>(mode);
  const std::vector<Dims> shapes = shapes_from(numbers, static_cast<std::size_t>(axisloom::core::count_operands(text)));
  const axisloom::core::Pattern pattern =
      einsum ? axisloom::core::parse_einsum(text, shapes) : axisloom::core::parse(text);
  axisloom::Lengths lengths;
  while (!numbers.empty()) {
    const auto letter = static_cast<char>(numbers.byte());
    lengths.emplace_back(std::string(1, letter), numbers.length());
  }
  const BoundPattern bound = axisloom::core::bind(pattern, shapes, lengths, allowed, broadcast);
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    require_products(bound, bound.inputs.at(i), shapes[i], broadcast);
    const Dims strides = axisloom::contiguous_strides(shapes[i]);
    if (axisloom::core::elementary_strides(bound, bound.inputs[i], strides).size() != bound.axes.size()) std::abort();
  }
  const Dims output = axisloom::core::output_shape(bound);
  require_products(bound, bound.output, output);
  if (allowed == OneSided::none && shapes.size() == 1 &&
      axisloom::element_count(output) != axisloom::element_count(shapes[0])) {
    std::abort();
  }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string all(reinterpret_cast<const char*>(data), size);
  const std::size_t end = std::min(all.find('\0'), size);
  try {
    check(all.substr(0, end), Numbers(std::span(data, size).subspan(std::min(end + 1, size))));
  } catch (const axisloom::Error& error) {
    if (axisloom::exit_code(error.code()) != axisloom::exit_code(axisloom::Errc::usage)) throw;
  }
  return 0;
}
