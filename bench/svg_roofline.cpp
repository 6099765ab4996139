// Rooflines: two axes by powers of ten, ceilings as lines, and a mark of its own for each contestant.
#include "bench/svg.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace axisloom::bench {
namespace {

constexpr double plot_left = 70, plot_top = 16, plot_width = 600, plot_height = 380,
                 plot_bottom = plot_top + plot_height;
constexpr double legend_left = plot_left + plot_width + 20, drawing_width = legend_left + 150,
                 drawing_height = plot_bottom + 54;

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

std::string power_text(int exponent) {
  if (exponent >= 0 && exponent <= 5) return fmt::format("{:.0f}", std::pow(10.0, exponent));
  if (exponent < 0 && exponent >= -3) return fmt::format("{:.{}f}", std::pow(10.0, exponent), -exponent);
  return concat("1e", exponent);
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

/// The names of roofs that lie close together stand beside each other.
std::string roofs_of(const Axes& axes, const std::vector<const Roofline::Ceiling*>& roofs) {
  constexpr double line_height = 15, character_width = 7.8;
  std::string text;
  double x = plot_left + 6, above = -line_height;
  for (const auto* roof : roofs) {
    const double y = axes.y.at(roof->value);
    const std::string name = fmt::format("{}: {} GFLOP/s", roof->name, short_number(roof->value));
    if (y - above >= line_height) x = plot_left + 6, above = y;
    text += fmt::format(
        "<path class=\"ceiling\" d=\"M{:.0f} {:.1f}h{:.0f}\"/>"
        "<text class=\"ceiling-name\" x=\"{:.0f}\" y=\"{:.1f}\">{}</text>\n",
        plot_left, y, plot_width, x, above - 5, escaped_html(name));
    x += character_width * name.size() + 14;
  }
  return text;
}

/// From where it enters the plot to where it meets the highest roof, or leaves. Its name runs along it, above or below.
std::string slope_of(const Axes& axes, const Roofline::Ceiling& slope, double roof, bool above) {
  const double from = std::max(axes.x.least(), axes.y.least() / slope.value),
               to = std::min(axes.x.most(), roof / slope.value);
  if (from >= to) return {};
  const double x1 = axes.x.at(from), y1 = axes.y.at(from * slope.value), x2 = axes.x.at(to),
               y2 = axes.y.at(to * slope.value);
  const double angle = std::atan2(y2 - y1, x2 - x1) * 45 / std::atan(1.0);
  return fmt::format(
      "<path class=\"ceiling\" d=\"M{:.1f} {:.1f}L{:.1f} {:.1f}\"/>"
      "<text class=\"ceiling-name\" transform=\"translate({:.1f} {:.1f}) rotate({:.1f})\" dy=\"{}\" "
      "text-anchor=\"middle\">{}: {} GB/s</text>\n",
      x1, y1, x2, y2, x1 + 0.3 * (x2 - x1), y1 + 0.3 * (y2 - y1), angle, above ? -6 : 16, escaped_html(slope.name),
      short_number(slope.value));
}

std::string ceilings_of(std::vector<Roofline::Ceiling> ceilings, const Axes& axes) {
  std::ranges::stable_sort(ceilings, std::greater(), &Roofline::Ceiling::value);
  std::vector<const Roofline::Ceiling*> slopes, roofs;
  for (const auto& ceiling : ceilings) (ceiling.of_memory ? slopes : roofs).push_back(&ceiling);
  const double roof = roofs.empty() ? axes.y.most() : roofs.front()->value;
  std::string text = roofs_of(axes, roofs);
  for (const auto* slope : slopes) text += slope_of(axes, *slope, roof, slope == slopes.front());
  return text;
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

std::string legend_of(const Texts& series) {
  std::string text;
  for (size_t i = 0; i < series.size(); ++i) {
    const double y = plot_top + 14 + 22.0 * i;
    text += fmt::format("<path class=\"mark s{}\" d=\"{}\"/><text x=\"{:.0f}\" y=\"{:.1f}\">{}</text>\n", colour(i),
                        mark(i, legend_left, y - 4), legend_left + 14, y, escaped_html(series[i]));
  }
  return text;
}

/// The contestants of the points, in the order in which they come.
Texts series_of(const Roofline& roofline) {
  Texts series;
  for (const auto& point : roofline.points) add_once(series, point.series);
  return series;
}

}  // namespace

std::string svg_of(const Roofline& roofline) {
  const Axes axes = axes_of(roofline);
  const Texts series = series_of(roofline);
  std::string text = fmt::format(
      R"(<svg class="roofline" viewBox="0 0 {0:.0f} {1:.0f}" role="img" aria-labelledby="{2}-t {2}-d">)"
      R"(<title id="{2}-t">{3}</title><desc id="{2}-d">)"
      "{4} results of {5} contestants below {6} measured ceilings; the table below holds the figures.</desc>\n",
      drawing_width, drawing_height, roofline.id, escaped_html(roofline.title), roofline.points.size(), series.size(),
      roofline.ceilings.size());
  text += grid_of(axes) + ceilings_of(roofline.ceilings, axes);
  for (size_t back = series.size(); back-- > 0;)  // the first series on top of the others
    for (const auto& point : roofline.points)
      if (point.series == series[back])
        text += fmt::format(
            "<path class=\"mark s{}\" d=\"{}\"><title>{}</title></path>\n", colour(back),
            mark(back, axes.x.at(point.intensity), axes.y.at(point.gflops)),
            escaped_html(fmt::format("{}, {}: {} GFLOP/s at {} operations per byte", point.series, point.label,
                                     short_number(point.gflops), short_number(point.intensity))));
  return text + legend_of(series) + "</svg>\n";
}

}  // namespace axisloom::bench
