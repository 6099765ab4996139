// Tables, bars of letters, and the sentences below them.
#include "bench/ladder/views.hpp"

#include "harness/arguments.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace axisloom::bench::ladder {
namespace {

constexpr size_t bar_columns = 44, text_columns = 100;

/// A number for people, or an empty cell of a column of numbers.
template <class Shown>
Cell shown(const std::optional<double>& value, Shown text_of) {
  return {value.value_or(0), value ? text_of(*value) : std::string()};
}

/// A number for programs, or nothing.
Cell plain(const std::optional<double>& value) {
  return value ? Cell(*value, "") : Cell(nullptr, "");
}

std::string table_of(const Climbed& climbed, Format format) {
  Table table({"rung", "time", climbed.unit, "share", "speed-up", "note"});
  for (const Row& row : climbed.rows)
    table.add({row.name, shown(row.milliseconds, [](double value) { return human_seconds(value / 1e3); }),
               shown(row.rate, short_number),
               shown(row.share, [](double value) { return fmt::format("{:.1f}%", value * 100); }),
               shown(row.speed_up, [](double value) { return fmt::format("{:.2f}", value); }), row.note});
  return table.text(format);
}

std::string csv_of(const Picture& picture) {
  Table table({"lesson", "case", "rung", "ms", "GB/s", "GFLOP/s", "share", "speed_up", "status", "note", "sentence"});
  for (const Climbed& climbed : picture.lessons)
    for (const Row& row : climbed.rows)
      table.add({climbed.title, climbed.case_text, row.name, plain(row.milliseconds), plain(row.gb_per_second),
                 plain(row.gflop_per_second), plain(row.share), plain(row.speed_up), row.state, row.note,
                 row.sentence});
  return table.text(Format::csv);
}

std::string bars_of(const Climbed& climbed) {
  double most = 0;
  size_t widest = 0;
  for (const Row& row : climbed.rows) {
    most = std::max(most, row.rate.value_or(0));
    widest = std::max(widest, row.name.size());
  }
  std::string text;
  for (const Row& row : climbed.rows) {
    if (!row.rate || most <= 0) {
      text += fmt::format("{:<{}}  {}\n", row.name, widest, row.state == "absent" ? "refused" : row.state);
      continue;
    }
    const i64 length = std::lround(*row.rate / most * bar_columns);
    const std::string bar(std::max<i64>(1, length), row.kind == Row::Kind::rung ? '#' : '-');
    text += fmt::format("{:<{}}  {} {} {}\n", row.name, widest, bar, short_number(*row.rate), climbed.unit);
  }
  return text;
}

/// Words in lines of at most text_columns, all but the first indented.
std::string wrapped(const std::string& text) {
  std::string lines;
  size_t column = 0;
  for (std::string_view word : split(text, " ")) {
    if (column > 0 && column + 1 + word.size() > text_columns) {
      lines += "\n  ";
      column = 2;
    } else if (column > 0) {
      lines += ' ';
      ++column;
    }
    lines += word;
    column += word.size();
  }
  return lines;
}

std::string told(const Row& row) {
  return row.sentence + (row.comparison.empty() ? "" : " " + row.comparison);
}

std::string circumstances(const Climbed& climbed) {
  const std::string ceiling =
      climbed.reference.empty() ? "" : fmt::format("; share: of {} in the same run", climbed.reference);
  return fmt::format("{}: {} (times of the {}; results checked: {}{})", climbed.title, climbed.case_text, climbed.clock,
                     climbed.check, ceiling);
}

/// For a terminal, or as markdown.
std::string lessons_text(const Picture& picture, Format format) {
  const bool markdown = format == Format::md;
  std::string text;
  for (const Climbed& climbed : picture.lessons) {
    text += fmt::format("{}{}\n\n{}\n", text.empty() ? "" : "\n", circumstances(climbed), table_of(climbed, format));
    if (!markdown) text += bars_of(climbed) + "\n";
    for (const Row& row : climbed.rows)
      if (!row.sentence.empty())
        text +=
            markdown ? fmt::format("- `{}`: {}\n", row.name, told(row)) : wrapped(row.name + ": " + told(row)) + "\n";
  }
  return markdown ? text + fmt::format("\n{}; {}\n", picture.device, picture.time) : text;
}

}  // namespace

std::string short_number(double value) {
  const double size = std::abs(value);
  return fmt::format(fmt::runtime(size >= 10 ? "{:.1f}" : size >= 1 ? "{:.2f}" : "{:.3f}"), value);
}

std::string text_of(const Json& document, Format format) {
  const Picture picture = picture_of(document);
  if (format == Format::json) return json_text(document);
  if (format == Format::csv) return csv_of(picture);
  return lessons_text(picture, format);
}

}  // namespace axisloom::bench::ladder
