// Lists of axes as users write them: "2,0,-1".
#pragma once

#include <axisloom/array.hpp>

#include <span>
#include <string_view>
#include <vector>

namespace axisloom::core {

/// The word for a list without axes, which on a command line would look forgotten.
inline constexpr const char* no_axes = "none";

/// Numbers of axes of an array, negative ones counted from the end, as they come out positive. Throws Error(axis) for
/// one that is out of range or named twice; `array` says of what: "f32[3,4]".
std::vector<int> counted_axes(std::span<const int> given, int rank, std::string_view array);

/// The axes that `text` names, in its order; negative ones count from the end and come out positive. Throws
/// Error(axis) for what is not a list of numbers, is out of range for the view, or is named twice.
std::vector<int> parse_axes(std::string_view text, const View& view);

}  // namespace axisloom::core
