// Layout of tables: columns as wide as their widest cell, numbers flush right.
#include "harness/table.hpp"

#include "io/quoting.hpp"

#include <algorithm>

namespace axisloom::harness {
namespace {

// Columns are counted in code points; device names may hold a (R) sign.
size_t width(std::string_view text) {
  return std::ranges::count_if(text, [](char c) { return (u8(c) & 0xC0) != 0x80; });
}

std::string padded(const std::string& text, size_t to, bool right) {
  const std::string blanks(to - width(text), ' ');
  return right ? blanks + text : text + blanks;
}

std::string escaped_markdown(std::string_view text) {
  return replaced(io::printable(text), "|", "\\|");
}

// RFC 4180: quotes around a field that needs them, doubled inside.
std::string csv_field(const std::string& text) {
  if (text.find_first_of(",\"\r\n") == std::string::npos) return text;
  return "\"" + replaced(text, "\"", "\"\"") + "\"";
}

std::string csv_field_of(const Cell& cell) {
  if (cell.value.is_null()) return "";
  return csv_field(cell.value.is_string() ? cell.value.get<std::string>() : cell.value.dump());
}

}  // namespace

Cell bytes_cell(u64 bytes) {
  return {bytes, human_bytes(bytes)};
}
Cell seconds_cell(double seconds) {
  return {seconds, human_seconds(seconds)};
}

std::string Table::text(Format format) const {
  switch (format) {
    case Format::json:
      return json();
    case Format::csv:
      return csv();
    case Format::md:
      return markdown();
    case Format::table:
      break;
  }
  return aligned();
}

std::string Table::aligned() const {
  std::vector<Texts> lines{columns_};
  for (const auto& row : rows_) {
    Texts& line = lines.emplace_back();
    for (const Cell& cell : row) line.push_back(io::printable(cell.text));
  }
  for (size_t i = 0; i < columns_.size(); ++i) {
    size_t widest = 0;
    for (const Texts& line : lines) widest = std::max(widest, width(line[i]));
    bool right = !rows_.empty();
    for (const auto& row : rows_) right = right && row[i].value.is_number();
    for (Texts& line : lines) line[i] = padded(line[i], widest, right);
  }
  std::string text;
  for (const Texts& line : lines) {
    const std::string whole = joined(line, "  ");
    text += whole.substr(0, whole.find_last_not_of(' ') + 1) + "\n";
  }
  return text;
}

std::string Table::markdown() const {
  const auto line = [](const auto& cells, const auto& text_of) {
    return "| " + joined(cells, " | ", text_of) + " |\n";
  };
  std::string text = line(columns_, escaped_markdown);
  text += "|" + joined(columns_, "", [](const auto&) { return "---|"; }) + "\n";
  for (const auto& row : rows_) text += line(row, [](const Cell& cell) { return escaped_markdown(cell.text); });
  return text;
}

std::string Table::csv() const {
  std::string text = joined(columns_, ",", csv_field) + "\n";
  for (const auto& row : rows_) text += joined(row, ",", csv_field_of) + "\n";
  return text;
}

std::string Table::json() const {
  auto list = Json::array();
  for (const auto& row : rows_) {
    Json object;
    for (size_t i = 0; i < row.size(); ++i) object[columns_[i]] = row[i].value;
    list.push_back(std::move(object));
  }
  // A driver's name is not always valid UTF-8, and a bad byte must not cost the user the whole answer.
  return json_text(list);
}

std::string json_text(const Json& json, int indent) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace) + "\n";
}

std::string human_bytes(u64 bytes) {
  static constexpr const char* units[] = {"B", "KiB", "MiB", "GiB", "TiB", "PiB", "EiB"};
  size_t unit = 0;
  auto value = double(bytes);
  for (; value >= 1024 && unit + 1 < std::size(units); ++unit) value /= 1024;
  const bool whole = value == double(u64(value));
  return fmt::format("{:.{}f} {}", value, whole ? 0 : 2, units[unit]);
}

std::string human_seconds(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  if (seconds < 1) return fmt::format("{:.2f} ms", seconds * 1e3);
  return fmt::format("{:.2f} s", seconds);
}

}  // namespace axisloom::harness
