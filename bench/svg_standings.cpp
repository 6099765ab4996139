// Standings as SVG 1.1: a group of bars for each suite, a bar for each library.
#include "bench/standings.hpp"
#include "bench/svg.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench {
namespace chart {
namespace {

// Pixels.
constexpr double margin = 16, header = 62, columns = 2, column_width = 440, group_gap = 18;
constexpr double heading_height = 26, row_height = 22, bar_height = 14, names_width = 84, bars_width = 270;

constexpr const char* style =
    "svg{background:#fff}text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:17px;font-weight:600}"
    ".suite{font-size:14px;font-weight:600}.quiet{fill:#59636e}.faster{fill:#0969da}.slower{fill:#8c959f}"
    ".even{stroke:#1f2328;stroke-dasharray:3 3}"
    "@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.quiet{fill:#9198a1}"
    ".faster{fill:#4493f8}.slower{fill:#656c76}.even{stroke:#e6edf3}}";

struct Group {
  std::string suite;
  std::vector<Standing> libraries;  // the strongest first

  size_t cases() const {
    size_t most = 0;
    for (const Standing& library : libraries) most = std::max(most, library.ratios.size());
    return most;
  }
  double height() const { return heading_height + row_height * libraries.size() + group_gap; }
};

std::vector<Group> groups_of(std::span<const Document> documents) {
  std::vector<Group> groups;
  for (Standing& standing : standings_by_library(documents)) {
    auto at = std::ranges::find(groups, standing.suite, &Group::suite);
    if (at == groups.end()) at = groups.insert(at, {standing.suite, {}});
    at->libraries.push_back(std::move(standing));
  }
  for (Group& group : groups) std::ranges::stable_sort(group.libraries, {}, &Standing::median);
  return groups;
}

double longest_bar(const std::vector<Group>& groups) {
  double most = 1;
  for (const Group& group : groups)
    for (const Standing& library : group.libraries) most = std::max(most, library.median());
  return most;
}

std::string words(double x, double y, const char* kind, const std::string& text, const char* anchor = "start") {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\" text-anchor=\"{}\">{}</text>\n", x, y, kind, anchor,
                     escaped_html(text));
}

std::string times_as_fast(double ratio) {
  return fmt::format("{:.{}f} times", ratio, ratio < 10 ? 1 : 0);
}

std::string drawn(const Group& group, double left, double top, double scale) {
  const double bars_at = left + names_width;
  std::string text = words(left, top + 16, "suite", fmt::format("{}, {} cases", group.suite, group.cases()));
  double y = top + heading_height;
  for (const Standing& library : group.libraries) {
    const double width = std::max(1.0, library.median() * scale);
    text += words(bars_at - 8, y + 12, "name", library.peer, "end");
    text += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\" class=\"{}\"/>\n", bars_at,
                        y, width, bar_height, library.median() < 1 ? "slower" : "faster");
    text += words(bars_at + width + 6, y + 12, "value", times_as_fast(library.median()));
    y += row_height;
  }
  return text + fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" class=\"even\"/>\n",
                            bars_at + scale, top + heading_height - 4, y - 2);
}

std::string description(const std::vector<Group>& groups) {
  std::string text;
  for (const Group& group : groups) {
    text += group.suite + ":";
    for (const Standing& library : group.libraries)
      text += fmt::format(" {} {};", library.peer, times_as_fast(library.median()));
    text += " ";
  }
  return text;
}

}  // namespace

std::string svg_of(std::span<const Document> documents) {
  const std::vector<Group> groups = groups_of(documents);
  const double scale = bars_width / longest_bar(groups);
  const std::string title = "How many times as fast as other libraries Axisloom is";
  const std::string where = documents.empty() ? std::string()
                                              : device_name(documents.front()) +
                                                    "; medians over the cases of each suite; dashed line: equal speed";
  std::string body;
  double bottom = header;
  for (size_t first = 0; first < groups.size(); first += size_t(columns)) {
    double height = 0;
    for (size_t i = first; i < std::min(groups.size(), first + size_t(columns)); ++i) {
      body += drawn(groups[i], margin + (i - first) * column_width, bottom, scale);
      height = std::max(height, groups[i].height());
    }
    bottom += height;
  }
  return fmt::format(
             "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
             "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-labelledby=\"title desc\">\n"
             "<title id=\"title\">{2}</title>\n<desc id=\"desc\">{3}</desc>\n<style>{4}</style>\n",
             2 * margin + columns * column_width, bottom + margin, title, escaped_html(description(groups)), style) +
         words(margin, 28, "title", title) + words(margin, 48, "quiet", where) + body + "</svg>\n";
}

}  // namespace chart

std::string standings_chart(std::span<const Document> documents) {
  return chart::svg_of(documents);
}

}  // namespace axisloom::bench
