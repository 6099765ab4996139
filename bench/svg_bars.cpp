// Bar charts: a row per contestant, its name to the left, its rate behind the bar.
#include "bench/svg.hpp"

#include "harness/arguments.hpp"

#include "io/quoting.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench {
namespace {

// In units of the drawing, of which 16 are about a line of text.
constexpr double bar_row = 24, bar_height = 14, names_width = 130, bars_width = 270, values_width = 120;
constexpr double chart_width = names_width + bars_width + values_width;

std::string bar_class(Role role) {
  return role == Role::ours ? "ours" : is_reference(role) ? "reference" : "peer";
}

/// The chart in words, for who cannot see it.
std::string described(const BarChart& chart) {
  const auto told = [&](const Bar& bar) {
    return fmt::format("{} {} {}", bar.name, short_number(bar.value), chart.unit);
  };
  return harness::joined(chart.bars, "; ", told) + ".";
}

std::string bar_text(const Bar& bar, double y, double scale, const std::string& unit) {
  const double middle = y + bar_row / 2, length = std::max(1.0, bar.value * scale);
  std::string text = fmt::format(R"(<text class="name" x="{:.0f}" y="{:.1f}" text-anchor="end">{}</text>)",
                                 names_width - 8, middle + 4, escaped_html(bar.name));
  text +=
      fmt::format(R"(<rect class="{}" x="{:.0f}" y="{:.1f}" width="{:.1f}" height="{:.0f}"><title>{}</title></rect>)",
                  bar_class(bar.role), names_width, middle - bar_height / 2, length, bar_height,
                  escaped_html(fmt::format("{}: {} {}, 95% interval {} to {}", bar.name, short_number(bar.value), unit,
                                           short_number(bar.low), short_number(bar.high))));
  text += fmt::format(R"(<path class="interval" d="M{:.1f} {:.1f}H{:.1f}"/>)", names_width + bar.low * scale, middle,
                      names_width + bar.high * scale);
  return text + fmt::format(R"(<text class="value" x="{:.0f}" y="{:.1f}" text-anchor="end">{} {}</text>)",
                            chart_width - 6, middle + 4, short_number(bar.value), unit);
}

}  // namespace

std::string escaped_html(std::string_view text) {
  std::string escaped;
  for (char c : io::printable(text)) switch (c) {
      case '&':
        escaped += "&amp;";
        break;
      case '<':
        escaped += "&lt;";
        break;
      case '>':
        escaped += "&gt;";
        break;
      case '"':
        escaped += "&quot;";
        break;
      default:
        escaped += c;
    }
  return escaped;
}

std::string short_number(double value) {
  return value < 10    ? fmt::format("{:.2f}", value)
         : value < 100 ? fmt::format("{:.1f}", value)
                       : fmt::format("{:.0f}", value);
}

std::string svg_of(const BarChart& chart) {
  double most = chart.ceiling.value_or(0);
  for (const Bar& bar : chart.bars) most = std::max({most, bar.value, bar.high});
  const double scale = most > 0 ? bars_width / most : 0;
  const double height = bar_row * double(chart.bars.size()) + 8;
  std::string text =
      fmt::format(R"(<svg class="bars" viewBox="0 0 {:.0f} {:.0f}" role="img" aria-labelledby="{}-t {}-d">)"
                  R"(<title id="{}-t">{}</title><desc id="{}-d">{}</desc>)",
                  chart_width, height, chart.id, chart.id, chart.id, escaped_html(chart.title), chart.id,
                  escaped_html(described(chart)));
  for (size_t i = 0; i < chart.bars.size(); ++i)
    text += "\n" + bar_text(chart.bars[i], 4 + bar_row * double(i), scale, chart.unit);
  if (chart.ceiling)
    text +=
        fmt::format("\n<path class=\"ceiling\" d=\"M{:.1f} 0V{:.0f}\"/>", names_width + *chart.ceiling * scale, height);
  return text + "</svg>\n";
}

}  // namespace axisloom::bench
