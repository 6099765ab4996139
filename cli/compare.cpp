// Walks views element by element; only for checking, so plain rather than fast.
#include "compare.hpp"

#include <fmt/format.h>

#include <cstring>

namespace axisloom::cli {
namespace {

std::string hexadecimal(const std::byte* element, std::size_t size) {
  std::string digits = "0x";
  for (std::size_t i = size; i > 0; --i) digits += fmt::format("{:02x}", std::to_integer<unsigned>(element[i - 1]));
  return digits;
}

}  // namespace

std::string to_string(const Difference& difference) {
  return fmt::format("at {} want {} got {}", to_string(difference.index), difference.want, difference.got);
}

void for_each_element(const View& view, const std::function<bool(const Dims&, std::int64_t)>& visit) {
  if (view.count() == 0) return;
  Dims index = Dims::filled(view.rank(), 0);
  std::int64_t offset = view.offset;
  while (visit(index, offset)) {
    int axis = view.rank() - 1;
    for (; axis >= 0; --axis) {
      offset += view.strides[axis];
      if (++index[axis] < view.shape[axis]) break;
      offset -= view.strides[axis] * view.shape[axis];
      index[axis] = 0;
    }
    if (axis < 0) return;
  }
}

std::optional<Difference> first_difference(const View& view, const std::byte* want, const std::byte* got) {
  const std::size_t size = size_of(view.dtype);
  std::optional<Difference> difference;
  for_each_element(view, [&](const Dims& index, std::int64_t offset) {
    const std::size_t at = static_cast<std::size_t>(offset) * size;
    if (std::memcmp(want + at, got + at, size) == 0) return true;
    difference = Difference{index, hexadecimal(want + at, size), hexadecimal(got + at, size)};
    return false;
  });
  return difference;
}

io::HostArray oracle_result(const Operation& op, std::span<const io::HostArray> inputs, const View& output) {
  std::vector<View> views;
  std::vector<const std::byte*> starts;
  for (const io::HostArray& input : inputs) {
    views.push_back(input.view);
    starts.push_back(input.memory.get());
  }
  views.push_back(output);
  io::HostArray result = io::HostArray::allocate(output);
  ops::entry(op.name).oracle(op, views, starts, result.memory.get());
  return result;
}

}  // namespace axisloom::cli
