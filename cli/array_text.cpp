// What follows an element tells the axes that end with it.
#include "cli/array_text.hpp"

#include "core/number.hpp"

namespace axisloom::cli {
namespace {

/// How many axes, from the last one on, end with the element of this number.
int ending_axes(const Dims& shape, i64 number) {
  int axes = 0;
  i64 block = 1;
  for (; axes < int(shape.size()); ++axes) {
    block *= shape[shape.size() - 1 - size_t(axes)];
    if ((number + 1) % block != 0) break;
  }
  return axes;
}

}  // namespace

std::string array_text(const io::HostArray& array) {
  std::string text;
  const i64 count = array.view.count();
  for (i64 i = 0; i < count; ++i) {
    const std::byte* const element = array.memory.get() + i * i64(size_of(array.view.dtype));
    const int ending = i + 1 < count ? ending_axes(array.view.shape, i) : 1;
    text += core::number_text(array.view.dtype, element) + (ending == 0 ? " " : std::string(size_t(ending), '\n'));
  }
  return text;
}

}  // namespace axisloom::cli
