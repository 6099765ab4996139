// A move says itself from which axis of the picture each axis of the result comes.
#include "cli/picture_info.hpp"

#include "cli/messages.hpp"

#include "planner/registry.hpp"

#include <array>

namespace axisloom::cli {
namespace {

using io::ImageInfo, io::Resolution;

/// Of the input's axes 0 (h) and 1 (w), the one along which a step along such an axis of the result goes; nothing
/// where it is neither, or there are no steps.
std::optional<int> axis_behind(const core::Move& move, const View& input, const View& result, int axis) {
  for (const core::Loop& loop : move.axes)
    if (loop.extent > 1 && loop.out == result.strides[axis])
      for (const int from : {0, 1})
        if (loop.in == input.strides[from]) return from;
  return std::nullopt;
}

std::optional<Resolution> resolution_of_result(const Change& change) {
  const View &input = change.input.view, &result = change.result;
  const std::optional<Resolution> known = change.input.info->resolution;
  if (!known || known->x == known->y) return known;
  const ops::OpEntry& entry = ops::entry(change.op.name);
  if (!entry.move || input.rank() > 3 || result.rank() < 2) return std::nullopt;
  const core::Move move = entry.move(change.op, std::array{input, result});
  const std::optional<int> h = axis_behind(move, input, result, 0), w = axis_behind(move, input, result, 1);
  if (h == 0 && w == 1) return known;
  if (h == 1 && w == 0) return Resolution{known->y, known->x, known->per_metre};
  return std::nullopt;
}

/// A profile is one of colours, or of greys.
bool is_colour(const View& view) {
  return view.rank() > 2 && view.shape.back() > 2;
}

}  // namespace

std::shared_ptr<const ImageInfo> info_of_result(const Change& change) {
  if (!change.input.info) return nullptr;
  ImageInfo info{.resolution = resolution_of_result(change)};
  if (change.cast.keeps_brightness(change.input.view.dtype) && is_colour(change.input.view) == is_colour(change.result))
    info.profile = change.input.info->profile;
  return std::make_shared<const ImageInfo>(std::move(info));
}

void tell_lost(const std::shared_ptr<const ImageInfo>& before, const std::shared_ptr<const ImageInfo>& after,
               const io::Format* format) {
  if (!before || !format || !format->images) return;
  const ImageInfo kept = after && format->keeps_info ? *after : ImageInfo{};
  if (kept.profile != before->profile) say("  the colour profile of the input is not in the output");
  if (before->resolution && !kept.resolution) say("  the resolution of the input is not in the output");
}

}  // namespace axisloom::cli
