// The bar chart as SVG 1.1: one file, no script, no network, colours for light and dark.
#include "bench/svg.hpp"
#include "bench/ladder/views.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace axisloom::bench::ladder {
namespace {

// Pixels. Letters of the font are taken to be 7.5 wide, which is more than they are.
constexpr double letter = 7.5, margin = 16, bar_height = 18, line_height = 26, bar_room = 420, value_room = 170;
constexpr double header = 80, lesson_header = 48, lesson_footer = 22;

constexpr const char* style =
    "svg{background:#fff}text{font:13px system-ui,sans-serif;fill:#1f2328}.title{font-size:17px;font-weight:600}"
    ".lesson{font-size:14px;font-weight:600}.quiet{fill:#59636e}.rung{fill:#0969da}.peer{fill:#8250df}"
    ".reference{fill:#8c959f}.ceiling{stroke:#cf222e;stroke-width:1.5;stroke-dasharray:5 4}"
    "@media(prefers-color-scheme:dark){svg{background:#0d1117}text{fill:#e6edf3}.quiet{fill:#9198a1}"
    ".rung{fill:#4493f8}.peer{fill:#ab7df8}.reference{fill:#656c76}.ceiling{stroke:#f85149}}";

constexpr const char* classes[] = {"rung", "reference", "peer"};  // by Row::Kind

std::string text_at(double x, double y, const char* kind, const std::string& text) {
  return fmt::format("<text x=\"{:.1f}\" y=\"{:.1f}\" class=\"{}\">{}</text>\n", x, y, kind, escaped_html(text));
}

std::string value_of(const Row& row, const std::string& unit) {
  std::string text = short_number(*row.rate) + " " + unit;
  if (row.share && row.kind != Row::Kind::reference) text += fmt::format(" ({:.0f}%)", *row.share * 100);
  return text;
}

/// Names of colours, from x on; `x` becomes the place behind them.
std::string key(double& x, double y, const char* kind, const std::string& text) {
  std::string drawn =
      fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"12\" height=\"12\" class=\"{}\"/>\n", x, y - 11, kind) +
      text_at(x + 18, y, "quiet", text);
  x += 18 + double(text.size()) * letter + 16;
  return drawn;
}

std::string bar(const Row& row, const Climbed& climbed, double y, double bars_at, double most) {
  const std::string told = row.sentence.empty() ? row.note : row.sentence + " " + row.comparison;
  std::string text = fmt::format("<g><title>{}</title>\n", escaped_html(row.name + ": " + told));
  text += text_at(margin, y + 13.5, "label", row.name);
  if (!row.rate || most <= 0) return text + text_at(bars_at, y + 13.5, "quiet", row.note) + "</g>\n";
  const double width = std::max(1.0, *row.rate / most * bar_room);
  text += fmt::format("<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" class=\"{}\"/>\n", bars_at, y,
                      width, bar_height, classes[int(row.kind)]);
  return text + text_at(bars_at + bar_room + 12, y + 13.5, "value", value_of(row, climbed.unit)) + "</g>\n";
}

/// From y on, which becomes the place of what follows.
std::string chart(const Climbed& climbed, double& y, double bars_at) {
  double most = 0;
  const Row* reference = nullptr;
  for (const Row& row : climbed.rows) {
    most = std::max(most, row.rate.value_or(0));
    if (row.kind == Row::Kind::reference && row.rate) reference = &row;
  }
  std::string text = text_at(margin, y + 16, "lesson", climbed.title);
  text += text_at(margin, y + 34, "quiet", climbed.case_text + ", " + climbed.unit);
  y += lesson_header;
  for (const Row& row : climbed.rows) {
    text += bar(row, climbed, y, bars_at, most);
    if (row.rate && reference != nullptr && most > 0)  // notes stand where bars would
      text += fmt::format("<line x1=\"{0:.1f}\" y1=\"{1:.1f}\" x2=\"{0:.1f}\" y2=\"{2:.1f}\" class=\"ceiling\"/>\n",
                          bars_at + *reference->rate / most * bar_room, y - 4, y + line_height - 4);
    y += line_height;
  }
  y += lesson_footer;
  return text;
}

std::string description(const Picture& picture) {
  std::string text;
  for (const Climbed& climbed : picture.lessons) {
    text += climbed.title + ":";
    for (const Row& row : climbed.rows)
      text += fmt::format(" {} {};", row.name, row.rate ? value_of(row, climbed.unit) : row.note);
    text += " ";
  }
  return text;
}

}  // namespace

std::string svg_of(const Json& document) {
  const Picture picture = picture_of(document);
  size_t widest = 0, longest_note = 0;
  for (const Climbed& climbed : picture.lessons)
    for (const Row& row : climbed.rows) {
      widest = std::max(widest, row.name.size());
      if (!row.rate) longest_note = std::max(longest_note, row.note.size());
    }
  const std::string title = "axisloom ladder " + picture.ladder;
  const std::string where = fmt::format("{}; {}; dashed: the reference", picture.device, picture.time);
  const double bars_at = margin + widest * letter + 12;
  const double needed =
      std::max({bars_at + bar_room + value_room, bars_at + longest_note * letter, margin + where.size() * letter});
  std::string charts;
  double y = header;
  for (const Climbed& climbed : picture.lessons) charts += chart(climbed, y, bars_at);
  std::string svg = fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"{0:.0f}\" "
      "height=\"{1:.0f}\" viewBox=\"0 0 {0:.0f} {1:.0f}\" role=\"img\" aria-labelledby=\"title desc\">\n"
      "<title id=\"title\">{2}</title>\n<desc id=\"desc\">{3}</desc>\n<style>{4}</style>\n",
      needed + margin, y + margin, escaped_html(title), escaped_html(description(picture)), style);
  svg += text_at(margin, 28, "title", title) + text_at(margin, 48, "quiet", where);
  double x = margin;
  for (const auto& [kind, text] :
       {std::pair("rung", "rungs"), {"peer", "other libraries"}, {"reference", "the reference"}})
    svg += key(x, 70, kind, text);
  return svg + charts + "</svg>\n";
}

}  // namespace axisloom::bench::ladder
