// Parsing of axis lists.
#include "core/axes.hpp"

#include "core/text.hpp"

#include <axisloom/error.hpp>

namespace axisloom::core {
namespace {

int parse_axis(std::string_view text, std::string_view all) {
  if (const auto axis = whole_number<int>(trimmed(text))) return *axis;
  throw Error(Errc::axis, concat("'", all, "' is not a list of axes"), "write axes such as 2,0,1, or none");
}

}  // namespace

std::vector<int> counted_axes(std::span<const int> given, int rank, std::string_view array) {
  std::vector<int> axes;
  for (const int number : given) {
    const int axis = number < 0 ? number + rank : number;
    if (axis < 0 || axis >= rank)
      throw Error(Errc::axis, concat("axis ", number, " is out of range for ", array),
                  rank == 0 ? "it has no axes" : concat("axes go from ", -rank, " to ", rank - 1));
    if (contains(axes, axis))
      throw Error(Errc::axis, concat("axis ", number, " is named twice in '", joined(given, ","), "'"));
    axes.push_back(axis);
  }
  return axes;
}

std::vector<int> parse_axes(std::string_view text, const View& view) {
  if (text.empty() || text == no_axes) return {};
  std::vector<int> given;
  for (const std::string_view part : comma_separated(text)) given.push_back(parse_axis(part, text));
  return counted_axes(given, view.rank(), to_string(view));
}

}  // namespace axisloom::core
