// The operation knows layouts of batches. An image is a batch of one.
#include "cli/image_layouts.hpp"

#include "harness/arguments.hpp"

#include <algorithm>
#include <cctype>

namespace axisloom::cli {
namespace {

/// Whether the layout lacks an N, which it then gets.
bool is_completed(std::string& layout) {
  std::ranges::transform(layout, layout.begin(), [](unsigned char letter) { return char(std::toupper(letter)); });
  const bool one = std::ranges::count(layout, 'N') == 0 && (layout.starts_with('H') || layout.starts_with('C'));
  if (one) layout.insert(0, 1, 'N');
  return one;
}

}  // namespace

ImageLayouts::ImageLayouts(const ops::OpEntry& entry, Operation& op) {
  if (entry.draw != ops::Draw::layouts) return;
  one_in_ = is_completed(op.arguments.front());
  one_out_ = is_completed(op.arguments.back());
}

void ImageLayouts::enter(io::HostArray& input) const {
  if (!one_in_) return;
  View& view = input.view;
  Dims shape{1}, strides{view.count()};
  for (int axis = 0; axis < view.rank(); ++axis) {
    shape.push_back(view.shape[axis]);
    strides.push_back(view.strides[axis]);
  }
  view.shape = shape;
  view.strides = strides;
}

View ImageLayouts::leave(const View& result) const {
  if (!one_out_) return result;
  if (result.shape[0] != 1)
    harness::refuse("name a layout with N for the output", "{} holds {} images, and the layout of the output has no N",
                    to_string(result), result.shape[0]);
  return View::contiguous(result.dtype, Dims(std::span(result.shape.begin() + 1, result.shape.end())));
}

}  // namespace axisloom::cli
