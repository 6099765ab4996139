// Bar charts: a row per contestant, its name to the left, its rate behind the bar.
#include "bench/svg.hpp"

#include "harness/arguments.hpp"

#include "io/quoting.hpp"

#include <algorithm>

namespace axisloom::bench {
namespace {

// In units of the drawing, of which 16 are about a line of text.
constexpr double bar_row = 24, bar_height = 14, names_width = 130, bars_width = 270, values_width = 120;
constexpr double chart_width = names_width + bars_width + values_width;

/// The chart in words, for who cannot see it.
std::string described(const BarChart& chart) {
  const auto told = [&](const Bar& bar) {
    return fmt::format("{} {} {}", bar.name, short_number(bar.value), chart.unit);
  };
  return joined(chart.bars, "; ", told) + ".";
}

std::string bar_text(const Bar& bar, double y, double scale, const std::string& unit) {
  const double middle = y + bar_row / 2;
  const std::string value = short_number(bar.value) + " " + unit;
  return fmt::format(R"(<text class="name" x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>)", names_width - 8,
                     middle + 4, escaped_html(bar.name)) +
         fmt::format(
             R"(<rect class="{}" x="{:.0f}" y="{:.1f}" width="{:.1f}" height="{:.0f}"><title>{}</title></rect>)",
             is_reference(bar.role) ? "reference" : name(bar.role), names_width, middle - bar_height / 2,
             std::max(1.0, bar.value * scale), bar_height,
             escaped_html(fmt::format("{}: {}, 95% interval {} to {}", bar.name, value, short_number(bar.low),
                                      short_number(bar.high)))) +
         fmt::format(R"(<path class="interval" d="M{:.1f} {:.1f}H{:.1f}"/>)"
                     R"(<text class="value" x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>)",
                     names_width + bar.low * scale, middle, names_width + bar.high * scale, chart_width - 6, middle + 4,
                     value);
}

}  // namespace

std::string escaped_html(std::string_view text) {
  static constexpr std::string_view special = "&<>\"";
  static constexpr std::array entities{"&amp;", "&lt;", "&gt;", "&quot;"};
  std::string escaped;
  for (char c : io::printable(text)) {
    const size_t which = special.find(c);
    escaped += which < entities.size() ? entities[which] : std::string(1, c);
  }
  return escaped;
}

std::string short_number(double value) {
  return fmt::format("{:.{}f}", value, value < 10 ? 2 : value < 100 ? 1 : 0);
}

std::string svg_of(const BarChart& chart) {
  double most = chart.ceiling.value_or(0);
  for (const Bar& bar : chart.bars) most = std::max({most, bar.value, bar.high});
  const double scale = most > 0 ? bars_width / most : 0;
  const double height = bar_row * chart.bars.size() + 8;
  std::string text =
      fmt::format(R"(<svg class="bars" viewBox="0 0 {0:.0f} {1:.0f}" role="img" aria-labelledby="{2}-t {2}-d">)"
                  R"(<title id="{2}-t">{3}</title><desc id="{2}-d">{4}</desc>)",
                  chart_width, height, chart.id, escaped_html(chart.title), escaped_html(described(chart)));
  for (size_t i = 0; i < chart.bars.size(); ++i)
    text += "\n" + bar_text(chart.bars[i], 4 + bar_row * i, scale, chart.unit);
  if (chart.ceiling)
    text +=
        fmt::format("\n<path class=\"ceiling\" d=\"M{:.1f} 0V{:.0f}\"/>", names_width + *chart.ceiling * scale, height);
  return text + "</svg>\n";
}

}  // namespace axisloom::bench
