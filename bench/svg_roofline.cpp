// Rooflines: two axes by powers of ten, ceilings as lines, and a mark of its own for each contestant.
#include "bench/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace axisloom::bench {
namespace {

constexpr double plot_left = 70, plot_top = 16, plot_width = 600, plot_height = 380,
                 plot_bottom = plot_top + plot_height, plot_right = plot_left + plot_width;
constexpr double roof_names_left = plot_right + 22, drawing_width = roof_names_left + 300;
constexpr double legend_top = plot_bottom + 68, legend_row = 22, legend_columns = 6,
                 legend_column = (drawing_width - plot_left) / legend_columns;

/// An axis from one power of ten to another.
struct LogAxis {
  int first, last;       // exponents
  double start, length;  // in the drawing; negative lengths run upwards

  static LogAxis over(double least, double most, double start, double length) {
    const int first = std::floor(std::log10(least));
    return {first, std::max(first + 1, int(std::ceil(std::log10(most)))), start, length};
  }
  double at(double value) const { return start + length * (std::log10(value) - first) / (last - first); }
  double least() const { return std::pow(10.0, first); }
  double most() const { return std::pow(10.0, last); }
};

struct Axes {
  LogAxis x, y;
};

Axes axes_of(const Roofline& roofline) {
  using Point = Roofline::Point;
  const auto [left, right] = std::ranges::minmax(roofline.points, {}, &Point::intensity);
  const auto [low, high] = std::ranges::minmax(roofline.points, {}, &Point::gflops);
  double x_most = right.intensity, y_most = high.gflops;
  for (const auto& ceiling : roofline.ceilings)
    if (!ceiling.of_memory) y_most = std::max(y_most, ceiling.value);
  for (const auto& ceiling : roofline.ceilings)  // the ridges belong to the picture
    if (ceiling.of_memory) x_most = std::max(x_most, std::min(y_most / ceiling.value, 1e4));
  return {LogAxis::over(left.intensity, x_most * 1.2, plot_left, plot_width),
          LogAxis::over(low.gflops, y_most * 1.2, plot_bottom, -plot_height)};
}

/// "10⁻³"
std::string power_text(int exponent) {
  static constexpr std::array digits{"⁰", "¹", "²", "³", "⁴", "⁵", "⁶", "⁷", "⁸", "⁹"};
  std::string text = exponent < 0 ? "10⁻" : "10";
  for (const char digit : std::to_string(std::abs(exponent))) text += digits[size_t(digit - '0')];
  return text;
}

std::string grid_of(const Axes& axes) {
  std::string text;
  for (int e = axes.x.first; e <= axes.x.last; ++e)
    text += fmt::format(
        "<path class=\"grid\" d=\"M{0:.1f} {1:.0f}v{2:.0f}\"/>"
        "<text x=\"{0:.1f}\" y=\"{3:.0f}\" text-anchor=\"middle\">{4}</text>\n",
        axes.x.at(std::pow(10.0, e)), plot_top, plot_height, plot_bottom + 18, power_text(e));
  for (int e = axes.y.first; e <= axes.y.last; ++e) {
    const double y = axes.y.at(std::pow(10.0, e));
    text += fmt::format(
        "<path class=\"grid\" d=\"M{:.0f} {:.1f}h{:.0f}\"/>"
        "<text x=\"{:.0f}\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n",
        plot_left, y, plot_width, plot_left - 6, y + 4, power_text(e));
  }
  return text + fmt::format(
                    "<text x=\"{:.0f}\" y=\"{:.0f}\" text-anchor=\"middle\">operations per byte</text>"
                    "<text transform=\"translate(18 {:.0f}) rotate(-90)\" text-anchor=\"middle\">GFLOP/s</text>\n",
                    plot_left + plot_width / 2, plot_bottom + 42, plot_top + plot_height / 2);
}

/// The names stand to the right of the plot, as far apart as lines of text, with a line to each roof.
std::string roofs_of(const Axes& axes, const std::vector<const Roofline::Ceiling*>& roofs) {
  constexpr double line_height = 16;
  std::string text;
  double free = plot_top;
  for (const auto* roof : roofs) {
    const double y = axes.y.at(roof->value), name_y = std::max(y, free);
    text += fmt::format(
        "<path class=\"ceiling\" d=\"M{:.0f} {:.1f}h{:.0f}\"/><path class=\"leader\" d=\"M{:.0f} {:.1f}L{:.0f} "
        "{:.1f}\"/>"
        "<text class=\"ceiling-name\" x=\"{:.0f}\" y=\"{:.1f}\">{}: {} GFLOP/s</text>\n",
        plot_left, y, plot_width, plot_right, y, roof_names_left - 4, name_y, roof_names_left, name_y + 4,
        escaped_html(roof->name), short_number(roof->value));
    free = name_y + line_height;
  }
  return text;
}

/// A slope from where it enters the plot to where it meets the highest roof, or leaves.
struct Line {
  double x1, y1, x2, y2;
};
std::optional<Line> line_of(const Axes& axes, const Roofline::Ceiling& slope, double roof) {
  const double from = std::max(axes.x.least(), axes.y.least() / slope.value),
               to = std::min(axes.x.most(), roof / slope.value);
  if (from >= to) return std::nullopt;
  return Line{axes.x.at(from), axes.y.at(from * slope.value), axes.x.at(to), axes.y.at(to * slope.value)};
}

/// Its name runs along it, above or below.
std::string name_of(const Roofline::Ceiling& slope, const Line& line, bool above) {
  const double angle = std::atan2(line.y2 - line.y1, line.x2 - line.x1) * 45 / std::atan(1.0);
  return fmt::format(
      "<text class=\"ceiling-name\" transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" dy=\"{}\" "
      "text-anchor=\"middle\">{}: {} GB/s</text>\n",
      line.x1 + 0.6 * (line.x2 - line.x1), line.y1 + 0.6 * (line.y2 - line.y1), angle, above ? -6 : 16,
      escaped_html(slope.name), short_number(slope.value));
}

/// What lies below the marks, and what above them.
struct Ceilings {
  std::string lines, names;
};
Ceilings ceilings_of(std::vector<Roofline::Ceiling> ceilings, const Axes& axes) {
  std::ranges::stable_sort(ceilings, std::greater(), &Roofline::Ceiling::value);
  std::vector<const Roofline::Ceiling*> slopes, roofs;
  for (const auto& ceiling : ceilings) (ceiling.of_memory ? slopes : roofs).push_back(&ceiling);
  const double roof = roofs.empty() ? axes.y.most() : roofs.front()->value;
  Ceilings drawn{roofs_of(axes, roofs), {}};
  for (const auto* slope : slopes) {
    const std::optional<Line> line = line_of(axes, *slope, roof);
    if (!line) continue;
    drawn.lines += fmt::format("<path class=\"ceiling\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>\n", line->x1, line->y1,
                               line->x2, line->y2);
    drawn.names += name_of(*slope, *line, slope == slopes.front());
  }
  return drawn;
}

/// A closed outline of about ten units across, of another shape for each series.
std::string mark(size_t series, double x, double y) {
  static constexpr std::array outlines{"m-5 0a5 5 0 1 0 10 0a5 5 0 1 0 -10 0z",
                                       "m-4 -4h8v8h-8z",
                                       "m0 -5l5 9h-10z",
                                       "m0 -6l5 6l-5 6l-5 -6z",
                                       "m0 5l5 -9h-10z",
                                       "m-5 -2h3v-3h4v3h3v4h-3v3h-4v-3h-3z"};
  return fmt::format("M{:.1f} {:.1f}{}", x, y, outlines[series % outlines.size()]);
}

/// The first series, Axisloom, has a colour of its own; the others share five, so that colour and shape together tell
/// thirty apart.
size_t colour(size_t series) {
  return series == 0 ? 0 : 1 + (series - 1) % 5;
}

/// The marks of those who have points in the plot, in rows below it.
std::string legend_of(const Texts& series, const std::vector<size_t>& shown) {
  std::string text;
  for (size_t i = 0; i < shown.size(); ++i) {
    const double x = plot_left + 6 + double(i % size_t(legend_columns)) * legend_column,
                 y = legend_top + std::floor(double(i) / legend_columns) * legend_row;
    text += fmt::format("<path class=\"mark s{}\" d=\"{}\"/><text x=\"{:.0f}\" y=\"{:.1f}\">{}</text>\n",
                        colour(shown[i]), mark(shown[i], x, y - 4), x + 14, y, escaped_html(series[shown[i]]));
  }
  return text;
}

/// The series that have points.
std::vector<size_t> shown_series(const Roofline& roofline) {
  std::vector<size_t> shown;
  for (size_t i = 0; i < roofline.series.size(); ++i)
    if (std::ranges::count(roofline.points, roofline.series[i], &Roofline::Point::series) > 0) shown.push_back(i);
  return shown;
}

std::string marks_of(const Roofline& roofline, const Axes& axes, size_t series) {
  std::string text;
  for (const auto& point : roofline.points)
    if (point.series == roofline.series[series])
      text += fmt::format(
          "<path class=\"mark s{}\" d=\"{}\"><title>{}</title></path>\n", colour(series),
          mark(series, axes.x.at(point.intensity), axes.y.at(point.gflops)),
          escaped_html(fmt::format("{}, {}: {} GFLOP/s at {} operations per byte", point.series, point.label,
                                   short_number(point.gflops), short_number(point.intensity))));
  return text;
}

}  // namespace

std::string svg_of(const Roofline& roofline) {
  const Axes axes = axes_of(roofline);
  const std::vector<size_t> shown = shown_series(roofline);
  const double rows = std::ceil(double(shown.size()) / legend_columns);
  std::string text = fmt::format(
      R"(<svg class="roofline" viewBox="0 0 {0:.0f} {1:.0f}" role="img" aria-labelledby="{2}-t {2}-d">)"
      R"(<title id="{2}-t">{3}</title><desc id="{2}-d">)"
      "{4} results of {5} contestants below {6} measured ceilings; the table below holds the figures.</desc>\n",
      drawing_width, legend_top + rows * legend_row, roofline.id, escaped_html(roofline.title), roofline.points.size(),
      shown.size(), roofline.ceilings.size());
  const Ceilings ceilings = ceilings_of(roofline.ceilings, axes);
  text += grid_of(axes) + ceilings.lines;
  for (size_t back = shown.size(); back-- > 0;) text += marks_of(roofline, axes, shown[back]);  // the first on top
  return text + ceilings.names + legend_of(roofline.series, shown) + "</svg>\n";
}

}  // namespace axisloom::bench
