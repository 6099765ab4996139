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

std::vector<int> parse_axes(std::string_view text, const View& view) {
  std::vector<int> axes;
  if (text.empty() || text == no_axes) return axes;
  for (const std::string_view part : comma_separated(text)) {
    const int given = parse_axis(part, text);
    const int axis = given < 0 ? given + view.rank() : given;
    if (axis < 0 || axis >= view.rank())
      throw Error(Errc::axis, concat("axis ", given, " is out of range for ", to_string(view)),
                  view.rank() == 0 ? "it has no axes" : concat("axes go from ", -view.rank(), " to ", view.rank() - 1));
    if (contains(axes, axis)) throw Error(Errc::axis, concat("axis ", given, " is named twice in '", text, "'"));
    axes.push_back(axis);
  }
  return axes;
}

}  // namespace axisloom::core
